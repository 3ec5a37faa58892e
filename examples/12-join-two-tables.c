/* SPDX-License-Identifier: MIT */
/*
 * Queries 12 and 14 of TPC-H, each a join of two tables.
 *
 *	cc -o 12-join-two-tables 12-join-two-tables.c $(pkg-config --cflags --libs libspindle)
 *	for t in lineitem orders part; do
 *		sed '/comment\|name\|type/s/char([0-9]*)/text/' tpch/$t.schema >$t.schema
 *		xgen --scale=0.01 $t | xtable load -t'|' --schema=$t.schema $t.table
 *	done
 *	./12-join-two-tables 12 lineitem.table orders.table
 *	./12-join-two-tables 14 lineitem.table part.table
 *
 * 1. Each table is an operator that reads the columns of the query alone, and of lineitem the
 *    records that the query chooses.
 * 2. A hash join takes both.  With a VOLUME, such as sim:cheetah36es-like, time is virtual, which
 *    hash joins within plans do not have: then both are sorted, and a merge join polls both sorts.
 * 3. The loop in run() adds up the pairs, and waits for all pending reads together.
 *
 * The result goes to standard output, the seconds of the plan to standard error.  JOIN is that of
 * `xtable scan --dsm-join`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle.h>

#define MEMORY (256 << 20) /* of each sort and join, and of the scans together */

static const char *const tmpdirs[] = { "/tmp" };

/* A query: its tables, and what it adds up of a pair, whose first field is the key. */
struct query {
	const char *name;
	const char *lines, *where; /* of lineitem */
	const char *others;	   /* columns of the other table */
	void (*add)(const struct sp_operator *op, const char *record, size_t bytes, int64_t *sums);
	void (*print)(const int64_t *sums);
};

static const char *field(const struct sp_operator *op, const char *record, size_t bytes, size_t k)
{
	const char *p;
	size_t n;

	return sp_flow_field(op, record, bytes, k, &p, &n) ? p : "";
}

/* The digits of a decimal with two places, as a number of hundredths. */
static int64_t hundredths(const char *p)
{
	int64_t n = 0;

	for (; (*p >= '0' && *p <= '9') || *p == '.'; p++)
		if (*p != '.')
			n = n * 10 + *p - '0';
	return n;
}

/* Lines of each ship mode, by the priority of their orders. */
static void add_12(const struct sp_operator *op, const char *record, size_t bytes, int64_t *sums)
{
	const char priority = *field(op, record, bytes, 2);

	sums[2 * (*field(op, record, bytes, 1) == 'S') + (priority != '1' && priority != '2')]++;
}

static void print_12(const int64_t *sums)
{
	for (int i = 0; i < 4; i += 2)
		if (sums[i] + sums[i + 1])
			printf("%s|%" PRId64 "|%" PRId64 "\n", i ? "SHIP" : "MAIL", sums[i],
			       sums[i + 1]);
}

/* Revenue, in 1/10000, of promoted parts and of all. */
static void add_14(const struct sp_operator *op, const char *record, size_t bytes, int64_t *sums)
{
	const int64_t revenue = hundredths(field(op, record, bytes, 1)) *
				(100 - hundredths(field(op, record, bytes, 2)));

	if (!strncmp(field(op, record, bytes, 3), "PROMO", 5))
		sums[0] += revenue;
	sums[1] += revenue;
}

static void print_14(const int64_t *sums)
{
	if (sums[1])
		printf("%.6f\n", 100.0 * (double)sums[0] / (double)sums[1]);
}

static const struct query queries[] = {
	{ "12", "l_orderkey,l_shipmode",
	  "l_shipmode in ('MAIL', 'SHIP') and l_commitdate < l_receiptdate and "
	  "l_shipdate < l_commitdate and '1994-01-01' <= l_receiptdate < '1995-01-01'",
	  "o_orderkey,o_orderpriority", add_12, print_12 },
	{ "14", "l_partkey,l_extendedprice,l_discount", "'1995-09-01' <= l_shipdate < '1995-10-01'",
	  "p_partkey,p_type", add_14, print_14 },
};

/* Sorts by the first field, as bytes. */
static int sorted(struct sp_operator **op, const struct sp_run_opts *run, struct sp_keyset **keys,
		  struct sp_errinfo *err)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts order = { .format = sp_flow_format(*op),
					.keys = &key,
					.nkeys = 1,
					.separator = (unsigned char)sp_flow_format(*op).separator,
					.bytes = true };
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;
	int rc;

	key.eword = 0; /* the first field */
	rc = *keys ? 0 : sp_keyset_new(keys, &order, err);
	opts.keys = *keys;
	opts.run = *run;
	return rc ? rc : sp_sort_operator(op, *op, &opts);
}

static int plan(struct sp_operator **root, struct sp_flow *flow, const struct query *q,
		char *const *paths, const struct sp_table_opts *table, struct sp_keyset **keys,
		struct sp_errinfo *err)
{
	struct sp_table_query lines = SP_TABLE_QUERY_INIT, others = SP_TABLE_QUERY_INIT;
	struct sp_join_opts join = SP_JOIN_OPTS_INIT;
	const bool sorts = table->run.volume != NULL;
	struct sp_operator *left, *right;
	static char separator;
	int rc;

	lines.columns = q->lines;
	lines.where = q->where;
	others.columns = q->others;
	lines.format = others.format = SP_TABLE_TEXT;
	rc = sp_table_operator(&left, flow, paths[0], table, &lines);
	if (rc == 0)
		rc = sp_table_operator(&right, flow, paths[1], table, &others);
	if (rc == 0 && sorts)
		rc = sorted(&left, &table->run, keys, err);
	if (rc == 0 && sorts)
		rc = sorted(&right, &table->run, keys, err);
	if (rc != 0)
		return rc;
	separator = sp_flow_format(left).separator;
	join.separator = &separator;
	join.separator_bytes = 1;
	join.algorithm = sorts ? SP_JOIN_MERGE : SP_JOIN_HYBRID;
	join.run = table->run;
	return sp_join_operator(root, left, right, &join);
}

/* Adds up all records of a batch. */
static void add(const struct query *q, const struct sp_operator *op, const struct sp_batch *b,
		int64_t *sums)
{
	const char *p = b->data, *end;

	for (; p < b->data + b->bytes; p = end + 1) {
		end = memchr(p, '\n', (size_t)(b->data + b->bytes - p));
		q->add(op, p, (size_t)(end - p), sums);
	}
}

static int run(struct sp_flow *flow, struct sp_operator *root, const struct query *q)
{
	struct sp_run_stats stats = { 0 };
	int64_t sums[4] = { 0 };
	struct sp_batch batch;
	int rc;

	while ((rc = sp_flow_get(root, &batch)) == SP_READY)
		add(q, root, &batch, sums);
	if (rc != SP_END)
		return rc;
	q->print(sums);
	sp_flow_stats(flow, &stats);
	fprintf(stderr, "%.6f\n", (double)stats.elapsed_s);
	return 0;
}

/* Finds the query and the joins that the arguments name. */
static const struct query *find(int argc, char **argv, struct sp_table_opts *table)
{
	const char *join = argc > 5 ? argv[5] : "none";
	const struct sp_enum_value *v = sp_table_dsm_join_values();
	const struct query *q = queries;

	while (v->name && strcmp(v->name, join))
		v++;
	if (argc < 4 || argc > 6 || !v->name)
		return NULL;
	if (argc > 4 && *argv[4])
		table->run.volume = argv[4];
	table->dsm_join = (enum sp_table_dsm_join)v->value;
	for (; q < queries + sizeof(queries) / sizeof(*queries); q++)
		if (!strcmp(q->name, argv[1]))
			return q;
	return NULL;
}

int main(int argc, char **argv)
{
	struct sp_table_opts table = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const struct query *q = find(argc, argv, &table);
	struct sp_keyset *keys = NULL;
	struct sp_flow *flow = NULL;
	struct sp_operator *root;
	int rc;

	if (!q) {
		fprintf(stderr, "usage: 12-join-two-tables 12|14 LINEITEM OTHER "
				"[VOLUME [none|tuple|vector]]\n");
		return EXIT_FAILURE;
	}
	table.run.memory_bytes = MEMORY;
	table.run.tmpdirs = tmpdirs;
	table.run.ntmpdirs = 1;
	rc = sp_flow_open(&flow, &table.run, &err);
	if (rc == 0)
		rc = plan(&root, flow, q, argv + 2, &table, &keys, &err);
	if (rc == 0)
		rc = run(flow, root, q);
	if (rc < 0)
		fprintf(stderr, "12-join-two-tables: %s%s%s\n", err.path, *err.path ? ": " : "",
			err.text[0] ? err.text : sp_strerror(rc));
	sp_flow_close(flow);
	sp_keyset_free(keys);
	return rc == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
