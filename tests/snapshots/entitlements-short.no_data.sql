WITH member_text AS (
  SELECT
    v."employee_id" AS "employee_id",
    TRIM(v."employee_id", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "employee_id text",
    v."super_rate" AS "super_rate",
    TRIM(v."super_rate", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "super_rate text",
    v."employment_type" AS "employment_type",
    TRIM(v."employment_type", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "employment_type text",
    v."casual_loading" AS "casual_loading",
    TRIM(v."casual_loading", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "casual_loading text",
    v."_source_document" AS "source document",
    v."_source_table" AS "source table",
    v."_source_page" AS "source page",
    v."_source_row" AS "source row"
  FROM ontology.employee_pay AS v
), member_number AS (
  SELECT
    t."employee_id" AS "employee_id",
    t."employee_id text" AS "employee_id text",
    t."super_rate" AS "super_rate",
    t."super_rate text" AS "super_rate text",
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
    END AS "casual_loading number",
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
      WHEN REGEXP_FULL_MATCH(t."super_rate number", '[+-]?(0*[0-9]{1,3}(\.[0-9]{0,2}0*)?|\.[0-9]{1,2}0*)')
      THEN TRY_CAST(t."super_rate number" AS DECIMAL(5, 2))
    END AS "super_rate",
    t."super_rate text" AS "super_rate text",
    CAST(t."super_rate" AS TEXT) AS "super_rate raw",
    CASE WHEN t."employment_type text" = '' THEN NULL ELSE t."employment_type" END AS "employment_type",
    t."employment_type text" AS "employment_type text",
    CAST(t."employment_type" AS TEXT) AS "employment_type raw",
    CASE
      WHEN t."casual_loading text" IN ('n/a')
      THEN NULL
      ELSE CASE
        WHEN REGEXP_FULL_MATCH(t."casual_loading number", '[+-]?(0*[0-9]{1,3}(\.[0-9]{0,2}0*)?|\.[0-9]{1,2}0*)')
        THEN TRY_CAST(t."casual_loading number" AS DECIMAL(5, 2))
      END
    END AS "casual_loading",
    t."casual_loading text" AS "casual_loading text",
    CAST(t."casual_loading" AS TEXT) AS "casual_loading raw",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM member_number AS t
), member AS (
  SELECT
    t."employee_id" AS "employee_id",
    COALESCE(CAST(t."employee_id" AS TEXT), t."employee_id raw") AS "employee_id shown",
    t."super_rate" AS "super_rate",
    CASE
      WHEN t."super_rate text" IS NULL OR t."super_rate text" = ''
      THEN 'null'
      WHEN t."super_rate" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."super_rate text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN REGEXP_FULL_MATCH(t."super_rate text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "super_rate cause",
    COALESCE(
      RTRIM(
        LEFT(CAST(t."super_rate" AS TEXT), LENGTH(CAST(t."super_rate" AS TEXT)) - 2) || RTRIM(RIGHT(CAST(t."super_rate" AS TEXT), 2), '0'),
        '.'
      ),
      t."super_rate raw"
    ) AS "super_rate shown",
    t."employment_type" AS "employment_type",
    CASE
      WHEN t."employment_type text" IS NULL OR t."employment_type text" = ''
      THEN 'null'
      WHEN t."employment_type" IS NULL
      THEN 'not_castable'
    END AS "employment_type cause",
    COALESCE(CAST(t."employment_type" AS TEXT), t."employment_type raw") AS "employment_type shown",
    t."casual_loading" AS "casual_loading",
    CASE
      WHEN t."casual_loading text" IS NULL
      OR t."casual_loading text" = ''
      OR t."casual_loading text" IN ('n/a')
      THEN 'null'
      WHEN t."casual_loading" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."casual_loading text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN REGEXP_FULL_MATCH(t."casual_loading text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "casual_loading cause",
    COALESCE(
      RTRIM(
        LEFT(CAST(t."casual_loading" AS TEXT), LENGTH(CAST(t."casual_loading" AS TEXT)) - 2) || RTRIM(RIGHT(CAST(t."casual_loading" AS TEXT), 2), '0'),
        '.'
      ),
      t."casual_loading raw"
    ) AS "casual_loading shown",
    t."source document" AS "source document",
    t."source table" AS "source table",
    t."source page" AS "source page",
    t."source row" AS "source row"
  FROM member_value AS t
), compared AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."employee_id shown" AS "employee_id shown",
    m."super_rate" AS "super_rate",
    m."super_rate cause" AS "super_rate cause",
    m."super_rate shown" AS "super_rate shown",
    m."employment_type" AS "employment_type",
    m."employment_type cause" AS "employment_type cause",
    m."employment_type shown" AS "employment_type shown",
    m."casual_loading" AS "casual_loading",
    m."casual_loading cause" AS "casual_loading cause",
    m."casual_loading shown" AS "casual_loading shown",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row",
    m."super_rate" < 12 AS "comparison 1",
    m."employment_type" = 'casual' AS "comparison 2",
    m."casual_loading" < 25 AS "comparison 3"
  FROM member AS m
), undecided AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."employee_id shown" AS "employee_id shown",
    m."super_rate" AS "super_rate",
    m."super_rate cause" AS "super_rate cause",
    m."super_rate shown" AS "super_rate shown",
    m."employment_type" AS "employment_type",
    m."employment_type cause" AS "employment_type cause",
    m."employment_type shown" AS "employment_type shown",
    m."casual_loading" AS "casual_loading",
    m."casual_loading cause" AS "casual_loading cause",
    m."casual_loading shown" AS "casual_loading shown",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row",
    m."comparison 1" AS "comparison 1",
    m."comparison 2" AS "comparison 2",
    m."comparison 3" AS "comparison 3"
  FROM compared AS m
  WHERE
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
    )
), explained AS (
  SELECT
    m."employee_id" AS "employee_id",
    m."employee_id shown" AS "employee_id shown",
    m."super_rate" AS "super_rate",
    m."super_rate cause" AS "super_rate cause",
    m."super_rate shown" AS "super_rate shown",
    m."employment_type" AS "employment_type",
    m."employment_type cause" AS "employment_type cause",
    m."employment_type shown" AS "employment_type shown",
    m."casual_loading" AS "casual_loading",
    m."casual_loading cause" AS "casual_loading cause",
    m."casual_loading shown" AS "casual_loading shown",
    m."source document" AS "source document",
    m."source table" AS "source table",
    m."source page" AS "source page",
    m."source row" AS "source row",
    m."comparison 1" AS "comparison 1",
    m."comparison 2" AS "comparison 2",
    m."comparison 3" AS "comparison 3",
    CASE
      WHEN NOT (
        COALESCE(m."comparison 1", FALSE) OR COALESCE(NOT m."comparison 1", FALSE)
      )
      THEN 'left_null'
    END AS "reason 1",
    CASE
      WHEN NOT (
        (
          COALESCE(m."comparison 2", FALSE) AND COALESCE(m."comparison 3", FALSE)
        )
        OR (
          COALESCE(NOT m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
        )
      )
      AND NOT (
        COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
      )
      THEN 'left_null'
    END AS "reason 2",
    CASE
      WHEN NOT (
        (
          COALESCE(m."comparison 2", FALSE) AND COALESCE(m."comparison 3", FALSE)
        )
        OR (
          COALESCE(NOT m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
        )
      )
      AND NOT (
        COALESCE(m."comparison 3", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
      )
      THEN 'left_null'
    END AS "reason 3"
  FROM undecided AS m
)
SELECT
  m."employee_id shown" AS "employee_id",
  CASE
    WHEN 'left_null' IN (m."reason 1", m."reason 2", m."reason 3")
    THEN 'left_null'
    WHEN 'right_missing' IN (m."reason 1", m."reason 2", m."reason 3")
    THEN 'right_missing'
    WHEN 'right_null' IN (m."reason 1", m."reason 2", m."reason 3")
    THEN 'right_null'
    WHEN 'right_ambiguous' IN (m."reason 1", m."reason 2", m."reason 3")
    THEN 'right_ambiguous'
  END AS "reason",
  CASE
    WHEN NOT (
      COALESCE(m."comparison 1", FALSE) OR COALESCE(NOT m."comparison 1", FALSE)
    )
    THEN m."super_rate cause"
  END AS "causes of super_rate",
  CASE
    WHEN NOT (
      (
        COALESCE(m."comparison 2", FALSE) AND COALESCE(m."comparison 3", FALSE)
      )
      OR (
        COALESCE(NOT m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
      )
    )
    AND NOT (
      COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
    )
    THEN m."employment_type cause"
  END AS "causes of employment_type",
  CASE
    WHEN NOT (
      (
        COALESCE(m."comparison 2", FALSE) AND COALESCE(m."comparison 3", FALSE)
      )
      OR (
        COALESCE(NOT m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
      )
    )
    AND NOT (
      COALESCE(m."comparison 3", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
    )
    THEN m."casual_loading cause"
  END AS "causes of casual_loading",
  m."super_rate shown" AS "super_rate",
  m."employment_type shown" AS "employment_type",
  m."casual_loading shown" AS "casual_loading",
  m."source document" AS "employee_pay source document",
  m."source table" AS "employee_pay source table",
  m."source page" AS "employee_pay source page",
  m."source row" AS "employee_pay source row"
FROM explained AS m
ORDER BY
  m."employee_id" NULLS FIRST,
  m."employee_id shown" NULLS FIRST,
  CASE
    WHEN 'left_null' IN (m."reason 1", m."reason 2", m."reason 3")
    THEN 'left_null'
    WHEN 'right_missing' IN (m."reason 1", m."reason 2", m."reason 3")
    THEN 'right_missing'
    WHEN 'right_null' IN (m."reason 1", m."reason 2", m."reason 3")
    THEN 'right_null'
    WHEN 'right_ambiguous' IN (m."reason 1", m."reason 2", m."reason 3")
    THEN 'right_ambiguous'
  END NULLS FIRST,
  m."super_rate shown" NULLS FIRST,
  m."employment_type shown" NULLS FIRST,
  m."casual_loading shown" NULLS FIRST,
  m."source document" NULLS FIRST,
  m."source table" NULLS FIRST,
  m."source page" NULLS FIRST,
  m."source row" NULLS FIRST
