-- Boards and scenarios: the newest run of each, and how all of them were judged.
WITH numbered AS (
    SELECT board, scenario, kernel, started, verdict, p99_9_ns, max_ns,
        row_number() OVER (PARTITION BY board, scenario ORDER BY started DESC, run DESC) AS place
    FROM runs
),
judged AS (
    SELECT board, scenario, count(*) AS runs,
        count(CASE WHEN verdict = 'pass' THEN 1 END) AS passed,
        count(CASE WHEN verdict = 'fail' THEN 1 END) AS failed,
        count(CASE WHEN verdict IN ('inconclusive', 'invalid') THEN 1 END) AS undecided
    FROM runs
    GROUP BY board, scenario
)
SELECT n.board, n.scenario, n.verdict, n.p99_9_ns, n.max_ns, n.kernel, n.started,
    j.runs, j.passed, j.failed, j.undecided
FROM numbered n
JOIN judged j ON j.board = n.board AND j.scenario = n.scenario
WHERE n.place = 1
ORDER BY n.board, n.scenario
