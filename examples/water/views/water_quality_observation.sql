-- Every reading of the five yearly exports, one row for each. What drifted from year to year is named
-- here: columns, their order, the date format, site code or site name, and where the unit is written.
--
-- Rules of cleaning; each holds for the whole cell or leaves it as it was printed:
--   site       a code of the table of sites becomes the site's name
--   date       31/12/2021 and 31.12.2021 become 2021-12-31
--   turbidity  `<0.05` is a bound: its side and its limit go into columns of their own
--   unit       a reading in another unit than NTU is a unit_mismatch
WITH printed AS (
    SELECT "Site" AS site, "Sample Date" AS day, "Turbidity (NTU)" AS reading, 'NTU' AS unit,
           _source_document, _source_table, _source_row
    FROM raw.turbidity_2020
    UNION ALL
    SELECT "Site", "Sample Date", "Turbidity (NTU)", 'NTU',
           _source_document, _source_table, _source_row
    FROM raw.turbidity_2021
    UNION ALL
    SELECT "Site", "Date", "Turbidity", "Unit",
           _source_document, _source_table, _source_row
    FROM raw.turbidity_2022
    UNION ALL
    SELECT site_code, sample_date, turbidity_ntu, 'NTU',
           _source_document, _source_table, _source_row
    FROM raw.turbidity_2023
    UNION ALL
    SELECT site, sample_date, turbidity_ntu, 'NTU',
           _source_document, _source_table, _source_row
    FROM raw.turbidity_2024
),
read AS (
    SELECT
        *,
        trim(reading) AS number_text,
        regexp_extract(trim(reading), '^([<>]=?)[0-9.]+$', 1) AS side,
        regexp_extract(trim(reading), '^[<>]=?([0-9.]+)$', 1) AS bound
    FROM printed
)
SELECT
    coalesce((SELECT named."Name" FROM raw.sites AS named WHERE named."Code" = trim(read.site)), read.site) AS site,
    regexp_replace(trim(day), '^([0-9]{2})[/.]([0-9]{2})[/.]([0-9]{4})$', '\3-\2-\1') AS record_date,
    day AS record_date_raw,
    CASE WHEN side = '' THEN number_text END AS turbidity_ntu,
    CASE WHEN trim(unit) = 'NTU' THEN reading ELSE reading || ' ' || unit END AS turbidity_raw,
    CASE WHEN trim(unit) <> 'NTU' THEN 'unit_mismatch' END AS turbidity_cause,
    side AS turbidity_side,
    bound AS turbidity_limit,
    _source_document,
    _source_table,
    _source_row
FROM read
