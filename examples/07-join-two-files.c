/* SPDX-License-Identifier: MIT */
/*
 * A plan over two files: select l_orderkey, l_quantity from orders, lineitem where o_orderkey =
 * l_orderkey and l_orderkey % 100 = 2 and l_linestatus = 'F' (query 1a of Iyengar et al. 2008).
 *
 *	cc -o 07-join-two-files 07-join-two-files.c $(pkg-config --cflags --libs libspindle)
 *	xgen --scale=0.01 -o orders.tbl orders
 *	xgen --scale=0.01 -o lineitem.tbl lineitem
 *	./07-join-two-files orders.tbl lineitem.tbl
 *
 * 1. Each file is scanned, filtered, cut to the needed fields, and sorted by its key, since a merge
 *    join compares keys as bytes.
 * 2. The merge join polls both sorts, so both files are read concurrently.
 * 3. Only the loop in run() waits, for all pending reads together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <spindle.h>

enum { L_ORDERKEY = 0, L_QUANTITY = 4, L_LINESTATUS = 9, O_ORDERKEY = 0 };

static const char *const tmpdirs[] = { "/tmp" };

static int wanted(void *scan, const char *record, size_t bytes)
{
	const char *key, *status;
	size_t key_bytes, status_bytes;

	if (!sp_flow_field(scan, record, bytes, L_ORDERKEY, &key, &key_bytes) ||
	    !sp_flow_field(scan, record, bytes, L_LINESTATUS, &status, &status_bytes))
		return 0;
	return strtol(key, NULL, 10) % 100 == 2 && status_bytes == 1 && *status == 'F';
}

static int scan(struct sp_operator **op, struct sp_flow *flow, const char *const *path)
{
	return sp_flow_scan(op, flow,
			    &(struct sp_flow_scan){ .inputs = path,
						    .ninputs = 1,
						    .format = { .kind = SP_REC_LINE, .eol = '\n' },
						    .separator = "|",
						    .separator_bytes = 1 });
}

/* Some fields of the records of op, in the order of keys. */
static int sorted(struct sp_operator **op, const size_t *fields, size_t nfields,
		  const struct sp_keyset *keys)
{
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;
	int rc = sp_flow_project(op, *op, fields, nfields);

	opts.keys = keys;
	opts.run.memory_bytes = 16 << 20;
	opts.run.tmpdirs = tmpdirs;
	opts.run.ntmpdirs = 1;
	return rc ? rc : sp_sort_operator(op, *op, &opts);
}

static int plan(struct sp_operator **root, struct sp_flow *flow, char *const *paths,
		const struct sp_keyset *keys)
{
	static const size_t of_order[] = { O_ORDERKEY }, of_line[] = { L_ORDERKEY, L_QUANTITY };
	struct sp_join_opts opts = SP_JOIN_OPTS_INIT;
	struct sp_operator *orders, *lines;
	int rc = scan(&orders, flow, (const char *const *)&paths[0]);

	opts.separator = "|";
	opts.separator_bytes = 1;
	if (rc == 0)
		rc = sorted(&orders, of_order, 1, keys);
	if (rc == 0)
		rc = scan(&lines, flow, (const char *const *)&paths[1]);
	if (rc == 0)
		rc = sp_flow_filter(&lines, lines, wanted, lines);
	if (rc == 0)
		rc = sorted(&lines, of_line, 2, keys);
	return rc ? rc : sp_join_operator(root, orders, lines, &opts);
}

static int run(struct sp_flow *flow, char *const *paths, const struct sp_keyset *keys)
{
	struct sp_operator *root;
	struct sp_batch batch;
	int rc = plan(&root, flow, paths, keys);

	while (rc == 0 && (rc = sp_flow_next(root, &batch)) != SP_END) {
		if (rc == SP_READY)
			fwrite(batch.data, 1, batch.bytes, stdout);
		if (rc > 0)
			rc = rc == SP_LATER ? sp_flow_wait(flow) : 0;
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts order = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
					.keys = &key,
					.nkeys = 1,
					.separator = '|',
					.stable = true,
					.bytes = true };
	struct sp_run_opts opts = SP_RUN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_keyset *keys = NULL;
	struct sp_flow *flow = NULL;
	int rc;

	if (argc != 3) {
		fprintf(stderr, "usage: 07-join-two-files ORDERS LINEITEM\n");
		return EXIT_FAILURE;
	}
	key.eword = 0; /* the first field */
	opts.memory_bytes = 16 << 20;
	opts.tmpdirs = tmpdirs;
	opts.ntmpdirs = 1;
	rc = sp_keyset_new(&keys, &order, &err);
	if (rc == 0)
		rc = sp_flow_open(&flow, &opts, &err);
	if (rc == 0)
		rc = run(flow, argv + 1, keys);
	if (rc < 0)
		fprintf(stderr, "07-join-two-files: %s%s%s\n", err.path, *err.path ? ": " : "",
			err.text[0] ? err.text : sp_strerror(rc));
	sp_flow_close(flow);
	sp_keyset_free(keys);
	return rc == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
