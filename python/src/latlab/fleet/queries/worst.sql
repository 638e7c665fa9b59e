-- The twenty runs with the largest latencies, each with the CPU that was late.
WITH largest AS (
    SELECT month, board, run, scenario, kernel, started, max_ns, deadline_ns, misses, verdict, folder
    FROM runs
    WHERE max_ns IS NOT NULL
    ORDER BY max_ns DESC, board, run
    LIMIT 20
),
late AS (
    SELECT l.board, l.run, min(s.cpu) AS cpu
    FROM largest l
    JOIN spikes s ON s.month = l.month AND s.board = l.board AND s.run = l.run AND s.latency_ns = l.max_ns
    GROUP BY l.board, l.run
)
SELECT l.board, l.scenario, l.kernel, l.started, l.max_ns, l.deadline_ns, l.misses, l.verdict, c.cpu, l.run, l.folder
FROM largest l
LEFT JOIN late c ON c.board = l.board AND c.run = l.run
ORDER BY l.max_ns DESC, l.board, l.run
