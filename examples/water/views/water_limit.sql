-- The licence's schedules of limits: one row per site and effective date, sites by name as in the readings.
SELECT
    coalesce((SELECT named."Name" FROM raw.sites AS named WHERE named."Code" = printed."Site code"), "Site code") AS site,
    "Effective from" AS effective_from,
    "Max turbidity (NTU)" AS max_turbidity_ntu,
    _source_document,
    _source_table,
    _source_row
FROM raw.limits AS printed
