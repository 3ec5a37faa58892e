/* SPDX-License-Identifier: MIT */
/*
 * Index nested loops in a plan, and a merge join: queries with filters of Iyengar et al. 2008 on
 * tables of xgen.
 *
 *	1a: select l_orderkey, l_quantity from orders, lineitem where o_orderkey = l_orderkey and
 *	    l_orderkey % 100 = 2 and l_linestatus = 'F'
 *	2a: 1a joined with customer, o_custkey = c_custkey
 *	12: after TPC-H's query 12: the number of lineitems for each priority of orders, of those
 *	    shipped by MAIL or SHIP and received too late in 1994
 *
 *	cc -o 08-through-an-index 08-through-an-index.c $(pkg-config --cflags --libs libspindle)
 *	for t in lineitem orders customer; do
 *		xgen --scale=0.01 -o $t $t
 *		xindex build -t'|' -k1,1 -o $t.index $t
 *	done
 *	./08-through-an-index 1a async-inl
 *
 * The third argument is a volume: with sim:MODEL,files=in the tables are on a simulated drive.  The
 * fourth is a file for the times at which rows are complete, as with xjoin --timeline; the fifth is
 * the memory of a sort, in MiB.
 *
 * 1. The outer table is scanned and filtered: orders, for query 12 lineitem.
 * 2. The join looks up many records of the other table concurrently, and for complete rows those of
 *    customer in its index.  With merge both inputs of a join are sorted instead; with
 *    merge-in-order lineitem and orders must be sorted by their first fields.
 * 3. Query 12 groups rows, in any order, by mode and priority.
 * 4. Only the loop in run() waits, for all pending reads together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle.h>

enum {
	L_QUANTITY = 4,
	L_LINESTATUS = 9,
	L_SHIPDATE = 10,
	L_COMMITDATE = 11,
	L_RECEIPTDATE = 12,
	L_SHIPMODE = 14
};
enum { O_ORDERKEY = 0, O_CUSTKEY = 1, O_ORDERPRIORITY = 5 };

static const char *const tmpdirs[] = { "/tmp" };

struct text {
	const char *p;
	size_t bytes;
};

static struct text field(const struct sp_operator *scan, const char *record, size_t bytes, size_t k)
{
	struct text t;

	if (!sp_flow_field(scan, record, bytes, k, &t.p, &t.bytes))
		t = (struct text){ "", 0 };
	return t;
}

static int is(struct text t, const char *word)
{
	return t.bytes == strlen(word) && memcmp(t.p, word, t.bytes) == 0;
}

static int before(struct text a, struct text b)
{
	return memcmp(a.p, b.p, a.bytes < b.bytes ? a.bytes : b.bytes) < 0;
}

/* Orders and lineitem begin with the key, which ends with its separator, for strtol(). */
static int one_in_a_hundred(void *scan, const char *record, size_t bytes)
{
	return strtol(field(scan, record, bytes, 0).p, NULL, 10) % 100 == 2;
}

static int final_of_these(void *scan, const char *record, size_t bytes)
{
	return one_in_a_hundred(scan, record, bytes) &&
	       is(field(scan, record, bytes, L_LINESTATUS), "F");
}

/* A row of orderkey, quantity, linestatus, custkey. */
static int final(void *join, const char *row, size_t bytes)
{
	return is(field(join, row, bytes, 2), "F");
}

static int late(void *scan, const char *record, size_t bytes)
{
	const struct text mode = field(scan, record, bytes, L_SHIPMODE),
			  shipped = field(scan, record, bytes, L_SHIPDATE),
			  promised = field(scan, record, bytes, L_COMMITDATE),
			  received = field(scan, record, bytes, L_RECEIPTDATE);

	return (is(mode, "MAIL") || is(mode, "SHIP")) && before(promised, received) &&
	       before(shipped, promised) && received.bytes > 5 &&
	       memcmp(received.p, "1994-", 5) == 0;
}

/* The options of the plan. */
struct with {
	struct sp_flow *flow;
	enum sp_join_algorithm algorithm;
	int in_order;		   /* lineitem and orders are in the order of their first fields */
	struct sp_keyset *keys[4]; /* to sort by field 0, 1, 2 or 3 */
	size_t memory_bytes;	   /* of a sort */
};

static int scan(struct sp_operator **op, struct sp_flow *flow, const char *const *path)
{
	return sp_flow_scan(op, flow,
			    &(struct sp_flow_scan){ .inputs = path,
						    .ninputs = 1,
						    .format = { .kind = SP_REC_LINE, .eol = '\n' },
						    .separator = "|",
						    .separator_bytes = 1 });
}

static int sorted(struct sp_operator **op, const struct with *with, size_t field)
{
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;

	opts.keys = with->keys[field];
	opts.run.memory_bytes = with->memory_bytes;
	opts.run.tmpdirs = tmpdirs;
	opts.run.ntmpdirs = 1;
	return sp_sort_operator(op, *op, &opts);
}

/* A table that is joined by its first field, and what a merge join need not sort of it, or NULL. */
struct table {
	const char *path, *index;
	sp_flow_predicate *keep;
};
static const struct table orders = { "orders", "orders.index", NULL };
static const struct table lines = { "lineitem", "lineitem.index", final_of_these };
static const struct table customer = { "customer", "customer.index", NULL };

/* Joins the rows of *op, by one of their fields, with a table. */
static int join(struct sp_operator **op, const struct with *with, const size_t *field_of_row,
		const struct table *table, const struct sp_join_column *columns, size_t ncolumns)
{
	static const size_t first = 0;
	struct sp_join_opts opts = SP_JOIN_OPTS_INIT;
	struct sp_operator *right = NULL;
	int rc = 0;

	opts.algorithm = with->algorithm;
	opts.separator = "|";
	opts.separator_bytes = 1;
	opts.keys[0] = field_of_row;
	opts.keys[1] = &first;
	opts.nkeys = 1;
	opts.columns = columns;
	opts.ncolumns = ncolumns;
	if (with->algorithm == SP_JOIN_MERGE) {
		rc = scan(&right, with->flow, &table->path);
		if (rc == 0 && table->keep)
			rc = sp_flow_filter(&right, right, table->keep, right);
		if (rc == 0 && (!with->in_order || table == &customer)) {
			rc = sorted(op, with, *field_of_row);
			if (rc == 0)
				rc = sorted(&right, with, first);
		}
	} else {
		opts.index[1] = table->index;
		opts.max_outstanding = 200;
	}
	return rc ? rc : sp_join_operator(op, *op, right, &opts);
}

/* 1a, 2a: a few of the orders ask for their lines. */
static int orders_and_lines(struct sp_operator **root, const struct with *with, int customers)
{
	static const size_t orderkey = O_ORDERKEY, custkey = 3, result[] = { 0, 1 };
	static const struct sp_join_column line[] = {
		{ .file = 1, .field = O_ORDERKEY },
		{ .file = 2, .field = L_QUANTITY },
		{ .file = 2, .field = L_LINESTATUS },
		{ .file = 1, .field = O_CUSTKEY },
	};
	static const struct sp_join_column same[] = { { .file = 1 }, { .file = 1, .field = 1 } };
	struct sp_operator *from;
	int rc = scan(&from, with->flow, &orders.path);

	if (rc == 0)
		rc = sp_flow_filter(root, from, one_in_a_hundred, from);
	if (rc == 0)
		rc = join(root, with, &orderkey, &lines, line, 4);
	if (rc == 0)
		rc = sp_flow_filter(root, *root, final, *root);
	if (rc < 0)
		return rc;
	return customers ? join(root, with, &custkey, &customer, same, 2)
			 : sp_flow_project(root, *root, result, 2);
}

/* 12: some of the lines ask for their orders. */
static int late_lines(struct sp_operator **root, const struct with *with)
{
	static const size_t orderkey = O_ORDERKEY, mode_and_priority[] = { 0, 1 };
	static const struct sp_flow_value number = { .function = SP_FLOW_COUNT };
	static const struct sp_join_column row[] = { { .file = 1, .field = L_SHIPMODE },
						     { .file = 2, .field = O_ORDERPRIORITY } };
	struct sp_operator *from;
	int rc = scan(&from, with->flow, &lines.path);

	if (rc == 0)
		rc = sp_flow_filter(root, from, late, from);
	if (rc == 0)
		rc = join(root, with, &orderkey, &orders, row, 2);
	return rc ? rc : sp_flow_group(root, *root, mode_and_priority, 2, &number, 1);
}

static int plan(struct sp_operator **root, const struct with *with, const char *query)
{
	if (strcmp(query, "12") == 0)
		return late_lines(root, with);
	return orders_and_lines(root, with, strcmp(query, "2a") == 0);
}

/* The rows of the result so far. */
struct result {
	struct sp_flow *flow;
	FILE *times;
	unsigned long rows;
};

/* Rows 1 to 999, then those whose numbers have three significant digits. */
static int reported(unsigned long row)
{
	unsigned long unit = 1;

	while (row / unit > 999)
		unit *= 10;
	return row % unit == 0;
}

static void take(struct result *r, const struct sp_batch *batch)
{
	struct sp_run_stats stats;

	fwrite(batch->data, 1, batch->bytes, stdout);
	sp_flow_stats(r->flow, &stats);
	for (size_t i = 0; r->times && i < batch->bytes; i++)
		if (batch->data[i] == '\n' && reported(++r->rows))
			fprintf(r->times, "%lu,%.9f\n", r->rows, stats.elapsed_s);
}

static int run(struct result *r, const struct with *with, const char *query)
{
	struct sp_operator *root;
	struct sp_batch batch;
	int rc = plan(&root, with, query);

	while (rc == 0 && (rc = sp_flow_next(root, &batch)) != SP_END) {
		if (rc == SP_READY)
			take(r, &batch);
		if (rc > 0)
			rc = rc == SP_LATER ? sp_flow_wait(r->flow) : 0;
	}
	return rc < 0 ? rc : 0;
}

static int known(const char *query)
{
	return strcmp(query, "1a") == 0 || strcmp(query, "2a") == 0 || strcmp(query, "12") == 0;
}

static int read_arguments(int argc, char **argv, struct with *with, struct sp_run_opts *opts,
			  struct result *r)
{
	static const struct {
		const char *word;
		enum sp_join_algorithm algorithm;
	} known_algorithms[] = { { "inl", SP_JOIN_INL },
				 { "async-inl", SP_JOIN_ASYNC_INL },
				 { "merge", SP_JOIN_MERGE },
				 { "merge-in-order", SP_JOIN_MERGE } };

	for (size_t i = 0; argc > 2 && i < 4; i++)
		if (strcmp(argv[2], known_algorithms[i].word) == 0) {
			with->algorithm = known_algorithms[i].algorithm;
			with->in_order = i == 3;
		}
	if (with->algorithm == SP_JOIN_AUTO || argc > 6 || !known(argv[1])) {
		fputs("usage: 08-through-an-index 1a|2a|12 inl|async-inl|merge [VOLUME [TIMES "
		      "[MIB]]]\n",
		      stderr);
		return -1;
	}
	opts->volume = argc > 3 && *argv[3] ? argv[3] : NULL;
	with->memory_bytes = (size_t)(argc > 5 ? strtoul(argv[5], NULL, 10) : 16) << 20;
	r->times = argc > 4 ? fopen(argv[4], "w") : NULL;
	if (argc > 4 && !r->times) {
		perror(argv[4]);
		return -1;
	}
	if (r->times)
		fprintf(r->times, "row,elapsed_s\n");
	return 0;
}

static int make_keysets(struct sp_keyset *keys[4], struct sp_errinfo *err)
{
	int rc = 0;

	for (size_t field = 0; field < 4 && rc == 0; field++) {
		struct sp_key key = SP_KEY_INIT;
		struct sp_keyset_opts order = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
						.keys = &key,
						.nkeys = 1,
						.separator = '|',
						.stable = true,
						.bytes = true };

		key.sword = field;
		key.eword = field;
		rc = sp_keyset_new(&keys[field], &order, err);
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct sp_run_opts opts = SP_RUN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct with with = { .algorithm = SP_JOIN_AUTO };
	struct result r = { 0 };
	int rc;

	opts.memory_bytes = 16 << 20;
	opts.tmpdirs = tmpdirs;
	opts.ntmpdirs = 1;
	if (read_arguments(argc, argv, &with, &opts, &r) < 0)
		return EXIT_FAILURE;
	rc = make_keysets(with.keys, &err);
	if (rc == 0)
		rc = sp_flow_open(&with.flow, &opts, &err);
	r.flow = with.flow;
	if (rc == 0)
		rc = run(&r, &with, argv[1]);
	if (rc < 0)
		fprintf(stderr, "08-through-an-index: %s%s%s\n", err.path, *err.path ? ": " : "",
			err.text[0] ? err.text : sp_strerror(rc));
	sp_flow_close(with.flow);
	for (size_t field = 0; field < 4; field++)
		sp_keyset_free(with.keys[field]);
	if (r.times && fclose(r.times))
		rc = -1;
	return rc == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
