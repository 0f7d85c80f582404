WITH reasoned AS (
  SELECT
    g."site" AS "site",
    g."taken" AS "taken",
    g."rows" AS "rows",
    g."is expected" AS "is expected",
    g."avg(turbidity)" AS "avg(turbidity)",
    g."sum(ph)" AS "sum(ph)",
    g."avg(turbidity) reason" AS "avg(turbidity) reason",
    g."avg(turbidity) partial" AS "avg(turbidity) partial",
    g."sum(ph) reason" AS "sum(ph) reason",
    g."sum(ph) partial" AS "sum(ph) partial"
  FROM temp.groups AS g
), changed AS (
  SELECT
    g."site" AS "site",
    g."rows" AS "rows",
    g."is expected" AS "is expected",
    g."avg(turbidity)" AS "avg(turbidity)",
    g."avg(turbidity) reason" AS "avg(turbidity) reason",
    g."avg(turbidity) partial" AS "avg(turbidity) partial",
    CASE
      WHEN ABS(
        CAST(FORMAT('{:.11e}', (
          g."sum(ph)" - b."sum(ph)"
        ) / NULLIF(ABS(b."sum(ph)"), 0)) AS DOUBLE)
      ) < CAST('Infinity' AS DOUBLE)
      THEN CAST(FORMAT('{:.11e}', (
        g."sum(ph)" - b."sum(ph)"
      ) / NULLIF(ABS(b."sum(ph)"), 0)) AS DOUBLE)
    END AS "relative_change(sum(ph))",
    CASE
      WHEN NOT g."sum(ph) reason" IS NULL
      THEN g."sum(ph) reason"
      WHEN b."site" IS NULL OR NOT b."sum(ph) reason" IS NULL
      THEN 'insufficient'
      WHEN (
        CASE
          WHEN ABS(
            CAST(FORMAT('{:.11e}', (
              g."sum(ph)" - b."sum(ph)"
            ) / NULLIF(ABS(b."sum(ph)"), 0)) AS DOUBLE)
          ) < CAST('Infinity' AS DOUBLE)
          THEN CAST(FORMAT('{:.11e}', (
            g."sum(ph)" - b."sum(ph)"
          ) / NULLIF(ABS(b."sum(ph)"), 0)) AS DOUBLE)
        END
      ) IS NULL
      THEN 'left_null'
    END AS "relative_change(sum(ph)) reason",
    (
      g."sum(ph) partial" OR COALESCE(b."sum(ph) partial", FALSE)
    ) AS "relative_change(sum(ph)) partial"
  FROM reasoned AS g
  LEFT JOIN reasoned AS b
    ON b."site" = g."site" AND b."taken" = CAST(g."taken" + INTERVAL '-1' YEAR AS DATE)
), member AS (
  SELECT
    g."site" AS "site",
    CASE
      WHEN g."avg(turbidity) reason" IS NULL AND NOT g."site" IS NULL
      THEN g."avg(turbidity)"
    END AS "avg(turbidity)",
    g."avg(turbidity) partial" AS "avg(turbidity) partial",
    CASE
      WHEN g."relative_change(sum(ph)) reason" IS NULL AND NOT g."site" IS NULL
      THEN g."relative_change(sum(ph))"
    END AS "relative_change(sum(ph))",
    g."relative_change(sum(ph)) partial" AS "relative_change(sum(ph)) partial",
    CASE WHEN NOT g."site" IS NULL THEN TRUE END AS "group key",
    (
      g."rows" > 0 AND NOT g."is expected" AND NOT g."site" IS NULL
    ) AS "unexpected"
  FROM changed AS g
), limited_by_text AS (
  SELECT
    v."site" AS "site",
    TRIM(v."site", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "site text",
    v."most" AS "most",
    TRIM(v."most", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "most text"
  FROM ontology."limit" AS v
), limited_by_number AS (
  SELECT
    t."site" AS "site",
    t."site text" AS "site text",
    t."most" AS "most",
    CASE
      WHEN t."most text" NOT ILIKE '%e%'
      THEN t."most text"
      WHEN REGEXP_FULL_MATCH(t."most text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."most text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."most text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."most text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."most text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(REGEXP_EXTRACT(t."most text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)) + CAST(REGEXP_EXTRACT(t."most text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."most text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."most text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(REGEXP_EXTRACT(t."most text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)) + CAST(REGEXP_EXTRACT(t."most text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."most text"
    END AS "most number"
  FROM limited_by_text AS t
), limited_by_value AS (
  SELECT
    CASE WHEN t."site text" = '' THEN NULL ELSE t."site" END AS "site",
    CASE
      WHEN REGEXP_FULL_MATCH(t."most number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
      THEN TRY_CAST(t."most number" AS DECIMAL(12, 4))
    END AS "most"
  FROM limited_by_number AS t
), limited_by AS (
  SELECT
    t."site" AS "site",
    t."most" AS "most"
  FROM limited_by_value AS t
), compared AS (
  SELECT
    m."avg(turbidity) partial" AS "avg(turbidity) partial",
    m."relative_change(sum(ph)) partial" AS "relative_change(sum(ph)) partial",
    m."unexpected" AS "unexpected",
    EXISTS(
      SELECT
        1 AS "1"
      FROM limited_by AS r1
      WHERE
        r1."site" = m."site"
        AND m."avg(turbidity)" > CAST(CAST(r1."most" AS TEXT) AS DOUBLE)
    ) AS "comparison 1 some true",
    EXISTS(
      SELECT
        1 AS "1"
      FROM limited_by AS r1
      WHERE
        r1."site" = m."site"
        AND NOT (
          m."avg(turbidity)" > CAST(CAST(r1."most" AS TEXT) AS DOUBLE)
        )
    ) AS "comparison 1 some false",
    EXISTS(
      SELECT
        1 AS "1"
      FROM limited_by AS r1
      WHERE
        r1."site" = m."site"
        AND (
          m."avg(turbidity)" > CAST(CAST(r1."most" AS TEXT) AS DOUBLE)
        ) IS NULL
    ) AS "comparison 1 some unknown",
    m."relative_change(sum(ph))" > CAST(CAST(0.5 AS TEXT) AS DOUBLE) AS "comparison 2",
    m."group key" = TRUE AS "comparison 3"
  FROM member AS m
), judged AS (
  SELECT
    m."unexpected" AS "unexpected",
    (
      COALESCE(m."comparison 3", FALSE)
      AND (
        m."comparison 1 some true" OR COALESCE(m."comparison 2", FALSE)
      )
    ) AS "breach",
    (
      NOT (
        COALESCE(m."comparison 3", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
      )
      OR (
        COALESCE(m."comparison 3", FALSE)
        AND NOT (
          (
            m."comparison 1 some true" OR COALESCE(m."comparison 2", FALSE)
          )
          OR (
            (
              m."comparison 1 some false" AND NOT m."comparison 1 some true"
            )
            AND COALESCE(NOT m."comparison 2", FALSE)
          )
        )
      )
    ) AS "no_data",
    (
      COALESCE(m."comparison 3", FALSE)
      AND (
        (
          m."comparison 1 some false" AND NOT m."comparison 1 some true"
        )
        AND COALESCE(NOT m."comparison 2", FALSE)
      )
    ) AS "compliant",
    (
      m."comparison 1 some unknown"
      OR m."avg(turbidity) partial"
      OR m."relative_change(sum(ph)) partial"
    ) AS "partial"
  FROM compared AS m
  WHERE
    NOT COALESCE(NOT m."comparison 3", FALSE)
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
  0 AS "duplicate_keys",
  COUNT(*) FILTER(WHERE
    j."unexpected") AS "unexpected"
FROM judged AS j
