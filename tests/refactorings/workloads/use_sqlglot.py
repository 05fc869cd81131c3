"""Queries parsed, optimised and written in other dialects."""
import sqlglot
from sqlglot.optimizer import optimize

SCHEMA = {"t": {"a": "INT", "b": "VARCHAR", "c": "DATE"}, "u": {"a": "INT", "d": "DOUBLE"}}
QUERIES = [
    "SELECT t.a, SUM(u.d) AS s FROM t JOIN u ON t.a = u.a WHERE t.b LIKE 'x%' AND t.c > '2020-01-01' "
    "GROUP BY t.a HAVING SUM(u.d) > 10 ORDER BY s DESC LIMIT 10",
    "WITH q AS (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) AS r FROM t) "
    "SELECT * FROM q WHERE r = 1 UNION ALL SELECT a, 1 FROM u",
    "SELECT CASE WHEN a IN (1, 2, 3) THEN 'x' ELSE CAST(b AS TEXT) END AS k, COALESCE(b, 'y') FROM t "
    "WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a) AND NOT (a BETWEEN 1 AND 5 OR a IS NULL)",
    "CREATE TABLE z (a INT PRIMARY KEY, b VARCHAR(10) NOT NULL DEFAULT 'q')",
    "INSERT INTO z SELECT a, b FROM t", "UPDATE t SET a = a + 1 WHERE b = 'x'", "DELETE FROM t WHERE a < 3",
]
for _ in range(12):
    for query in QUERIES:
        tree = sqlglot.parse_one(query)
        for dialect in ("postgres", "bigquery", "spark", "mysql", "tsql", "snowflake", "duckdb"):
            tree.sql(dialect=dialect)
            sqlglot.transpile(query, write=dialect, pretty=True)
        list(tree.walk()), tree.copy(), list(tree.find_all(sqlglot.exp.Column))
    for query in QUERIES[:3]:
        optimize(sqlglot.parse_one(query), schema=SCHEMA)
    sqlglot.diff(sqlglot.parse_one(QUERIES[0]), sqlglot.parse_one(QUERIES[0].replace("a", "b")))
