-- The newest kernel of each board and scenario against the one before it, by the merged histograms.
WITH counted AS (
    SELECT month, board, run, kernel, scenario, started, max_ns, settings
    FROM runs
    WHERE coalesce(verdict, '') <> 'invalid'
),
kernels AS (
    SELECT board, scenario, kernel, count(*) AS runs, max(max_ns) AS max_ns, min(started) AS since,
        min(settings) AS one_setting, max(settings) AS other_setting,
        row_number() OVER (PARTITION BY board, scenario ORDER BY min(started) DESC, kernel DESC) AS place
    FROM counted
    GROUP BY board, scenario, kernel
),
bins AS (
    SELECT c.board, c.scenario, c.kernel, h.high_ns, CAST(sum(h.cycles) AS BIGINT) AS cycles
    FROM counted c
    JOIN kernels k ON k.board = c.board AND k.scenario = c.scenario AND k.kernel = c.kernel AND k.place <= 2
    JOIN histogram h ON h.month = c.month AND h.board = c.board AND h.run = c.run
    GROUP BY c.board, c.scenario, c.kernel, h.high_ns
),
ranked AS (
    SELECT board, scenario, kernel, high_ns,
        sum(cycles) OVER (PARTITION BY board, scenario, kernel ORDER BY high_ns) AS up_to,
        sum(cycles) OVER (PARTITION BY board, scenario, kernel) AS total
    FROM bins
),
quantiles AS (
    SELECT board, scenario, kernel, min(CASE WHEN up_to * 1000 >= total * 999 THEN high_ns - 1 END) AS p99_9_ns
    FROM ranked
    WHERE total >= 1000
    GROUP BY board, scenario, kernel
),
figures AS (
    SELECT k.board, k.scenario, k.kernel, k.place, k.runs, k.max_ns, k.since, k.one_setting, k.other_setting,
        CASE WHEN q.p99_9_ns < 9223372036854775806 THEN least(q.p99_9_ns, k.max_ns) END AS p99_9_ns
    FROM kernels k
    JOIN quantiles q ON q.board = k.board AND q.scenario = k.scenario AND q.kernel = k.kernel
)
SELECT n.board, n.scenario, b.kernel AS kernel_before, n.kernel, n.since, b.runs AS runs_before, n.runs,
    b.p99_9_ns AS p99_9_before_ns, n.p99_9_ns, CAST(n.p99_9_ns AS DOUBLE) / b.p99_9_ns AS ratio,
    b.max_ns AS max_before_ns, n.max_ns,
    CASE WHEN n.one_setting = n.other_setting AND b.one_setting = b.other_setting AND n.one_setting = b.one_setting
        THEN 'same' ELSE 'differ' END AS settings
FROM figures n
JOIN figures b ON b.board = n.board AND b.scenario = n.scenario AND b.place = 2
WHERE n.place = 1
ORDER BY ratio DESC, n.board, n.scenario
