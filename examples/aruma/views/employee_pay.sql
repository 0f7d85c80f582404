-- The latest pay line of each employee. Values stay the text of the export: the contract says what
-- type each has, and text that is not of its type is reported, never guessed at.
SELECT
    employee_id,
    employment_type,
    classification,
    pay_point,
    hourly_rate,
    ordinary_hours,
    casual_loading,
    super_rate,
    annual_leave_hours,
    pay_date,
    _source_document,
    _source_table,
    _source_page,
    _source_row
FROM raw.payroll
