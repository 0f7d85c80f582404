WITH row_text AS (
  SELECT
    v."status" AS "status",
    TRIM(v."status", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "status text",
    v."site" AS "site",
    TRIM(v."site", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "site text",
    v."taken" AS "taken",
    TRIM(v."taken", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "taken text",
    v."turbidity" AS "turbidity",
    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "turbidity text",
    COALESCE(
      TRIM(v."turbidity_side", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
      ''
    ) AS "turbidity side",
    v."ph" AS "ph",
    TRIM(v."ph", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "ph text"
  FROM ontology.reading AS v
), row_number AS (
  SELECT
    t."status" AS "status",
    t."status text" AS "status text",
    t."site" AS "site",
    t."site text" AS "site text",
    t."taken" AS "taken",
    t."taken text" AS "taken text",
    t."turbidity" AS "turbidity",
    t."turbidity text" AS "turbidity text",
    t."turbidity side" AS "turbidity side",
    CASE
      WHEN t."turbidity text" NOT ILIKE '%e%'
      THEN t."turbidity text"
      WHEN REGEXP_FULL_MATCH(t."turbidity text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."turbidity text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."turbidity text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."turbidity text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."turbidity text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."turbidity text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."turbidity text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."turbidity text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."turbidity text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."turbidity text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."turbidity text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."turbidity text"
    END AS "turbidity number",
    t."ph" AS "ph",
    t."ph text" AS "ph text"
  FROM row_text AS t
), row_value AS (
  SELECT
    CASE WHEN t."status text" = '' THEN NULL ELSE t."status" END AS "status",
    CASE WHEN t."site text" IN ('n/a') OR t."site text" = '' THEN NULL ELSE t."site" END AS "site",
    t."site text" AS "site text",
    CASE
      WHEN REGEXP_FULL_MATCH(
        t."taken text",
        '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]00:00(:00(\.0+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
      )
      THEN TRY_CAST(LEFT(t."taken text", 10) AS DATE)
    END AS "taken",
    CASE
      WHEN t."turbidity side" <> '' OR t."turbidity text" IN ('TBC')
      THEN NULL
      ELSE CASE
        WHEN REGEXP_FULL_MATCH(t."turbidity number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
        THEN TRY_CAST(t."turbidity number" AS DECIMAL(12, 4))
      END
    END AS "turbidity",
    CASE
      WHEN REGEXP_FULL_MATCH(t."ph text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
      AND (
        ABS(TRY_CAST(t."ph text" AS DOUBLE)) < CAST('Infinity' AS DOUBLE)
      )
      AND NOT (
        REGEXP_FULL_MATCH(t."ph text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        AND TRY_CAST(t."ph text" AS DOUBLE) = 0
        AND REGEXP_FULL_MATCH(t."ph text", '[^eE]*[1-9].*')
      )
      THEN TRY_CAST(t."ph text" AS DOUBLE)
    END AS "ph"
  FROM row_number AS t
), row AS (
  SELECT
    t."status" AS "status",
    t."site" AS "site",
    t."taken" AS "taken",
    t."turbidity" AS "turbidity",
    t."ph" AS "ph"
  FROM row_value AS t
), row_compared AS (
  SELECT
    m."site" AS "site",
    m."taken" AS "taken",
    m."turbidity" AS "turbidity",
    m."ph" AS "ph",
    m."status" = 'ok' AS "comparison 1"
  FROM row AS m
), keyed AS (
  SELECT
    m."site" AS "site",
    CAST(DATE_TRUNC('YEAR', m."taken") AS DATE) AS "taken",
    COALESCE(m."comparison 1", FALSE) AS "in scope",
    m."turbidity" AS "avg(turbidity) input",
    NOT m."turbidity" IS NULL AS "avg(turbidity) known",
    m."ph" AS "sum(ph) input",
    NOT m."ph" IS NULL AS "sum(ph) known",
    CAST(DATE_TRUNC('MONTH', m."taken") AS DATE) AS "part of period"
  FROM row_compared AS m
  WHERE
    NOT COALESCE(NOT m."comparison 1", FALSE)
), expected_text AS (
  SELECT
    v."code" AS "code",
    TRIM(v."code", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "code text"
  FROM ontology.site AS v
), expected_number AS (
  SELECT
    t."code" AS "code",
    t."code text" AS "code text"
  FROM expected_text AS t
), expected_value AS (
  SELECT
    CASE WHEN t."code text" = '' THEN NULL ELSE t."code" END AS "code"
  FROM expected_number AS t
), expected AS (
  SELECT
    t."code" AS "code"
  FROM expected_value AS t
), periods AS (
  SELECT
    CAST(UNNEST(
      GENERATE_SERIES(CAST('2022-01-01' AS DATE), CAST('2024-01-01' AS DATE), INTERVAL '1' YEAR)
    ) AS DATE) AS "taken"
), gathered AS (
  SELECT
    CASE WHEN NOT k."site" IS NULL AND NOT k."taken" IS NULL THEN k."site" END AS "site",
    CASE WHEN NOT k."site" IS NULL AND NOT k."taken" IS NULL THEN k."taken" END AS "taken",
    TRUE AS "is row",
    k."in scope" AND k."avg(turbidity) known" AS "avg(turbidity) known",
    CASE WHEN k."in scope" THEN k."avg(turbidity) input" END AS "avg(turbidity) input",
    k."in scope" AND k."sum(ph) known" AS "sum(ph) known",
    CASE WHEN k."in scope" THEN k."sum(ph) input" END AS "sum(ph) input",
    CASE
      WHEN k."part of period" BETWEEN CAST(DATE_TRUNC(
        'MONTH',
        CASE
          WHEN k."taken" < CAST('2022-01-01' AS DATE)
          AND CAST(CAST(k."taken" + INTERVAL '1' YEAR AS DATE) - INTERVAL '1' DAY AS DATE) >= CAST('2022-01-01' AS DATE)
          THEN CAST('2022-01-01' AS DATE)
          ELSE k."taken"
        END
      ) AS DATE) AND CASE
        WHEN CAST(CAST(k."taken" + INTERVAL '1' YEAR AS DATE) - INTERVAL '1' DAY AS DATE) > CAST('2024-06-15' AS DATE)
        AND k."taken" <= CAST('2024-06-15' AS DATE)
        THEN CAST('2024-06-15' AS DATE)
        ELSE CAST(CAST(k."taken" + INTERVAL '1' YEAR AS DATE) - INTERVAL '1' DAY AS DATE)
      END
      THEN k."part of period"
    END AS "part of period"
  FROM keyed AS k
  UNION ALL
  SELECT
    CASE WHEN NOT e."code" IS NULL THEN e."code" END AS "site",
    CASE WHEN NOT e."code" IS NULL THEN p."taken" END AS "taken",
    FALSE AS "is row",
    FALSE AS "avg(turbidity) known",
    NULL AS "avg(turbidity) input",
    FALSE AS "sum(ph) known",
    NULL AS "sum(ph) input",
    NULL AS "part of period"
  FROM expected AS e
  CROSS JOIN periods AS p
), grouped AS (
  SELECT
    g."site" AS "site",
    g."taken" AS "taken",
    COUNT(*) FILTER(WHERE
      g."is row") AS "rows",
    (
      COUNT(*) FILTER(WHERE
        NOT g."is row") > 0
    ) AS "is expected",
    COUNT(*) FILTER(WHERE
      g."avg(turbidity) known") AS "avg(turbidity) known",
    COUNT(DISTINCT g."part of period") FILTER(WHERE
      g."avg(turbidity) known") AS "avg(turbidity) parts",
    SUM(g."avg(turbidity) input") AS "avg(turbidity) sum",
    COUNT(*) FILTER(WHERE
      g."sum(ph) known") AS "sum(ph) known",
    COUNT(DISTINCT g."part of period") FILTER(WHERE
      g."sum(ph) known") AS "sum(ph) parts",
    FSUM(g."sum(ph) input") AS "sum(ph) sum",
    FSUM(ABS(g."sum(ph) input")) AS "sum(ph) size"
  FROM gathered AS g
  GROUP BY
    g."site",
    g."taken"
), figured AS (
  SELECT
    g."site" AS "site",
    g."taken" AS "taken",
    g."rows" AS "rows",
    g."is expected" AS "is expected",
    g."avg(turbidity) known" AS "avg(turbidity) known",
    g."avg(turbidity) parts" AS "avg(turbidity) parts",
    g."sum(ph) known" AS "sum(ph) known",
    g."sum(ph) parts" AS "sum(ph) parts",
    CAST(FORMAT(
      '{:.11e}',
      CAST(CAST(TRY(CAST(g."avg(turbidity) sum" AS DECIMAL(24, 4))) AS TEXT) AS DOUBLE) / NULLIF(g."avg(turbidity) known", 0)
    ) AS DOUBLE) AS "avg(turbidity)",
    CAST(FORMAT(
      '{:.11e}',
      CASE
        WHEN (
          ABS(g."sum(ph) size") < CAST('Infinity' AS DOUBLE)
        )
        THEN g."sum(ph) sum"
      END
    ) AS DOUBLE) AS "sum(ph)",
    DATE_DIFF(
      'MONTH',
      CASE
        WHEN g."taken" < CAST('2022-01-01' AS DATE)
        AND CAST(CAST(g."taken" + INTERVAL '1' YEAR AS DATE) - INTERVAL '1' DAY AS DATE) >= CAST('2022-01-01' AS DATE)
        THEN CAST('2022-01-01' AS DATE)
        ELSE g."taken"
      END,
      CASE
        WHEN CAST(CAST(g."taken" + INTERVAL '1' YEAR AS DATE) - INTERVAL '1' DAY AS DATE) > CAST('2024-06-15' AS DATE)
        AND g."taken" <= CAST('2024-06-15' AS DATE)
        THEN CAST('2024-06-15' AS DATE)
        ELSE CAST(CAST(g."taken" + INTERVAL '1' YEAR AS DATE) - INTERVAL '1' DAY AS DATE)
      END
    ) + 1 AS "all parts"
  FROM grouped AS g
), reasoned AS (
  SELECT
    g."site" AS "site",
    g."taken" AS "taken",
    g."rows" AS "rows",
    g."is expected" AS "is expected",
    g."avg(turbidity)" AS "avg(turbidity)",
    g."sum(ph)" AS "sum(ph)",
    CASE
      WHEN g."rows" = 0
      THEN 'left_missing'
      WHEN g."avg(turbidity) known" < 1 OR g."avg(turbidity) parts" * 4 < g."all parts" * 3
      THEN 'insufficient'
      WHEN g."avg(turbidity)" IS NULL
      THEN 'left_null'
    END AS "avg(turbidity) reason",
    (
      g."avg(turbidity) known" < g."rows"
    ) AS "avg(turbidity) partial",
    CASE
      WHEN g."rows" = 0
      THEN 'left_missing'
      WHEN g."sum(ph) known" < 1 OR g."sum(ph) parts" * 4 < g."all parts" * 3
      THEN 'insufficient'
      WHEN g."sum(ph)" IS NULL
      THEN 'left_null'
    END AS "sum(ph) reason",
    (
      g."sum(ph) known" < g."rows"
    ) AS "sum(ph) partial"
  FROM figured AS g
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
