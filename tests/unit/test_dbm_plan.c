/* SPDX-License-Identifier: MIT */
/*
 * Plans as systems print them, searched for what a query is about.
 */
#include <string.h>
#include "dbm/answers.h"
#include "tap.h"

static const struct {
	enum sp_dbm_query query;
	const char *lacks; /* NULL: nothing */
	const char *of, *text;
} plans[] = {
	{ SP_DBM_USS, NULL, "SQLite",
	  "QUERY PLAN\n|--CO-ROUTINE (subquery-1)\n|  |--SCAN T1\n|  `--USE TEMP B-TREE FOR "
	  "DISTINCT\n"
	  "`--SCAN (subquery-1)" },
	{ SP_DBM_USS, NULL, "PostgreSQL",
	  "HashAggregate  (cost=1914.19..1914.69 rows=50 width=4)\n  Group Key: a3\n"
	  "  ->  Seq Scan on t1  (cost=0.00..1884.27 rows=11969 width=4)" },
	{ SP_DBM_USS, NULL, "DuckDB 1.5",
	  "╭─ Seq Scan ─────────╮\n"
	  "│ Table: db.main.T1     │\n"
	  "│ Type: Sequential Scan │\n" },
	{ SP_DBM_USS, NULL, "DuckDB 1.1", "│   SEQ_SCAN  │\n│      T1     │\n" },
	{ SP_DBM_USS, NULL, "xtable", "scan of T1 (xtable, csm)\nsort without duplicates (xsort)" },
	{ SP_DBM_USS, "a scan", "SQLite with an index",
	  "`--SEARCH T1 USING INDEX T1_a2 (a2>? AND a2<?)" },
	{ SP_DBM_USS, "a scan", "a system without plans", "" },

	{ SP_DBM_UNJ, NULL, "SQLite",
	  "QUERY PLAN\n|--SCAN T1\n`--SEARCH T2 USING COVERING INDEX T2_a1 (a1=?)" },
	{ SP_DBM_UNJ, NULL, "PostgreSQL",
	  "Aggregate  (cost=2529.66..2529.68 rows=1 width=32)\n"
	  "  ->  Hash Join  (cost=583.50..2499.48 rows=12074 width=4)\n"
	  "        Hash Cond: (t1.a1 = t2.a1)\n"
	  "        ->  Seq Scan on t1  (cost=0.00..1884.27 rows=12074 width=8)\n"
	  "        ->  Hash  (cost=396.00..396.00 rows=15000 width=4)\n"
	  "              ->  Seq Scan on t2  (cost=0.00..396.00 rows=15000 width=4)" },
	{ SP_DBM_UNJ, NULL, "PostgreSQL with nested loops",
	  "Nested Loop\n  ->  Seq Scan on t1\n  ->  Index Only Scan using t2_a1 on t2" },
	{ SP_DBM_UNJ, NULL, "DuckDB 1.5",
	  "╭─ Hash Join ────────╮\n│ Join Type: INNER     │\n"
	  "╭─ Seq Scan ────────┴╮  ╭─ Seq Scan ─────╮\n"
	  "│ Table: db.main.T2    │  │ Table: db.main.T1  │\n" },
	{ SP_DBM_UNJ, NULL, "xtable",
	  "scan of T1 (xtable, csm)\nscan of T2 (xtable, csm)\nhybrid hash join (xjoin)" },
	{ SP_DBM_UNJ, "T2", "a join that was removed", "QUERY PLAN\n`--SCAN T1" },
	{ SP_DBM_UNJ, "T2", "a join with T21", "Hash Join\n Seq Scan on t1\n Seq Scan on t21" },
	{ SP_DBM_UNJ, "T2", "a join with AT2", "Hash Join\n Seq Scan on t1\n Seq Scan on at2" },
	{ SP_DBM_UNJ, "T1", "a join with T10", "Hash Join\n Seq Scan on t10\n Seq Scan on t2" },
	{ SP_DBM_UNJ, "a join", "two scans", "scan of T1\nscan of T2" },

	{ SP_DBM_UIDX, NULL, "SQLite",
	  "QUERY PLAN\n`--SEARCH T1 USING INDEX T1_a2 (a2>? AND a2<?)" },
	{ SP_DBM_UIDX, NULL, "PostgreSQL",
	  "Aggregate  (cost=201.54..201.55 rows=1 width=32)\n"
	  "  ->  Bitmap Heap Scan on t1  (cost=4.92..201.38 rows=61 width=4)\n"
	  "        ->  Bitmap Index Scan on t1_a2  (cost=0.00..4.90 rows=61 width=0)" },
	{ SP_DBM_UIDX, NULL, "text", "range of the index of T1.a2, and lines of T1 (xindex)" },
	{ SP_DBM_UIDX, "an index", "SQLite without the index", "QUERY PLAN\n`--SCAN T1" },
	{ SP_DBM_UIDX, "an index", "DuckDB 1.5, which scans",
	  "│ Table: db.main.T1     │\n│ Type: Sequential Scan │\n" },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		const char *got = sp__plan_lacks(plans[i].query, plans[i].text);
		const char *want = plans[i].lacks;

		ok(got == want || (got && want && !strcmp(got, want)), "%s of %s lacks %s: %s",
		   sp_dbm_query_name(plans[i].query), plans[i].of, want ? want : "nothing",
		   got ? got : "nothing");
	}
	return done();
}
