-- The latencies of all runs of a board, kernel and scenario together: quantiles of the merged histograms.
WITH counted AS (
    SELECT month, board, run, kernel, scenario, max_ns, misses, measured_ns
    FROM runs
    WHERE coalesce(verdict, '') <> 'invalid'
),
bins AS (
    SELECT c.board, c.kernel, c.scenario, h.high_ns, CAST(sum(h.cycles) AS BIGINT) AS cycles
    FROM counted c
    JOIN histogram h ON h.month = c.month AND h.board = c.board AND h.run = c.run
    GROUP BY c.board, c.kernel, c.scenario, h.high_ns
),
ranked AS (
    SELECT board, kernel, scenario, high_ns,
        sum(cycles) OVER (PARTITION BY board, kernel, scenario ORDER BY high_ns) AS up_to,
        sum(cycles) OVER (PARTITION BY board, kernel, scenario) AS total
    FROM bins
),
quantiles AS (
    SELECT board, kernel, scenario, max(total) AS total,
        min(CASE WHEN up_to * 2 >= total THEN high_ns - 1 END) AS p50_ns,
        min(CASE WHEN up_to * 100 >= total * 99 THEN high_ns - 1 END) AS p99_ns,
        min(CASE WHEN up_to * 1000 >= total * 999 THEN high_ns - 1 END) AS p99_9_ns,
        min(CASE WHEN up_to * 10000 >= total * 9999 THEN high_ns - 1 END) AS p99_99_ns,
        min(CASE WHEN up_to * 100000 >= total * 99999 THEN high_ns - 1 END) AS p99_999_ns
    FROM ranked
    GROUP BY board, kernel, scenario
),
sums AS (
    SELECT board, kernel, scenario, count(*) AS runs, max(max_ns) AS max_ns,
        CAST(sum(misses) AS BIGINT) AS misses, CAST(sum(measured_ns) AS BIGINT) AS measured_ns
    FROM counted
    GROUP BY board, kernel, scenario
)
-- A quantile is the upper edge of its bin, or the observed maximum if that is smaller; it needs enough latencies, and
-- a bin that ends: one of an imported file may end nowhere (2^63 - 1).
SELECT s.board, s.kernel, s.scenario, s.runs, CAST(q.total AS BIGINT) AS cycles,
    CASE WHEN q.p50_ns < 9223372036854775806 THEN least(q.p50_ns, s.max_ns) END AS p50_ns,
    CASE WHEN q.p99_ns < 9223372036854775806 THEN least(q.p99_ns, s.max_ns) END AS p99_ns,
    CASE WHEN q.total >= 1000 AND q.p99_9_ns < 9223372036854775806 THEN least(q.p99_9_ns, s.max_ns) END AS p99_9_ns,
    CASE WHEN q.total >= 10000 AND q.p99_99_ns < 9223372036854775806 THEN least(q.p99_99_ns, s.max_ns) END
        AS p99_99_ns,
    CASE WHEN q.total >= 100000 AND q.p99_999_ns < 9223372036854775806 THEN least(q.p99_999_ns, s.max_ns) END
        AS p99_999_ns,
    s.max_ns, s.misses, s.measured_ns
FROM sums s
JOIN quantiles q ON q.board = s.board AND q.kernel = s.kernel AND q.scenario = s.scenario
ORDER BY s.scenario, s.board, s.kernel
