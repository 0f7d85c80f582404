WITH row_text AS (
  SELECT
    v."status" AS "status",
    TRIM(v."status", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "status text",
    CASE
      WHEN (
        v."status" >= '!'
      )
      THEN v."status"
      WHEN v."status" IS NULL
      THEN NULL
      ELSE CASE
        WHEN TRIM(v."status", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) = ''
        THEN NULL
        ELSE CAST(v."status" AS TEXT)
      END
    END AS "status quick",
    v."site" AS "site",
    TRIM(v."site", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "site text",
    CASE
      WHEN (
        v."site" >= '!'
      ) AND NOT CONTAINS(v."site", 'n/a')
      THEN v."site"
      WHEN v."site" IS NULL
      THEN NULL
      ELSE CASE
        WHEN TRIM(v."site", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) IN ('n/a')
        OR TRIM(v."site", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) = ''
        THEN NULL
        ELSE CAST(v."site" AS TEXT)
      END
    END AS "site quick",
    v."taken" AS "taken",
    TRIM(v."taken", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "taken text",
    CASE
      WHEN (
        CAST(TRY_CAST(v."taken" AS DATE) AS TEXT) = v."taken"
        AND TRY_CAST(v."taken" AS DATE) BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)
      )
      THEN TRY_CAST(v."taken" AS DATE)
      WHEN v."taken" IS NULL OR v."taken" >= ':'
      THEN NULL
      ELSE CASE
        WHEN REGEXP_FULL_MATCH(
          TRIM(v."taken", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
          '(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]00:00(:00(\.0+)?)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?'
        )
        THEN TRY_CAST(LEFT(TRIM(v."taken", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)), 10) AS DATE)
      END
    END AS "taken quick",
    v."turbidity" AS "turbidity",
    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "turbidity text",
    COALESCE(
      TRIM(v."turbidity_side", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
      ''
    ) AS "turbidity side",
    TRIM(v."turbidity_limit", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "turbidity limit text",
    CASE
      WHEN CASE
        WHEN v."turbidity_side" IS NULL OR v."turbidity_side" = ''
        THEN FALSE
        ELSE TRIM(v."turbidity_side", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) <> ''
      END
      THEN NULL
      ELSE CASE
        WHEN (
          STARTS_WITH(CAST(TRY_CAST(v."turbidity" AS DECIMAL(12, 4)) AS TEXT), v."turbidity")
        )
        AND NOT v."turbidity" IN ('TBC')
        THEN TRY_CAST(v."turbidity" AS DECIMAL(12, 4))
        WHEN v."turbidity" IS NULL OR v."turbidity" >= ':'
        THEN NULL
        ELSE CASE
          WHEN TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) IN ('TBC')
          THEN NULL
          ELSE CASE
            WHEN REGEXP_FULL_MATCH(
              CASE
                WHEN TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) NOT ILIKE '%e%'
                THEN TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13))
                WHEN REGEXP_FULL_MATCH(
                  TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                  '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+'
                )
                THEN '0'
                WHEN REGEXP_FULL_MATCH(
                  TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                  '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}'
                )
                THEN CASE
                  WHEN LEFT(TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)), 1) = '-'
                  THEN '-'
                  ELSE ''
                END || LEFT(
                  REPEAT('0', 999) || REGEXP_EXTRACT(
                    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                    '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                    1
                  ) || REGEXP_EXTRACT(
                    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                    '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                    2
                  ) || REPEAT('0', 999),
                  999 + LENGTH(
                    REGEXP_EXTRACT(
                      TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                      '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                      1
                    )
                  ) + CAST(REGEXP_EXTRACT(
                    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                    '[eE]([+-]?[0-9]+)$',
                    1
                  ) AS INT)
                ) || '.' || SUBSTRING(
                  REPEAT('0', 999) || REGEXP_EXTRACT(
                    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                    '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                    1
                  ) || REGEXP_EXTRACT(
                    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                    '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                    2
                  ) || REPEAT('0', 999),
                  999 + LENGTH(
                    REGEXP_EXTRACT(
                      TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                      '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                      1
                    )
                  ) + CAST(REGEXP_EXTRACT(
                    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                    '[eE]([+-]?[0-9]+)$',
                    1
                  ) AS INT) + 1
                )
                ELSE TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13))
              END,
              '[+-]?(0*[0-9]{1,8}(\.[0-9]{0,4}0*)?|\.[0-9]{1,4}0*)'
            )
            THEN TRY_CAST(CASE
              WHEN TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) NOT ILIKE '%e%'
              THEN TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13))
              WHEN REGEXP_FULL_MATCH(
                TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                '[+-]?(0+\.?0*|\.0+)[eE][+-]?[0-9]+'
              )
              THEN '0'
              WHEN REGEXP_FULL_MATCH(
                TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+-]?0*[0-9]{1,3}'
              )
              THEN CASE
                WHEN LEFT(TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)), 1) = '-'
                THEN '-'
                ELSE ''
              END || LEFT(
                REPEAT('0', 999) || REGEXP_EXTRACT(
                  TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                  '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                  1
                ) || REGEXP_EXTRACT(
                  TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                  '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                  2
                ) || REPEAT('0', 999),
                999 + LENGTH(
                  REGEXP_EXTRACT(
                    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                    '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                    1
                  )
                ) + CAST(REGEXP_EXTRACT(
                  TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                  '[eE]([+-]?[0-9]+)$',
                  1
                ) AS INT)
              ) || '.' || SUBSTRING(
                REPEAT('0', 999) || REGEXP_EXTRACT(
                  TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                  '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                  1
                ) || REGEXP_EXTRACT(
                  TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                  '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                  2
                ) || REPEAT('0', 999),
                999 + LENGTH(
                  REGEXP_EXTRACT(
                    TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                    '^[+-]?([0-9]*)\.?([0-9]*)[eE][+-]?[0-9]+$',
                    1
                  )
                ) + CAST(REGEXP_EXTRACT(
                  TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
                  '[eE]([+-]?[0-9]+)$',
                  1
                ) AS INT) + 1
              )
              ELSE TRIM(v."turbidity", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13))
            END AS DECIMAL(12, 4))
          END
        END
      END
    END AS "turbidity quick",
    v."ph" AS "ph",
    TRIM(v."ph", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS "ph text",
    CASE
      WHEN (
        ABS(TRY_CAST(v."ph" AS DOUBLE)) < CAST('Infinity' AS DOUBLE)
        AND (
          TRY_CAST(v."ph" AS DOUBLE) <> 0 OR v."ph" = '0'
        )
        AND v."ph" >= '-'
        AND NOT CONTAINS(v."ph", '_')
      )
      THEN TRY_CAST(v."ph" AS DOUBLE)
      WHEN v."ph" IS NULL OR v."ph" >= ':'
      THEN NULL
      ELSE CASE
        WHEN REGEXP_FULL_MATCH(
          TRIM(v."ph", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
          '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?'
        )
        AND (
          ABS(
            TRY_CAST(TRIM(v."ph", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS DOUBLE)
          ) < CAST('Infinity' AS DOUBLE)
        )
        AND NOT (
          REGEXP_FULL_MATCH(
            TRIM(v."ph", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
            '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?'
          )
          AND TRY_CAST(TRIM(v."ph", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS DOUBLE) = 0
          AND REGEXP_FULL_MATCH(
            TRIM(v."ph", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)),
            '[^eE]*[1-9].*'
          )
        )
        THEN TRY_CAST(TRIM(v."ph", ' ' || CHR(9) || CHR(10) || CHR(11) || CHR(12) || CHR(13)) AS DOUBLE)
      END
    END AS "ph quick"
  FROM ontology.reading AS v
), row_number AS (
  SELECT
    t."status" AS "status",
    t."status text" AS "status text",
    t."status quick" AS "status quick",
    t."site" AS "site",
    t."site text" AS "site text",
    t."site quick" AS "site quick",
    t."taken" AS "taken",
    t."taken text" AS "taken text",
    t."taken quick" AS "taken quick",
    t."turbidity" AS "turbidity",
    t."turbidity text" AS "turbidity text",
    t."turbidity side" AS "turbidity side",
    t."turbidity limit text" AS "turbidity limit text",
    t."turbidity quick" AS "turbidity quick",
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
    t."ph text" AS "ph text",
    t."ph quick" AS "ph quick"
  FROM row_text AS t
), row_value AS (
  SELECT
    t."status quick" AS "status",
    t."status text" AS "status text",
    t."site quick" AS "site",
    t."site text" AS "site text",
    CAST(t."site" AS TEXT) AS "site raw",
    t."taken quick" AS "taken",
    t."taken text" AS "taken text",
    t."turbidity quick" AS "turbidity",
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
    t."ph quick" AS "ph",
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
    (
      COUNT(*) FILTER(WHERE
        NOT g."is row") > 0
    ) AS "is expected",
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
    g."is expected" AS "is expected",
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
    g."rows" AS "rows",
    g."is expected" AS "is expected",
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
)
SELECT
  g."site" AS "site",
  g."taken" AS "taken",
  g."site shown" AS "site shown",
  g."rows" AS "rows",
  g."is expected" AS "is expected",
  g."site cause" AS "site cause",
  g."taken cause" AS "taken cause",
  g."site.code cause" AS "site.code cause",
  g."scope cause 1" AS "scope cause 1",
  g."avg(turbidity) cause 1" AS "avg(turbidity) cause 1",
  g."sum(ph) cause 1" AS "sum(ph) cause 1",
  g."avg(turbidity)" AS "avg(turbidity)",
  g."sum(ph)" AS "sum(ph)",
  g."avg(turbidity) reason" AS "avg(turbidity) reason",
  g."avg(turbidity) partial" AS "avg(turbidity) partial",
  g."sum(ph) reason" AS "sum(ph) reason",
  g."sum(ph) partial" AS "sum(ph) partial"
FROM reasoned AS g
