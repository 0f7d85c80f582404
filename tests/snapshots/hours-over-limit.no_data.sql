WITH member_text AS (
  SELECT
    v."employee_id" AS "employee_id",
    TRIM(v."employee_id", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "employee_id text",
    v."ordinary_hours" AS "ordinary_hours",
    TRIM(v."ordinary_hours", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "ordinary_hours text",
    v."_source_document" AS "source document",
    v."_source_table" AS "source table",
    v."_source_page" AS "source page",
    v."_source_row" AS "source row"
  FROM ontology.employee_pay AS v
), member_number AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."employee_id text" AS "employee_id text",
    t."ordinary_hours" AS "ordinary_hours",
    t."ordinary_hours text" AS "ordinary_hours text",
    CASE
      WHEN t."ordinary_hours text" NOT ILIKE '%e%'
      THEN t."ordinary_hours text"
      WHEN REGEXP_FULL_MATCH(t."ordinary_hours text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."ordinary_hours text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."ordinary_hours text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."ordinary_hours text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."ordinary_hours text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."ordinary_hours text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."ordinary_hours text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."ordinary_hours text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."ordinary_hours text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."ordinary_hours text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."ordinary_hours text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."ordinary_hours text"
    END AS "ordinary_hours number",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM member_text AS t
), member_value AS (
  SELECT
    CASE WHEN t."employee_id text" = '' THEN NULL ELSE t."employee_id" END AS "employee_id",
    CAST(t."employee_id" AS TEXT) AS "employee_id raw",
    CASE
      WHEN REGEXP_FULL_MATCH(t."ordinary_hours number", '[+-]?(0*[0-9]{1,5}(\.[0-9]{0,2}0*)?|\.[0-9]{1,2}0*)')
      THEN TRY_CAST(t."ordinary_hours number" AS DECIMAL(7, 2))
    END AS "ordinary_hours",
    t."ordinary_hours text" AS "ordinary_hours text",
    CAST(t."ordinary_hours" AS TEXT) AS "ordinary_hours raw",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM member_number AS t
), member AS (
  SELECT
    t."employee_id" AS "employee_id",
    COALESCE(CAST(t."employee_id" AS TEXT), t."employee_id raw") AS "employee_id shown",
    t."ordinary_hours" AS "ordinary_hours",
    CASE
      WHEN t."ordinary_hours text" IS NULL OR t."ordinary_hours text" = ''
      THEN 'null'
      WHEN t."ordinary_hours" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."ordinary_hours text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN REGEXP_FULL_MATCH(t."ordinary_hours text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "ordinary_hours cause",
    COALESCE(CAST(t."ordinary_hours" AS TEXT), t."ordinary_hours raw") AS "ordinary_hours shown",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM member_value AS t
), compared AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."employee_id shown" AS "employee_id shown",
    m."ordinary_hours" AS "ordinary_hours",
    m."ordinary_hours cause" AS "ordinary_hours cause",
    m."ordinary_hours shown" AS "ordinary_hours shown",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row",
    m."ordinary_hours" > 38 AS "comparison 1"
  FROM member AS m
), undecided AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."employee_id shown" AS "employee_id shown",
    m."ordinary_hours" AS "ordinary_hours",
    m."ordinary_hours cause" AS "ordinary_hours cause",
    m."ordinary_hours shown" AS "ordinary_hours shown",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row"
  FROM compared AS m
  WHERE
    (
      NOT (
        COALESCE(m."comparison 1", FALSE) OR COALESCE(NOT m."comparison 1", FALSE)
      )
    )
), explained AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."employee_id shown" AS "employee_id shown",
    m."ordinary_hours" AS "ordinary_hours",
    m."ordinary_hours cause" AS "ordinary_hours cause",
    m."ordinary_hours shown" AS "ordinary_hours shown",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row",
    'left_null' AS "reason 1"
  FROM undecided AS m
)
SELECT
  m."employee_id shown" AS "employee_id",
  m."reason 1" AS "reason",
  m."ordinary_hours cause" AS "causes of ordinary_hours",
  m."ordinary_hours shown" AS "ordinary_hours",
  m."source document" AS "employee_pay source document",
  m."source table" AS "employee_pay source table",
  m."source page" AS "employee_pay source page",
  m."source row" AS "employee_pay source row"
FROM explained AS m
ORDER BY
  m."employee_id" NULLS FIRST,
  m."employee_id shown" NULLS FIRST,
  m."reason 1" NULLS FIRST,
  m."ordinary_hours shown" NULLS FIRST,
  m."source document" NULLS FIRST,
  m."source table" NULLS FIRST,
  m."source page" NULLS FIRST,
  m."source row" NULLS FIRST
