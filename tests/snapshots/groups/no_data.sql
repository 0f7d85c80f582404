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
    TRIM(v."turbidity_limit", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "turbidity limit text",
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
    t."turbidity limit text" AS "turbidity limit text",
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
    CASE
      WHEN t."turbidity limit text" NOT ILIKE '%e%'
      THEN t."turbidity limit text"
      WHEN REGEXP_FULL_MATCH(t."turbidity limit text", '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+')
      THEN '0'
      WHEN REGEXP_FULL_MATCH(t."turbidity limit text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}')
      THEN CASE WHEN LEFT(t."turbidity limit text", 1) = '-' THEN '-' ELSE '' END || LEFT(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."turbidity limit text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."turbidity limit text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."turbidity limit text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."turbidity limit text", '[eE]([+-]?[0-9]+)$', 1) AS INT)
      ) || '.' || SUBSTRING(
        REPEAT('0', 999) || REGEXP_EXTRACT(t."turbidity limit text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1) || REGEXP_EXTRACT(t."turbidity limit text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 2) || REPEAT('0', 999),
        999 + LENGTH(
          REGEXP_EXTRACT(t."turbidity limit text", '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$', 1)
        ) + CAST(REGEXP_EXTRACT(t."turbidity limit text", '[eE]([+-]?[0-9]+)$', 1) AS INT) + 1
      )
      ELSE t."turbidity limit text"
    END AS "turbidity limit number",
    t."ph" AS "ph",
    t."ph text" AS "ph text"
  FROM row_text AS t
), row_value AS (
  SELECT
    CASE WHEN t."status text" = '' THEN NULL ELSE t."status" END AS "status",
    t."status text" AS "status text",
    CASE WHEN t."site text" IN ('n/a') OR t."site text" = '' THEN NULL ELSE t."site" END AS "site",
    t."site text" AS "site text",
    CAST(t."site" AS TEXT) AS "site raw",
    CASE
      WHEN REGEXP_FULL_MATCH(
        t."taken text",
        '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]00:00(:00(\.0+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
      )
      THEN TRY_CAST(LEFT(t."taken text", 10) AS DATE)
    END AS "taken",
    t."taken text" AS "taken text",
    CAST(t."taken" AS TEXT) AS "taken raw",
    CASE
      WHEN t."turbidity side" <> '' OR t."turbidity text" IN ('TBC')
      THEN NULL
      ELSE CASE
        WHEN REGEXP_FULL_MATCH(t."turbidity number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
        THEN TRY_CAST(t."turbidity number" AS DECIMAL(12, 4))
      END
    END AS "turbidity",
    t."turbidity text" AS "turbidity text",
    t."turbidity side" AS "turbidity side",
    CASE
      WHEN t."turbidity limit text" IN ('TBC')
      THEN NULL
      ELSE CASE
        WHEN REGEXP_FULL_MATCH(t."turbidity limit number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
        THEN TRY_CAST(t."turbidity limit number" AS DECIMAL(12, 4))
      END
    END AS "turbidity limit",
    t."turbidity limit text" AS "turbidity limit text",
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
    END AS "ph",
    t."ph text" AS "ph text"
  FROM row_number AS t
), row AS (
  SELECT
    t."status" AS "status",
    CASE
      WHEN t."status text" IS NULL OR t."status text" = ''
      THEN 'null'
      WHEN t."status" IS NULL
      THEN 'not_castable'
    END AS "status cause",
    t."site" AS "site",
    CASE
      WHEN t."site text" IS NULL OR t."site text" = '' OR t."site text" IN ('n/a')
      THEN 'null'
      WHEN t."site" IS NULL
      THEN 'not_castable'
    END AS "site cause",
    COALESCE(CAST(t."site" AS TEXT), t."site raw") AS "site shown",
    t."taken" AS "taken",
    CASE
      WHEN t."taken text" IS NULL OR t."taken text" = ''
      THEN 'null'
      WHEN t."taken" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."taken text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN (
          REGEXP_FULL_MATCH(
            t."taken text",
            '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
          )
          AND NOT TRY_CAST(LEFT(t."taken text", 10) AS DATE) IS NULL
        )
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "taken cause",
    COALESCE(CAST(t."taken" AS TEXT), t."taken raw") AS "taken shown",
    t."turbidity" AS "turbidity",
    CASE
      WHEN t."turbidity side" <> ''
      THEN CASE
        WHEN NOT t."turbidity side" IN ('<', '<=', '>', '>=')
        THEN 'not_castable'
        WHEN t."turbidity limit text" IS NULL
        OR t."turbidity limit text" = ''
        OR t."turbidity limit text" IN ('TBC')
        THEN 'null'
        WHEN t."turbidity limit" IS NULL
        THEN CASE
          WHEN REGEXP_FULL_MATCH(t."turbidity limit text", '(?i)[+-]?(nan|inf|infinity)')
          THEN 'not_finite'
          WHEN REGEXP_FULL_MATCH(t."turbidity limit text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
          THEN 'out_of_range'
          ELSE 'not_castable'
        END
        WHEN (
          t."turbidity side" = '<'
          AND t."turbidity limit" <= 0
          OR t."turbidity side" = '<='
          AND t."turbidity limit" < 0
        )
        THEN 'out_of_range'
        ELSE 'censored'
      END
      WHEN t."turbidity text" IS NULL
      OR t."turbidity text" = ''
      OR t."turbidity text" IN ('TBC')
      THEN 'null'
      WHEN t."turbidity" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."turbidity text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN REGEXP_FULL_MATCH(t."turbidity text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "turbidity cause",
    t."ph" AS "ph",
    CASE
      WHEN t."ph text" IS NULL OR t."ph text" = ''
      THEN 'null'
      WHEN t."ph" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."ph text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN (
          REGEXP_FULL_MATCH(t."ph text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
          AND TRY_CAST(t."ph text" AS DOUBLE) = 0
          AND REGEXP_FULL_MATCH(t."ph text", '[^eE]*[1-9].*')
        )
        THEN 'out_of_range'
        WHEN REGEXP_FULL_MATCH(t."ph text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN 'not_finite'
        ELSE 'not_castable'
      END
    END AS "ph cause"
  FROM row_value AS t
), row_compared AS (
  SELECT
    m."status cause" AS "status cause",
    m."site" AS "site",
    m."site cause" AS "site cause",
    m."site shown" AS "site shown",
    m."taken" AS "taken",
    m."taken cause" AS "taken cause",
    m."taken shown" AS "taken shown",
    m."turbidity" AS "turbidity",
    m."turbidity cause" AS "turbidity cause",
    m."ph" AS "ph",
    m."ph cause" AS "ph cause",
    m."status" = 'ok' AS "comparison 1"
  FROM row AS m
), keyed AS (
  SELECT
    m."site" AS "site",
    m."site cause" AS "site cause",
    m."site shown" AS "site shown",
    CAST(DATE_TRUNC('YEAR', m."taken") AS DATE) AS "taken",
    m."taken cause" AS "taken cause",
    COALESCE(m."comparison 1", FALSE) AS "in scope",
    m."status cause" AS "scope cause 1",
    m."turbidity" AS "avg(turbidity) input",
    NOT m."turbidity" IS NULL AS "avg(turbidity) known",
    m."turbidity cause" AS "avg(turbidity) cause 1",
    m."ph" AS "sum(ph) input",
    NOT m."ph" IS NULL AS "sum(ph) known",
    m."ph cause" AS "sum(ph) cause 1",
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
    CASE WHEN t."code text" = '' THEN NULL ELSE t."code" END AS "code",
    t."code text" AS "code text",
    CAST(t."code" AS TEXT) AS "code raw"
  FROM expected_number AS t
), expected AS (
  SELECT
    t."code" AS "code",
    CASE
      WHEN t."code text" IS NULL OR t."code text" = ''
      THEN 'null'
      WHEN t."code" IS NULL
      THEN 'not_castable'
    END AS "code cause",
    COALESCE(CAST(t."code" AS TEXT), t."code raw") AS "code shown"
  FROM expected_value AS t
), periods AS (
  SELECT
    CAST(UNNEST(
      GENERATE_SERIES(CAST('2022-01-01' AS DATE), CAST('2024-01-01' AS DATE), INTERVAL '1' YEAR)
    ) AS DATE) AS "taken"
), gathered AS (
  SELECT
    CASE WHEN NOT k."site" IS NULL AND NOT k."taken" IS NULL THEN k."site" END AS "site",
    CASE WHEN NOT k."site" IS NULL AND NOT k."taken" IS NULL THEN k."site shown" END AS "site shown",
    k."site cause" AS "site cause",
    CASE WHEN NOT k."site" IS NULL AND NOT k."taken" IS NULL THEN k."taken" END AS "taken",
    k."taken cause" AS "taken cause",
    NULL AS "site.code cause",
    TRUE AS "is row",
    CASE WHEN NOT k."in scope" THEN k."scope cause 1" END AS "scope cause 1",
    k."in scope" AND k."avg(turbidity) known" AS "avg(turbidity) known",
    CASE WHEN k."in scope" THEN k."avg(turbidity) input" END AS "avg(turbidity) input",
    CASE
      WHEN k."in scope" AND NOT k."avg(turbidity) known"
      THEN k."avg(turbidity) cause 1"
    END AS "avg(turbidity) cause 1",
    k."in scope" AND k."sum(ph) known" AS "sum(ph) known",
    CASE WHEN k."in scope" THEN k."sum(ph) input" END AS "sum(ph) input",
    CASE WHEN k."in scope" AND NOT k."sum(ph) known" THEN k."sum(ph) cause 1" END AS "sum(ph) cause 1",
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
    CASE WHEN NOT e."code" IS NULL THEN e."code shown" END AS "site shown",
    NULL AS "site cause",
    CASE WHEN NOT e."code" IS NULL THEN p."taken" END AS "taken",
    NULL AS "taken cause",
    e."code cause" AS "site.code cause",
    FALSE AS "is row",
    NULL AS "scope cause 1",
    FALSE AS "avg(turbidity) known",
    NULL AS "avg(turbidity) input",
    NULL AS "avg(turbidity) cause 1",
    FALSE AS "sum(ph) known",
    NULL AS "sum(ph) input",
    NULL AS "sum(ph) cause 1",
    NULL AS "part of period"
  FROM expected AS e
  CROSS JOIN periods AS p
), grouped AS (
  SELECT
    g."site" AS "site",
    g."taken" AS "taken",
    COUNT(*) FILTER(WHERE
      g."is row") AS "rows",
    MIN(g."site shown") AS "site shown",
    LISTAGG(DISTINCT g."site cause", ','
    ORDER BY
      g."site cause") AS "site cause",
    LISTAGG(DISTINCT g."taken cause", ','
    ORDER BY
      g."taken cause") AS "taken cause",
    LISTAGG(DISTINCT g."site.code cause", ','
    ORDER BY
      g."site.code cause") AS "site.code cause",
    LISTAGG(DISTINCT g."scope cause 1", ','
    ORDER BY
      g."scope cause 1") AS "scope cause 1",
    LISTAGG(DISTINCT g."avg(turbidity) cause 1", ','
    ORDER BY
      g."avg(turbidity) cause 1") AS "avg(turbidity) cause 1",
    LISTAGG(DISTINCT g."sum(ph) cause 1", ','
    ORDER BY
      g."sum(ph) cause 1") AS "sum(ph) cause 1",
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
    g."site shown" AS "site shown",
    g."rows" AS "rows",
    g."site cause" AS "site cause",
    g."taken cause" AS "taken cause",
    g."site.code cause" AS "site.code cause",
    g."scope cause 1" AS "scope cause 1",
    g."avg(turbidity) cause 1" AS "avg(turbidity) cause 1",
    g."sum(ph) cause 1" AS "sum(ph) cause 1",
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
    g."site shown" AS "site shown",
    g."site cause" AS "site cause",
    g."taken cause" AS "taken cause",
    g."site.code cause" AS "site.code cause",
    g."scope cause 1" AS "scope cause 1",
    g."avg(turbidity) cause 1" AS "avg(turbidity) cause 1",
    g."sum(ph) cause 1" AS "sum(ph) cause 1",
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
    CASE
      WHEN g."rows" = 0
      THEN 'left_missing'
      WHEN g."sum(ph) known" < 1 OR g."sum(ph) parts" * 4 < g."all parts" * 3
      THEN 'insufficient'
      WHEN g."sum(ph)" IS NULL
      THEN 'left_null'
    END AS "sum(ph) reason"
  FROM figured AS g
), changed AS (
  SELECT
    g."site" AS "site",
    g."taken" AS "taken",
    g."site shown" AS "site shown",
    g."site cause" AS "site cause",
    g."taken cause" AS "taken cause",
    g."site.code cause" AS "site.code cause",
    g."scope cause 1" AS "scope cause 1",
    g."avg(turbidity) cause 1" AS "avg(turbidity) cause 1",
    g."avg(turbidity)" AS "avg(turbidity)",
    g."avg(turbidity) reason" AS "avg(turbidity) reason",
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
    CASE WHEN g."sum(ph) reason" = 'insufficient' THEN g."sum(ph) cause 1" END AS "relative_change(sum(ph)) cause 1",
    CASE WHEN g."sum(ph) reason" = 'insufficient' THEN g."scope cause 1" END AS "relative_change(sum(ph)) cause 2",
    CASE WHEN g."sum(ph) reason" = 'left_null' THEN 'overflow' END AS "relative_change(sum(ph)) cause 3",
    CASE
      WHEN g."sum(ph) reason" IS NULL
      THEN CASE WHEN b."sum(ph) reason" = 'insufficient' THEN b."sum(ph) cause 1" END
    END AS "relative_change(sum(ph)) cause 4",
    CASE
      WHEN g."sum(ph) reason" IS NULL
      THEN CASE WHEN b."sum(ph) reason" = 'insufficient' THEN b."scope cause 1" END
    END AS "relative_change(sum(ph)) cause 5",
    CASE
      WHEN g."sum(ph) reason" IS NULL
      THEN CASE WHEN b."sum(ph) reason" = 'left_null' THEN 'overflow' END
    END AS "relative_change(sum(ph)) cause 6",
    CASE
      WHEN g."sum(ph) reason" IS NULL
      AND NOT g."sum(ph)" IS NULL
      AND b."sum(ph) reason" IS NULL
      AND NOT b."sum(ph)" IS NULL
      AND (
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
      THEN CASE WHEN b."sum(ph)" = 0 THEN 'division_by_zero' ELSE 'overflow' END
    END AS "relative_change(sum(ph)) cause 7"
  FROM reasoned AS g
  LEFT JOIN reasoned AS b
    ON b."site" = g."site" AND b."taken" = CAST(g."taken" + INTERVAL '-1' YEAR AS DATE)
), member AS (
  SELECT
    g."site" AS "site",
    g."site cause" AS "site cause",
    g."site shown" AS "site shown",
    g."taken" AS "taken",
    g."taken cause" AS "taken cause",
    LEFT(CAST(g."taken" AS TEXT), 4) AS "taken shown",
    CASE
      WHEN g."avg(turbidity) reason" IS NULL AND NOT g."site" IS NULL
      THEN g."avg(turbidity)"
    END AS "avg(turbidity)",
    CASE
      WHEN g."avg(turbidity) reason" IS NULL AND NOT g."site" IS NULL
      THEN CAST(g."avg(turbidity)" AS TEXT)
    END AS "avg(turbidity) shown",
    g."avg(turbidity) reason" AS "avg(turbidity) reason",
    CASE
      WHEN g."avg(turbidity) reason" = 'insufficient'
      THEN g."avg(turbidity) cause 1"
    END AS "avg(turbidity) cause 1",
    CASE WHEN g."avg(turbidity) reason" = 'insufficient' THEN g."scope cause 1" END AS "avg(turbidity) cause 2",
    CASE WHEN g."avg(turbidity) reason" = 'left_null' THEN 'overflow' END AS "avg(turbidity) cause 3",
    CASE
      WHEN g."relative_change(sum(ph)) reason" IS NULL AND NOT g."site" IS NULL
      THEN g."relative_change(sum(ph))"
    END AS "relative_change(sum(ph))",
    CASE
      WHEN g."relative_change(sum(ph)) reason" IS NULL AND NOT g."site" IS NULL
      THEN CAST(g."relative_change(sum(ph))" AS TEXT)
    END AS "relative_change(sum(ph)) shown",
    g."relative_change(sum(ph)) reason" AS "relative_change(sum(ph)) reason",
    g."relative_change(sum(ph)) cause 1" AS "relative_change(sum(ph)) cause 1",
    g."relative_change(sum(ph)) cause 2" AS "relative_change(sum(ph)) cause 2",
    g."relative_change(sum(ph)) cause 3" AS "relative_change(sum(ph)) cause 3",
    g."relative_change(sum(ph)) cause 4" AS "relative_change(sum(ph)) cause 4",
    g."relative_change(sum(ph)) cause 5" AS "relative_change(sum(ph)) cause 5",
    g."relative_change(sum(ph)) cause 6" AS "relative_change(sum(ph)) cause 6",
    g."relative_change(sum(ph)) cause 7" AS "relative_change(sum(ph)) cause 7",
    CASE WHEN NOT g."site" IS NULL THEN TRUE END AS "group key",
    g."site.code cause" AS "site.code cause"
  FROM changed AS g
), limited_by_text AS (
  SELECT
    v."site" AS "site",
    TRIM(v."site", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "site text",
    v."starts" AS "starts",
    TRIM(v."starts", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "starts text",
    v."most" AS "most",
    TRIM(v."most", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "most text"
  FROM ontology."limit" AS v
), limited_by_number AS (
  SELECT
    t."site" AS "site",
    t."site text" AS "site text",
    t."starts" AS "starts",
    t."starts text" AS "starts text",
    t."most" AS "most",
    t."most text" AS "most text",
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
    t."site text" AS "site text",
    CAST(t."site" AS TEXT) AS "site raw",
    CASE
      WHEN REGEXP_FULL_MATCH(
        t."starts text",
        '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]00:00(:00(\.0+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
      )
      THEN TRY_CAST(LEFT(t."starts text", 10) AS DATE)
    END AS "starts",
    CAST(t."starts" AS TEXT) AS "starts raw",
    CASE
      WHEN REGEXP_FULL_MATCH(t."most number", '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)')
      THEN TRY_CAST(t."most number" AS DECIMAL(12, 4))
    END AS "most",
    t."most text" AS "most text",
    CAST(t."most" AS TEXT) AS "most raw"
  FROM limited_by_number AS t
), limited_by AS (
  SELECT
    t."site" AS "site",
    CASE
      WHEN t."site text" IS NULL OR t."site text" = ''
      THEN 'null'
      WHEN t."site" IS NULL
      THEN 'not_castable'
    END AS "site cause",
    COALESCE(CAST(t."site" AS TEXT), t."site raw") AS "site shown",
    t."starts" AS "starts",
    COALESCE(CAST(t."starts" AS TEXT), t."starts raw") AS "starts shown",
    t."most" AS "most",
    CASE
      WHEN t."most text" IS NULL OR t."most text" = ''
      THEN 'null'
      WHEN t."most" IS NULL
      THEN CASE
        WHEN REGEXP_FULL_MATCH(t."most text", '(?i)[+-]?(nan|inf|infinity)')
        THEN 'not_finite'
        WHEN REGEXP_FULL_MATCH(t."most text", '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN 'out_of_range'
        ELSE 'not_castable'
      END
    END AS "most cause",
    COALESCE(
      RTRIM(
        LEFT(CAST(t."most" AS TEXT), LENGTH(CAST(t."most" AS TEXT)) - 4) || RTRIM(RIGHT(CAST(t."most" AS TEXT), 4), '0'),
        '.'
      ),
      t."most raw"
    ) AS "most shown"
  FROM limited_by_value AS t
), compared AS (
  SELECT
    m."site" AS "site",
    m."site cause" AS "site cause",
    m."site shown" AS "site shown",
    m."taken" AS "taken",
    m."taken cause" AS "taken cause",
    m."taken shown" AS "taken shown",
    m."avg(turbidity)" AS "avg(turbidity)",
    m."avg(turbidity) shown" AS "avg(turbidity) shown",
    m."relative_change(sum(ph))" AS "relative_change(sum(ph))",
    m."relative_change(sum(ph)) shown" AS "relative_change(sum(ph)) shown",
    m."avg(turbidity) reason" AS "avg(turbidity) reason",
    m."relative_change(sum(ph)) reason" AS "relative_change(sum(ph)) reason",
    m."avg(turbidity) cause 1" AS "avg(turbidity) cause 1",
    m."avg(turbidity) cause 2" AS "avg(turbidity) cause 2",
    m."avg(turbidity) cause 3" AS "avg(turbidity) cause 3",
    m."relative_change(sum(ph)) cause 1" AS "relative_change(sum(ph)) cause 1",
    m."relative_change(sum(ph)) cause 2" AS "relative_change(sum(ph)) cause 2",
    m."relative_change(sum(ph)) cause 3" AS "relative_change(sum(ph)) cause 3",
    m."relative_change(sum(ph)) cause 4" AS "relative_change(sum(ph)) cause 4",
    m."relative_change(sum(ph)) cause 5" AS "relative_change(sum(ph)) cause 5",
    m."relative_change(sum(ph)) cause 6" AS "relative_change(sum(ph)) cause 6",
    m."relative_change(sum(ph)) cause 7" AS "relative_change(sum(ph)) cause 7",
    m."site cause" AS "site cause",
    m."taken cause" AS "taken cause",
    m."site.code cause" AS "site.code cause",
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
    m."relative_change(sum(ph))" > CAST(CAST(0.5 AS TEXT) AS DOUBLE) AS "comparison 2",
    m."group key" = TRUE AS "comparison 3",
    EXISTS(
      SELECT
        1 AS "1"
      FROM limited_by AS r1
      WHERE
        r1."site" = m."site"
    ) AS "limited_by matched"
  FROM member AS m
), undecided AS (
  SELECT
    m."site" AS "site",
    m."site cause" AS "site cause",
    m."site shown" AS "site shown",
    m."taken" AS "taken",
    m."taken cause" AS "taken cause",
    m."taken shown" AS "taken shown",
    m."avg(turbidity)" AS "avg(turbidity)",
    m."avg(turbidity) shown" AS "avg(turbidity) shown",
    m."relative_change(sum(ph))" AS "relative_change(sum(ph))",
    m."relative_change(sum(ph)) shown" AS "relative_change(sum(ph)) shown",
    m."avg(turbidity) reason" AS "avg(turbidity) reason",
    m."relative_change(sum(ph)) reason" AS "relative_change(sum(ph)) reason",
    m."avg(turbidity) cause 1" AS "avg(turbidity) cause 1",
    m."avg(turbidity) cause 2" AS "avg(turbidity) cause 2",
    m."avg(turbidity) cause 3" AS "avg(turbidity) cause 3",
    m."relative_change(sum(ph)) cause 1" AS "relative_change(sum(ph)) cause 1",
    m."relative_change(sum(ph)) cause 2" AS "relative_change(sum(ph)) cause 2",
    m."relative_change(sum(ph)) cause 3" AS "relative_change(sum(ph)) cause 3",
    m."relative_change(sum(ph)) cause 4" AS "relative_change(sum(ph)) cause 4",
    m."relative_change(sum(ph)) cause 5" AS "relative_change(sum(ph)) cause 5",
    m."relative_change(sum(ph)) cause 6" AS "relative_change(sum(ph)) cause 6",
    m."relative_change(sum(ph)) cause 7" AS "relative_change(sum(ph)) cause 7",
    m."site cause" AS "site cause",
    m."taken cause" AS "taken cause",
    m."site.code cause" AS "site.code cause",
    m."comparison 1 some true" AS "comparison 1 some true",
    m."comparison 1 some false" AS "comparison 1 some false",
    m."comparison 2" AS "comparison 2",
    m."limited_by matched" AS "limited_by matched",
    NOT (
      COALESCE(m."comparison 3", FALSE) OR COALESCE(NOT m."comparison 3", FALSE)
    ) AS "scope unknown"
  FROM compared AS m
  WHERE
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
    )
), explained AS (
  SELECT
    m."site" AS "site",
    m."site cause" AS "site cause",
    m."site shown" AS "site shown",
    m."taken" AS "taken",
    m."taken cause" AS "taken cause",
    m."taken shown" AS "taken shown",
    m."avg(turbidity)" AS "avg(turbidity)",
    m."avg(turbidity) shown" AS "avg(turbidity) shown",
    m."relative_change(sum(ph))" AS "relative_change(sum(ph))",
    m."relative_change(sum(ph)) shown" AS "relative_change(sum(ph)) shown",
    m."avg(turbidity) cause 1" AS "avg(turbidity) cause 1",
    m."avg(turbidity) cause 2" AS "avg(turbidity) cause 2",
    m."avg(turbidity) cause 3" AS "avg(turbidity) cause 3",
    m."relative_change(sum(ph)) cause 1" AS "relative_change(sum(ph)) cause 1",
    m."relative_change(sum(ph)) cause 2" AS "relative_change(sum(ph)) cause 2",
    m."relative_change(sum(ph)) cause 3" AS "relative_change(sum(ph)) cause 3",
    m."relative_change(sum(ph)) cause 4" AS "relative_change(sum(ph)) cause 4",
    m."relative_change(sum(ph)) cause 5" AS "relative_change(sum(ph)) cause 5",
    m."relative_change(sum(ph)) cause 6" AS "relative_change(sum(ph)) cause 6",
    m."relative_change(sum(ph)) cause 7" AS "relative_change(sum(ph)) cause 7",
    m."site cause" AS "site cause",
    m."taken cause" AS "taken cause",
    m."site.code cause" AS "site.code cause",
    m."comparison 1 some true" AS "comparison 1 some true",
    m."comparison 1 some false" AS "comparison 1 some false",
    m."comparison 2" AS "comparison 2",
    m."scope unknown" AS "scope unknown",
    CASE
      WHEN NOT (
        m."comparison 1 some true"
        OR (
          m."comparison 1 some false" AND NOT m."comparison 1 some true"
        )
      )
      THEN CASE
        WHEN m."avg(turbidity) reason" = 'left_missing'
        THEN 'left_missing'
        WHEN m."avg(turbidity) reason" = 'left_null'
        THEN 'left_null'
        WHEN NOT m."limited_by matched"
        THEN 'right_missing'
        WHEN m."avg(turbidity) reason" = 'insufficient'
        THEN 'insufficient'
        ELSE 'right_null'
      END
    END AS "reason 1",
    CASE
      WHEN NOT (
        COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
      )
      THEN CASE
        WHEN m."relative_change(sum(ph)) reason" = 'left_missing'
        THEN 'left_missing'
        WHEN m."relative_change(sum(ph)) reason" = 'left_null'
        THEN 'left_null'
        WHEN m."relative_change(sum(ph)) reason" = 'insufficient'
        THEN 'insufficient'
        ELSE 'left_null'
      END
    END AS "reason 2"
  FROM undecided AS m
)
SELECT
  m."site shown" AS "site",
  m."taken shown" AS "taken",
  CASE
    WHEN m."scope unknown"
    THEN 'left_null'
    ELSE CASE
      WHEN 'left_missing' IN (m."reason 1", m."reason 2")
      THEN 'left_missing'
      WHEN 'left_null' IN (m."reason 1", m."reason 2")
      THEN 'left_null'
      WHEN 'right_missing' IN (m."reason 1", m."reason 2")
      THEN 'right_missing'
      WHEN 'right_null' IN (m."reason 1", m."reason 2")
      THEN 'right_null'
      WHEN 'right_ambiguous' IN (m."reason 1", m."reason 2")
      THEN 'right_ambiguous'
      WHEN 'insufficient' IN (m."reason 1", m."reason 2")
      THEN 'insufficient'
    END
  END AS "reason",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      m."comparison 1 some true"
      OR (
        m."comparison 1 some false" AND NOT m."comparison 1 some true"
      )
    )
    THEN m."avg(turbidity) cause 1"
  END AS "causes of turbidity",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      m."comparison 1 some true"
      OR (
        m."comparison 1 some false" AND NOT m."comparison 1 some true"
      )
    )
    THEN m."avg(turbidity) cause 2"
  END AS "causes of status",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      m."comparison 1 some true"
      OR (
        m."comparison 1 some false" AND NOT m."comparison 1 some true"
      )
    )
    THEN m."avg(turbidity) cause 3"
  END AS "causes of avg(turbidity)",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      m."comparison 1 some true"
      OR (
        m."comparison 1 some false" AND NOT m."comparison 1 some true"
      )
    )
    THEN CASE WHEN m."site" IS NULL THEN 'key_null' END
  END AS "causes of limited_by",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      m."comparison 1 some true"
      OR (
        m."comparison 1 some false" AND NOT m."comparison 1 some true"
      )
    )
    THEN (
      SELECT
        LISTAGG(DISTINCT r1."most cause", ','
        ORDER BY
          r1."most cause") AS _col_0
      FROM limited_by AS r1
      WHERE
        r1."site" = m."site"
        AND (
          m."avg(turbidity)" > CAST(CAST(r1."most" AS TEXT) AS DOUBLE)
        ) IS NULL
    )
  END AS "causes of limited_by.most",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
    )
    THEN m."relative_change(sum(ph)) cause 1"
  END AS "causes of ph",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
    )
    THEN m."relative_change(sum(ph)) cause 2"
  END AS "causes of status (2)",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
    )
    THEN m."relative_change(sum(ph)) cause 3"
  END AS "causes of sum(ph)",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
    )
    THEN m."relative_change(sum(ph)) cause 4"
  END AS "causes of ph (2)",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
    )
    THEN m."relative_change(sum(ph)) cause 5"
  END AS "causes of status (3)",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
    )
    THEN m."relative_change(sum(ph)) cause 6"
  END AS "causes of sum(ph) (2)",
  CASE
    WHEN NOT m."scope unknown"
    AND NOT (
      COALESCE(m."comparison 2", FALSE) OR COALESCE(NOT m."comparison 2", FALSE)
    )
    THEN m."relative_change(sum(ph)) cause 7"
  END AS "causes of relative_change(sum(ph))",
  CASE WHEN m."scope unknown" THEN m."site cause" END AS "causes of site",
  CASE WHEN m."scope unknown" THEN m."taken cause" END AS "causes of taken",
  CASE WHEN m."scope unknown" THEN m."site.code cause" END AS "causes of site.code",
  m."avg(turbidity) shown" AS "avg(turbidity)",
  d1."most shown" AS "limited_by.most",
  m."relative_change(sum(ph)) shown" AS "relative_change(sum(ph))"
FROM explained AS m
LEFT JOIN LATERAL (
  SELECT
    r1."site shown" AS "site shown",
    r1."starts shown" AS "starts shown",
    r1."most shown" AS "most shown"
  FROM limited_by AS r1
  WHERE
    r1."site" = m."site"
  ORDER BY
    (
      m."avg(turbidity)" > CAST(CAST(r1."most" AS TEXT) AS DOUBLE)
    ) IS NULL,
    (
      m."avg(turbidity)" > CAST(CAST(r1."most" AS TEXT) AS DOUBLE)
    ) DESC,
    r1."most" ASC,
    r1."site",
    r1."starts",
    r1."site shown",
    r1."starts shown",
    r1."most shown"
  LIMIT 1
) AS d1
  ON TRUE
ORDER BY
  m."site" NULLS FIRST,
  m."taken" NULLS FIRST,
  m."site shown" NULLS FIRST,
  m."taken shown" NULLS FIRST,
  CASE
    WHEN m."scope unknown"
    THEN 'left_null'
    ELSE CASE
      WHEN 'left_missing' IN (m."reason 1", m."reason 2")
      THEN 'left_missing'
      WHEN 'left_null' IN (m."reason 1", m."reason 2")
      THEN 'left_null'
      WHEN 'right_missing' IN (m."reason 1", m."reason 2")
      THEN 'right_missing'
      WHEN 'right_null' IN (m."reason 1", m."reason 2")
      THEN 'right_null'
      WHEN 'right_ambiguous' IN (m."reason 1", m."reason 2")
      THEN 'right_ambiguous'
      WHEN 'insufficient' IN (m."reason 1", m."reason 2")
      THEN 'insufficient'
    END
  END NULLS FIRST,
  m."avg(turbidity) shown" NULLS FIRST,
  d1."most shown" NULLS FIRST,
  m."relative_change(sum(ph)) shown" NULLS FIRST
