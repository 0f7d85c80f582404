-- The sites where a sample is taken every month.
SELECT "Name" AS site, "Code" AS code, "Kind" AS kind, _source_document, _source_table, _source_row
FROM raw.sites
