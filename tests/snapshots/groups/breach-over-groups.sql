WITH reasoned AS (
  SELECT
    g."site" AS "site",
    g."taken" AS "taken",
    g."site shown" AS "site shown",
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
    g."taken" AS "taken",
    g."site shown" AS "site shown",
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
    g."site shown" AS "site shown",
    g."taken" AS "taken",
    LEFT(CAST(g."taken" AS TEXT), 4) AS "taken shown",
    CASE
      WHEN g."avg(turbidity) reason" IS NULL AND NOT g."site" IS NULL
      THEN g."avg(turbidity)"
    END AS "avg(turbidity)",
    CASE
      WHEN g."avg(turbidity) reason" IS NULL AND NOT g."site" IS NULL
      THEN CAST(g."avg(turbidity)" AS TEXT)
    END AS "avg(turbidity) shown",
    g."avg(turbidity) partial" AS "avg(turbidity) partial",
    CASE
      WHEN g."relative_change(sum(ph)) reason" IS NULL AND NOT g."site" IS NULL
      THEN g."relative_change(sum(ph))"
    END AS "relative_change(sum(ph))",
    CASE
      WHEN g."relative_change(sum(ph)) reason" IS NULL AND NOT g."site" IS NULL
      THEN CAST(g."relative_change(sum(ph))" AS TEXT)
    END AS "relative_change(sum(ph)) shown",
    g."relative_change(sum(ph)) partial" AS "relative_change(sum(ph)) partial",
    CASE WHEN NOT g."site" IS NULL THEN TRUE END AS "group key"
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
    CAST(t."most" AS TEXT) AS "most raw"
  FROM limited_by_number AS t
), limited_by AS (
  SELECT
    t."site" AS "site",
    COALESCE(CAST(t."site" AS TEXT), t."site raw") AS "site shown",
    t."starts" AS "starts",
    COALESCE(CAST(t."starts" AS TEXT), t."starts raw") AS "starts shown",
    t."most" AS "most",
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
    m."site shown" AS "site shown",
    m."taken" AS "taken",
    m."taken shown" AS "taken shown",
    m."avg(turbidity)" AS "avg(turbidity)",
    m."avg(turbidity) shown" AS "avg(turbidity) shown",
    m."relative_change(sum(ph))" AS "relative_change(sum(ph))",
    m."relative_change(sum(ph)) shown" AS "relative_change(sum(ph)) shown",
    m."avg(turbidity) partial" AS "avg(turbidity) partial",
    m."relative_change(sum(ph)) partial" AS "relative_change(sum(ph)) partial",
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
        AND (
          m."avg(turbidity)" > CAST(CAST(r1."most" AS TEXT) AS DOUBLE)
        ) IS NULL
    ) AS "comparison 1 some unknown",
    m."relative_change(sum(ph))" > CAST(CAST(0.5 AS TEXT) AS DOUBLE) AS "comparison 2",
    m."group key" = TRUE AS "comparison 3"
  FROM member AS m
), breached AS (
  SELECT
    m."site" AS "site",
    m."site shown" AS "site shown",
    m."taken" AS "taken",
    m."taken shown" AS "taken shown",
    m."avg(turbidity)" AS "avg(turbidity)",
    m."avg(turbidity) shown" AS "avg(turbidity) shown",
    m."relative_change(sum(ph))" AS "relative_change(sum(ph))",
    m."relative_change(sum(ph)) shown" AS "relative_change(sum(ph)) shown",
    (
      m."comparison 1 some unknown"
      OR m."avg(turbidity) partial"
      OR m."relative_change(sum(ph)) partial"
    ) AS "partial"
  FROM compared AS m
  WHERE
    (
      COALESCE(m."comparison 3", FALSE)
      AND (
        m."comparison 1 some true" OR COALESCE(m."comparison 2", FALSE)
      )
    )
)
SELECT
  m."site shown" AS "site",
  m."taken shown" AS "taken",
  m."avg(turbidity) shown" AS "avg(turbidity)",
  d1."most shown" AS "limited_by.most",
  m."relative_change(sum(ph)) shown" AS "relative_change(sum(ph))",
  m."partial" AS "partial"
FROM breached AS m
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
  m."avg(turbidity) shown" NULLS FIRST,
  d1."most shown" NULLS FIRST,
  m."relative_change(sum(ph)) shown" NULLS FIRST,
  m."partial" NULLS FIRST
