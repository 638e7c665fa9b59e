-- The p99.9 of each run, in the order of time for each board, kernel and scenario.
SELECT board, kernel, scenario, started, run, p99_9_ns, min_ns, max_ns, misses, releases, measured_ns
FROM runs
WHERE p99_9_ns IS NOT NULL AND coalesce(verdict, '') <> 'invalid'
ORDER BY board, kernel, scenario, started, run
