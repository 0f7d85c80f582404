WITH member_text AS (
  SELECT
    v."employee_id" AS "employee_id",
    TRIM(v."employee_id", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "employee_id text",
    v."hourly_rate" AS "hourly_rate",
    TRIM(v."hourly_rate", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "hourly_rate text",
    v."classification" AS "classification",
    TRIM(v."classification", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "classification text",
    v."pay_point" AS "pay_point",
    TRIM(v."pay_point", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "pay_point text",
    v."pay_date" AS "pay_date",
    TRIM(v."pay_date", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "pay_date text"
  FROM ontology.employee_pay AS v
), member_number AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."employee_id text" AS "employee_id text",
    t."hourly_rate" AS "hourly_rate",
    CASE
      WHEN t."hourly_rate text" NOT ILIKE '%e%'
      THEN t."hourly_rate text"
      WHEN REGEXP_FULL_MATCH(t."hourly_rate text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."hourly_rate text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."hourly_rate text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."hourly_rate text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."hourly_rate text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."hourly_rate text"
    END AS "hourly_rate number",
    t."classification" AS "classification",
    t."classification text" AS "classification text",
    t."pay_point" AS "pay_point",
    t."pay_point text" AS "pay_point text",
    CASE
      WHEN t."pay_point text" NOT ILIKE '%e%'
      THEN t."pay_point text"
      WHEN REGEXP_FULL_MATCH(t."pay_point text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."pay_point text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."pay_point text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."pay_point text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."pay_point text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."pay_point text"
    END AS "pay_point number",
    t."pay_date" AS "pay_date",
    t."pay_date text" AS "pay_date text"
  FROM member_text AS t
), member_value AS (
  SELECT
    CASE WHEN t."employee_id text" = '' THEN NULL ELSE t."employee_id" END AS "employee_id",
    CASE
      WHEN REGEXP_FULL_MATCH(t."hourly_rate number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
      THEN TRY_CAST(t."hourly_rate number" AS DECIMAL(12, 4))
    END AS "hourly_rate",
    CASE WHEN t."classification text" = '' THEN NULL ELSE t."classification" END AS "classification",
    t."classification text" AS "classification text",
    CASE
      WHEN REGEXP_FULL_MATCH(t."pay_point number", '[+-]?(0*[0-9]{1,19}(\.0*)?|\.0+)')
      THEN TRY_CAST(TRY_CAST(t."pay_point number" AS DECIMAL(19, 0)) AS BIGINT)
    END AS "pay_point",
    t."pay_point text" AS "pay_point text",
    CASE
      WHEN REGEXP_FULL_MATCH(
        t."pay_date text",
        '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]00:00(:00(\.0+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
      )
      THEN TRY_CAST(LEFT(t."pay_date text", 10) AS DATE)
    END AS "pay_date"
  FROM member_number AS t
), member AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."hourly_rate" AS "hourly_rate",
    t."classification" AS "classification",
    t."pay_point" AS "pay_point",
    t."pay_date" AS "pay_date"
  FROM member_value AS t
), governed_by_dated_text AS (
  SELECT
    v."classification" AS "classification",
    TRIM(v."classification", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "classification text",
    v."pay_point" AS "pay_point",
    TRIM(v."pay_point", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "pay_point text",
    v."effective_from" AS "effective_from",
    TRIM(v."effective_from", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "effective_from text",
    v."min_hourly_rate" AS "min_hourly_rate",
    TRIM(v."min_hourly_rate", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "min_hourly_rate text"
  FROM ontology.award_rate AS v
), governed_by_dated_number AS (
  SELECT
    t."classification" AS "classification",
    t."classification text" AS "classification text",
    t."pay_point" AS "pay_point",
    CASE
      WHEN t."pay_point text" NOT ILIKE '%e%'
      THEN t."pay_point text"
      WHEN REGEXP_FULL_MATCH(t."pay_point text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."pay_point text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."pay_point text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."pay_point text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."pay_point text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."pay_point text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."pay_point text"
    END AS "pay_point number",
    t."effective_from" AS "effective_from",
    t."effective_from text" AS "effective_from text",
    t."min_hourly_rate" AS "min_hourly_rate",
    CASE
      WHEN t."min_hourly_rate text" NOT ILIKE '%e%'
      THEN t."min_hourly_rate text"
      WHEN REGEXP_FULL_MATCH(t."min_hourly_rate text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."min_hourly_rate text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."min_hourly_rate text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."min_hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."min_hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."min_hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."min_hourly_rate text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."min_hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."min_hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."min_hourly_rate text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."min_hourly_rate text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."min_hourly_rate text"
    END AS "min_hourly_rate number"
  FROM governed_by_dated_text AS t
), governed_by_dated_value AS (
  SELECT
    CASE WHEN t."classification text" = '' THEN NULL ELSE t."classification" END AS "classification",
    CASE
      WHEN REGEXP_FULL_MATCH(t."pay_point number", '[+-]?(0*[0-9]{1,19}(\.0*)?|\.0+)')
      THEN TRY_CAST(TRY_CAST(t."pay_point number" AS DECIMAL(19, 0)) AS BIGINT)
    END AS "pay_point",
    CASE
      WHEN REGEXP_FULL_MATCH(
        t."effective_from text",
        '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]00:00(:00(\.0+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
      )
      THEN TRY_CAST(LEFT(t."effective_from text", 10) AS DATE)
    END AS "effective_from",
    CASE
      WHEN REGEXP_FULL_MATCH(t."min_hourly_rate number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
      THEN TRY_CAST(t."min_hourly_rate number" AS DECIMAL(12, 4))
    END AS "min_hourly_rate"
  FROM governed_by_dated_number AS t
), governed_by_dated AS (
  SELECT
    t."classification" AS "classification",
    t."pay_point" AS "pay_point",
    t."effective_from" AS "effective_from",
    t."min_hourly_rate" AS "min_hourly_rate"
  FROM governed_by_dated_value AS t
), governed_by AS (
  SELECT
    d."classification" AS "classification",
    d."pay_point" AS "pay_point",
    d."effective_from" AS "effective_from",
    d."min_hourly_rate" AS "min_hourly_rate",
    CASE
      WHEN NOT d."effective_from" IS NULL
      THEN MIN(d."effective_from") OVER (ORDER BY d."effective_from" GROUPS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
    END AS "superseded from",
    (
      NOT d."effective_from" IS NULL
    ) AS "row usable"
  FROM governed_by_dated AS d
), compared AS (
  SELECT
    m."employee_id" AS "employee_id",
    EXISTS(
      SELECT
        1 AS "1"
      FROM governed_by AS r1
      WHERE
        r1."classification" = m."classification"
        AND r1."pay_point" = m."pay_point"
        AND (
          r1."effective_from" IS NULL
          OR (
            r1."effective_from" <= m."pay_date"
            AND (
              r1."superseded from" IS NULL OR m."pay_date" < r1."superseded from"
            )
          )
        )
        AND CASE WHEN r1."row usable" THEN m."hourly_rate" < r1."min_hourly_rate" END
    ) AS "comparison 1 some true",
    EXISTS(
      SELECT
        1 AS "1"
      FROM governed_by AS r1
      WHERE
        r1."classification" = m."classification"
        AND r1."pay_point" = m."pay_point"
        AND (
          r1."effective_from" IS NULL
          OR (
            r1."effective_from" <= m."pay_date"
            AND (
              r1."superseded from" IS NULL OR m."pay_date" < r1."superseded from"
            )
          )
        )
        AND NOT (
          CASE WHEN r1."row usable" THEN m."hourly_rate" < r1."min_hourly_rate" END
        )
    ) AS "comparison 1 some false",
    EXISTS(
      SELECT
        1 AS "1"
      FROM governed_by AS r1
      WHERE
        r1."classification" = m."classification"
        AND r1."pay_point" = m."pay_point"
        AND (
          r1."effective_from" IS NULL
          OR (
            r1."effective_from" <= m."pay_date"
            AND (
              r1."superseded from" IS NULL OR m."pay_date" < r1."superseded from"
            )
          )
        )
        AND (
          CASE WHEN r1."row usable" THEN m."hourly_rate" < r1."min_hourly_rate" END
        ) IS NULL
    ) AS "comparison 1 some unknown"
  FROM member AS m
), judged AS (
  SELECT
    m."employee_id" AS "employee_id",
    (
      (
        m."comparison 1 some true" AND NOT m."comparison 1 some false"
      )
    ) AS "breach",
    (
      NOT (
        (
          m."comparison 1 some true" AND NOT m."comparison 1 some false"
        )
        OR (
          m."comparison 1 some false" AND NOT m."comparison 1 some true"
        )
      )
    ) AS "no_data",
    (
      (
        m."comparison 1 some false" AND NOT m."comparison 1 some true"
      )
    ) AS "compliant",
    (
      m."comparison 1 some unknown"
    ) AS "partial"
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
