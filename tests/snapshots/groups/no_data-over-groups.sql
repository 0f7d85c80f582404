WITH reasoned AS (
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
    g."avg(turbidity) reason" AS "avg(turbidity) reason",
    g."sum(ph) reason" AS "sum(ph) reason"
  FROM temp.groups AS g
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
