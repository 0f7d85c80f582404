WITH member_text AS (
  SELECT
    v."employee_id" AS "employee_id",
    TRIM(v."employee_id", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "employee_id text",
    v."super_rate" AS "super_rate",
    TRIM(v."super_rate", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "super_rate text",
    v."employment_type" AS "employment_type",
    TRIM(v."employment_type", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "employment_type text",
    v."casual_loading" AS "casual_loading",
    TRIM(v."casual_loading", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "casual_loading text"
  FROM ontology.employee_pay AS v
), member_number AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."employee_id text" AS "employee_id text",
    t."super_rate" AS "super_rate",
    CASE
      WHEN t."super_rate text" NOT ILIKE '%e%'
      THEN t."super_rate text"
      WHEN REGEXP_FULL_MATCH(t."super_rate text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."super_rate text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."super_rate text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."super_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."super_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."super_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."super_rate text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."super_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."super_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."super_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."super_rate text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."super_rate text"
    END AS "super_rate number",
    t."employment_type" AS "employment_type",
    t."employment_type text" AS "employment_type text",
    t."casual_loading" AS "casual_loading",
    t."casual_loading text" AS "casual_loading text",
    CASE
      WHEN t."casual_loading text" NOT ILIKE '%e%'
      THEN t."casual_loading text"
      WHEN REGEXP_FULL_MATCH(t."casual_loading text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."casual_loading text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."casual_loading text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."casual_loading text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."casual_loading text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."casual_loading text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."casual_loading text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."casual_loading text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."casual_loading text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."casual_loading text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."casual_loading text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."casual_loading text"
    END AS "casual_loading number"
  FROM member_text AS t
), member_value AS (
  SELECT
    CASE WHEN t."employee_id text" = '' THEN NULL ELSE t."employee_id" END AS "employee_id",
    CASE
      WHEN REGEXP_FULL_MATCH(t."super_rate number", '[+-]?(0*[0-9]{1,3}(\.[0-9]{0,2}0*)?|\.[0-9]{1,2}0*)')
      THEN TRY_CAST(t."super_rate number" AS DECIMAL(5, 2))
    END AS "super_rate",
    CASE WHEN t."employment_type text" = '' THEN NULL ELSE t."employment_type" END AS "employment_type",
    CASE
      WHEN t."casual_loading text" IN ('n/a')
      THEN NULL
      ELSE CASE
        WHEN REGEXP_FULL_MATCH(t."casual_loading number", '[+-]?(0*[0-9]{1,3}(\.[0-9]{0,2}0*)?|\.[0-9]{1,2}0*)')
        THEN TRY_CAST(t."casual_loading number" AS DECIMAL(5, 2))
      END
    END AS "casual_loading"
  FROM member_number AS t
), member AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."super_rate" AS "super_rate",
    t."employment_type" AS "employment_type",
    t."casual_loading" AS "casual_loading"
  FROM member_value AS t
), compared AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."super_rate" < 12 AS "comparison 1",
    m."employment_type" = 'casual' AS "comparison 2",
    m."casual_loading" < 25 AS "comparison 3"
  FROM member AS m
), judged AS (
  SELECT
    m."employee_id" AS "employee_id",
    (
      (
        COALESCE(m."comparison 1", FALSE)
        OR (
          COALESCE(m."comparison 2", FALSE) AND COALESCE(m."comparison 3", FALSE)
        )
      )
    ) AS "breach",
    (
      NOT (
        (
          COALESCE(m."comparison 1", FALSE)
          OR (
            COALESCE(m."comparison 2", FALSE) AND COALESCE(m."comparison 3", FALSE)
          )
        )
        OR (
          COALESCE(NOT m."comparison 1", FALSE)
          AND (
            COALESCE(NOT m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
          )
        )
      )
    ) AS "no_data",
    (
      (
        COALESCE(NOT m."comparison 1", FALSE)
        AND (
          COALESCE(NOT m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
        )
      )
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
