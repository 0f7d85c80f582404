WITH member_text AS (
  SELECT
    v."employee_id" AS "employee_id",
    TRIM(v."employee_id", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "employee_id text",
    v."ordinary_hours" AS "ordinary_hours",
    TRIM(v."ordinary_hours", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "ordinary_hours text"
  FROM ontology.employee_pay AS v
), member_number AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."employee_id text" AS "employee_id text",
    t."ordinary_hours" AS "ordinary_hours",
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
    END AS "ordinary_hours number"
  FROM member_text AS t
), member_value AS (
  SELECT
    CASE WHEN t."employee_id text" = '' THEN NULL ELSE t."employee_id" END AS "employee_id",
    CASE
      WHEN REGEXP_FULL_MATCH(t."ordinary_hours number", '[+-]?(0*[0-9]{1,5}(\.[0-9]{0,2}0*)?|\.[0-9]{1,2}0*)')
      THEN TRY_CAST(t."ordinary_hours number" AS DECIMAL(7, 2))
    END AS "ordinary_hours"
  FROM member_number AS t
), member AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."ordinary_hours" AS "ordinary_hours"
  FROM member_value AS t
), compared AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."ordinary_hours" > 38 AS "comparison 1"
  FROM member AS m
), judged AS (
  SELECT
    m."employee_id" AS "employee_id",
    (
      COALESCE(m."comparison 1", FALSE)
    ) AS "breach",
    (
      NOT (
        COALESCE(m."comparison 1", FALSE) OR COALESCE(NOT m."comparison 1", FALSE)
      )
    ) AS "no_data",
    (
      COALESCE(NOT m."comparison 1", FALSE)
    ) AS "compliant",
    FALSE AS "partial"
  FROM compared AS m
), repeated AS (
  SELECT
    j."employee_id" AS "employee_id"
  FROM judged AS j
  WHERE
    NOT j."employee_id" IS NULL
  GROUP BY
    j."employee_id"
  HAVING
    COUNT(*) > 1
)
SELECT
  COUNT(*) AS "population",
  COUNT(*) FILTER(WHERE
    j."compliant") AS "compliant",
  COUNT(*) FILTER(WHERE
    j."partial" AND NOT j."no_data") AS "partial",
  COUNT(*) FILTER(WHERE
    (
      CAST(j."breach" AS INT) + CAST(j."no_data" AS INT) + CAST(j."compliant" AS INT)
    ) IS DISTINCT FROM 1) AS "unaccounted",
  COUNT(*) FILTER(WHERE
    j."employee_id" IS NULL) + (
    SELECT
      COUNT(*) AS _col_0
    FROM repeated AS k
  ) AS "duplicate_keys"
FROM judged AS j
