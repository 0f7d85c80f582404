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
    TRIM(v."pay_date", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "pay_date text",
    v."_source_document" AS "source document",
    v."_source_table" AS "source table",
    v."_source_page" AS "source page",
    v."_source_row" AS "source row"
  FROM ontology.employee_pay AS v
), member_number AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."employee_id text" AS "employee_id text",
    t."hourly_rate" AS "hourly_rate",
    t."hourly_rate text" AS "hourly_rate text",
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
    t."pay_date text" AS "pay_date text",
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
      WHEN REGEXP_FULL_MATCH(t."hourly_rate number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
      THEN TRY_CAST(t."hourly_rate number" AS DECIMAL(12, 4))
    END AS "hourly_rate",
    t."hourly_rate text" AS "hourly_rate text",
    CAST(t."hourly_rate" AS TEXT) AS "hourly_rate raw",
    CASE WHEN t."classification text" = '' THEN NULL ELSE t."classification" END AS "classification",
    t."classification text" AS "classification text",
    CAST(t."classification" AS TEXT) AS "classification raw",
    CASE
      WHEN REGEXP_FULL_MATCH(t."pay_point number", '[+-]?(0*[0-9]{1,19}(\.0*)?|\.0+)')
      THEN TRY_CAST(TRY_CAST(t."pay_point number" AS DECIMAL(19, 0)) AS BIGINT)
    END AS "pay_point",
    t."pay_point text" AS "pay_point text",
    CAST(t."pay_point" AS TEXT) AS "pay_point raw",
    CASE
      WHEN REGEXP_FULL_MATCH(
        t."pay_date text",
        '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]00:00(:00(\.0+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
      )
      THEN TRY_CAST(LEFT(t."pay_date text", 10) AS DATE)
    END AS "pay_date",
    t."pay_date text" AS "pay_date text",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM member_number AS t
), member AS (
  SELECT
    t."employee_id" AS "employee_id",
    COALESCE(CAST(t."employee_id" AS TEXT), t."employee_id raw") AS "employee_id shown",
    t."hourly_rate" AS "hourly_rate",
    CASE
      WHEN t."hourly_rate text" IS NULL OR t."hourly_rate text" = ''
      THEN 'null'
      WHEN t."hourly_rate" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."hourly_rate text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN REGEXP_FULL_MATCH(t."hourly_rate text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "hourly_rate cause",
    COALESCE(
      LEFT(CAST(t."hourly_rate" AS TEXT), LENGTH(CAST(t."hourly_rate" AS TEXT)) - 2) || RTRIM(RIGHT(CAST(t."hourly_rate" AS TEXT), 2), '0'),
      t."hourly_rate raw"
    ) AS "hourly_rate shown",
    t."classification" AS "classification",
    COALESCE(CAST(t."classification" AS TEXT), t."classification raw") AS "classification shown",
    t."pay_point" AS "pay_point",
    COALESCE(CAST(t."pay_point" AS TEXT), t."pay_point raw") AS "pay_point shown",
    t."pay_date" AS "pay_date",
    CASE
      WHEN t."pay_date text" IS NULL OR t."pay_date text" = ''
      THEN 'null'
      WHEN t."pay_date" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."pay_date text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN (
          REGEXP_FULL_MATCH(
            t."pay_date text",
            '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
          )
          AND NOT TRY_CAST(LEFT(t."pay_date text", 10) AS DATE) IS NULL
        )
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "pay_date cause",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
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
    TRIM(v."min_hourly_rate", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "min_hourly_rate text",
    v."_source_document" AS "source document",
    v."_source_table" AS "source table",
    v."_source_page" AS "source page",
    v."_source_row" AS "source row"
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
    t."min_hourly_rate text" AS "min_hourly_rate text",
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
    END AS "min_hourly_rate number",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM governed_by_dated_text AS t
), governed_by_dated_value AS (
  SELECT
    CASE WHEN t."classification text" = '' THEN NULL ELSE t."classification" END AS "classification",
    CAST(t."classification" AS TEXT) AS "classification raw",
    CASE
      WHEN REGEXP_FULL_MATCH(t."pay_point number", '[+-]?(0*[0-9]{1,19}(\.0*)?|\.0+)')
      THEN TRY_CAST(TRY_CAST(t."pay_point number" AS DECIMAL(19, 0)) AS BIGINT)
    END AS "pay_point",
    CAST(t."pay_point" AS TEXT) AS "pay_point raw",
    CASE
      WHEN REGEXP_FULL_MATCH(
        t."effective_from text",
        '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]00:00(:00(\.0+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
      )
      THEN TRY_CAST(LEFT(t."effective_from text", 10) AS DATE)
    END AS "effective_from",
    t."effective_from text" AS "effective_from text",
    CAST(t."effective_from" AS TEXT) AS "effective_from raw",
    CASE
      WHEN REGEXP_FULL_MATCH(t."min_hourly_rate number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
      THEN TRY_CAST(t."min_hourly_rate number" AS DECIMAL(12, 4))
    END AS "min_hourly_rate",
    t."min_hourly_rate text" AS "min_hourly_rate text",
    CAST(t."min_hourly_rate" AS TEXT) AS "min_hourly_rate raw",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM governed_by_dated_number AS t
), governed_by_dated AS (
  SELECT
    t."classification" AS "classification",
    COALESCE(CAST(t."classification" AS TEXT), t."classification raw") AS "classification shown",
    t."pay_point" AS "pay_point",
    COALESCE(CAST(t."pay_point" AS TEXT), t."pay_point raw") AS "pay_point shown",
    t."effective_from" AS "effective_from",
    CASE
      WHEN t."effective_from text" IS NULL OR t."effective_from text" = ''
      THEN 'null'
      WHEN t."effective_from" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."effective_from text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN (
          REGEXP_FULL_MATCH(
            t."effective_from text",
            '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
          )
          AND NOT TRY_CAST(LEFT(t."effective_from text", 10) AS DATE) IS NULL
        )
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "effective_from cause",
    COALESCE(CAST(t."effective_from" AS TEXT), t."effective_from raw") AS "effective_from shown",
    t."min_hourly_rate" AS "min_hourly_rate",
    CASE
      WHEN t."min_hourly_rate text" IS NULL OR t."min_hourly_rate text" = ''
      THEN 'null'
      WHEN t."min_hourly_rate" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."min_hourly_rate text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN REGEXP_FULL_MATCH(t."min_hourly_rate text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "min_hourly_rate cause",
    COALESCE(
      LEFT(CAST(t."min_hourly_rate" AS TEXT), LENGTH(CAST(t."min_hourly_rate" AS TEXT)) - 2) || RTRIM(RIGHT(CAST(t."min_hourly_rate" AS TEXT), 2), '0'),
      t."min_hourly_rate raw"
    ) AS "min_hourly_rate shown",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM governed_by_dated_value AS t
), governed_by AS (
  SELECT
    d."classification" AS "classification",
    d."classification shown" AS "classification shown",
    d."pay_point" AS "pay_point",
    d."pay_point shown" AS "pay_point shown",
    d."effective_from" AS "effective_from",
    d."effective_from cause" AS "effective_from cause",
    d."effective_from shown" AS "effective_from shown",
    d."min_hourly_rate" AS "min_hourly_rate",
    d."min_hourly_rate cause" AS "min_hourly_rate cause",
    d."min_hourly_rate shown" AS "min_hourly_rate shown",
    d."source document" AS "source document",
    d."source table" AS "source table",
    d."source page" AS "source page",
    d."source row" AS "source row",
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
    m."employee_id shown" AS "employee_id shown",
    m."hourly_rate" AS "hourly_rate",
    m."hourly_rate cause" AS "hourly_rate cause",
    m."hourly_rate shown" AS "hourly_rate shown",
    m."classification" AS "classification",
    m."classification shown" AS "classification shown",
    m."pay_point" AS "pay_point",
    m."pay_point shown" AS "pay_point shown",
    m."pay_date" AS "pay_date",
    m."pay_date cause" AS "pay_date cause",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row",
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
    ) AS "governed_by matched"
  FROM member AS m
), undecided AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."employee_id shown" AS "employee_id shown",
    m."hourly_rate" AS "hourly_rate",
    m."hourly_rate cause" AS "hourly_rate cause",
    m."hourly_rate shown" AS "hourly_rate shown",
    m."classification" AS "classification",
    m."classification shown" AS "classification shown",
    m."pay_point" AS "pay_point",
    m."pay_point shown" AS "pay_point shown",
    m."pay_date" AS "pay_date",
    m."pay_date cause" AS "pay_date cause",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row",
    m."comparison 1 some true" AS "comparison 1 some true",
    m."comparison 1 some false" AS "comparison 1 some false",
    m."governed_by matched" AS "governed_by matched"
  FROM compared AS m
  WHERE
    (
      NOT (
        (
          m."comparison 1 some true" AND NOT m."comparison 1 some false"
        )
        OR (
          m."comparison 1 some false" AND NOT m."comparison 1 some true"
        )
      )
    )
), explained AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."employee_id shown" AS "employee_id shown",
    m."hourly_rate" AS "hourly_rate",
    m."hourly_rate cause" AS "hourly_rate cause",
    m."hourly_rate shown" AS "hourly_rate shown",
    m."classification" AS "classification",
    m."classification shown" AS "classification shown",
    m."pay_point" AS "pay_point",
    m."pay_point shown" AS "pay_point shown",
    m."pay_date" AS "pay_date",
    m."pay_date cause" AS "pay_date cause",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row",
    m."governed_by matched" AS "governed_by matched",
    CASE
      WHEN NOT m."hourly_rate cause" IS NULL
      THEN 'left_null'
      WHEN NOT m."pay_date cause" IS NULL
      THEN 'left_null'
      WHEN NOT m."governed_by matched"
      THEN 'right_missing'
      WHEN m."comparison 1 some true" AND m."comparison 1 some false"
      THEN 'right_ambiguous'
      ELSE 'right_null'
    END AS "reason 1"
  FROM undecided AS m
)
SELECT
  m."employee_id shown" AS "employee_id",
  m."reason 1" AS "reason",
  m."hourly_rate cause" AS "causes of hourly_rate",
  m."pay_date cause" AS "causes of pay_date",
  CASE
    WHEN m."classification" IS NULL OR m."pay_point" IS NULL
    THEN 'key_null'
    WHEN NOT m."governed_by matched"
    AND EXISTS(
      SELECT
        1 AS "1"
      FROM governed_by AS r1
      WHERE
        r1."classification" = m."classification"
        AND r1."pay_point" = m."pay_point"
        AND r1."superseded from" <= m."pay_date"
    )
    THEN 'superseded'
  END AS "causes of governed_by",
  (
    SELECT
      LISTAGG(DISTINCT r1."min_hourly_rate cause", ','
      ORDER BY
        r1."min_hourly_rate cause") AS _col_0
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
  ) AS "causes of governed_by.min_hourly_rate",
  (
    SELECT
      LISTAGG(DISTINCT r1."effective_from cause", ','
      ORDER BY
        r1."effective_from cause") AS _col_0
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
  ) AS "causes of governed_by.effective_from",
  m."hourly_rate shown" AS "hourly_rate",
  d1."min_hourly_rate shown" AS "governed_by.min_hourly_rate",
  m."source document" AS "employee_pay source document",
  m."source table" AS "employee_pay source table",
  m."source page" AS "employee_pay source page",
  m."source row" AS "employee_pay source row",
  d1."source document" AS "governed_by source document",
  d1."source table" AS "governed_by source table",
  d1."source page" AS "governed_by source page",
  d1."source row" AS "governed_by source row"
FROM explained AS m
LEFT JOIN LATERAL (
  SELECT
    r1."classification shown" AS "classification shown",
    r1."pay_point shown" AS "pay_point shown",
    r1."effective_from shown" AS "effective_from shown",
    r1."min_hourly_rate shown" AS "min_hourly_rate shown",
    r1."source document" AS "source document",
    r1."source table" AS "source table",
    r1."source page" AS "source page",
    r1."source row" AS "source row"
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
  ORDER BY
    (
      CASE WHEN r1."row usable" THEN m."hourly_rate" < r1."min_hourly_rate" END
    ) IS NULL,
    (
      CASE WHEN r1."row usable" THEN m."hourly_rate" < r1."min_hourly_rate" END
    ) DESC,
    r1."min_hourly_rate" DESC,
    r1."classification",
    r1."pay_point",
    r1."effective_from",
    r1."classification shown",
    r1."pay_point shown",
    r1."effective_from shown",
    r1."min_hourly_rate shown",
    r1."source document",
    r1."source table",
    r1."source page",
    r1."source row"
  LIMIT 1
) AS d1
  ON TRUE
ORDER BY
  m."employee_id" NULLS FIRST,
  m."employee_id shown" NULLS FIRST,
  m."reason 1" NULLS FIRST,
  m."hourly_rate shown" NULLS FIRST,
  d1."min_hourly_rate shown" NULLS FIRST,
  m."source document" NULLS FIRST,
  m."source table" NULLS FIRST,
  m."source page" NULLS FIRST,
  m."source row" NULLS FIRST,
  d1."source document" NULLS FIRST,
  d1."source table" NULLS FIRST,
  d1."source page" NULLS FIRST,
  d1."source row" NULLS FIRST
