-- The agreement's pay schedule: one row per classification, pay point and effective date. The
-- extract names the place in the agreement where each row is printed; that is the provenance shown.
SELECT
    classification,
    pay_point,
    effective_from,
    hourly_rate AS min_hourly_rate,
    fortnightly_rate,
    annual_salary,
    document AS _source_document,
    schedule AS _source_table,
    CAST(page AS INTEGER) AS _source_page,
    CAST(line AS BIGINT) AS _source_row
FROM raw.agreement_rates
