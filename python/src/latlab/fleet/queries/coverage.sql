-- What was measured on which board, how long, and how many days before the newest run of all; nothing too.
WITH measured AS (
    SELECT board, scenario, count(*) AS runs, count(DISTINCT kernel) AS kernels,
        CAST(sum(measured_ns) AS BIGINT) AS measured_ns, max(started) AS newest, max(started_ns) AS newest_ns
    FROM runs
    GROUP BY board, scenario
),
boards AS (SELECT DISTINCT board FROM runs),
scenarios AS (SELECT DISTINCT scenario FROM runs),
newest AS (SELECT max(started_ns) AS of_all_ns FROM runs)
SELECT b.board, s.scenario, coalesce(m.runs, 0) AS runs, coalesce(m.kernels, 0) AS kernels,
    coalesce(m.measured_ns, 0) AS measured_ns, m.newest,
    CAST(floor((n.of_all_ns - m.newest_ns) / 86400000000000) AS BIGINT) AS days_ago
FROM boards b
CROSS JOIN scenarios s
CROSS JOIN newest n
LEFT JOIN measured m ON m.board = b.board AND m.scenario = s.scenario
ORDER BY coalesce(m.runs, 0), b.board, s.scenario
