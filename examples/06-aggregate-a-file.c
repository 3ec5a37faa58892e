/* SPDX-License-Identifier: MIT */
/*
 * A plan over one file: select count(*), sum(l_quantity) from lineitem where
 * l_orderkey % 100 = 2 and l_linestatus = 'F'.
 *
 *	cc -o 06-aggregate-a-file 06-aggregate-a-file.c $(pkg-config --cflags --libs libspindle)
 *	xgen --scale=0.01 -o lineitem.tbl lineitem
 *	./06-aggregate-a-file lineitem.tbl
 *
 * 1. Open a plan; its memory is for the buffers of its inputs.
 * 2. Open the operators, each over the previous one: scan, filter, aggregate.  A sum needs no
 *    order, so the scan may begin with the data that is in memory.
 * 3. Get batches from the last one until the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <spindle.h>

enum { L_ORDERKEY = 0, L_QUANTITY = 4, L_LINESTATUS = 9 };

/* A field ends with its separator, so that strtol() needs no copy. */
static int wanted(void *scan, const char *record, size_t bytes)
{
	const char *key, *status;
	size_t key_bytes, status_bytes;

	if (!sp_flow_field(scan, record, bytes, L_ORDERKEY, &key, &key_bytes) ||
	    !sp_flow_field(scan, record, bytes, L_LINESTATUS, &status, &status_bytes))
		return 0;
	return strtol(key, NULL, 10) % 100 == 2 && status_bytes == 1 && *status == 'F';
}

static int run(struct sp_flow *flow, const char *path)
{
	static const struct sp_flow_value values[] = { { SP_FLOW_COUNT, 0 },
						       { SP_FLOW_SUM, L_QUANTITY } };
	struct sp_flow_scan input = { .inputs = &path,
				      .ninputs = 1,
				      .format = { .kind = SP_REC_LINE, .eol = '\n' },
				      .separator = "|",
				      .separator_bytes = 1,
				      .any_order = true };
	struct sp_operator *scan, *filter, *sum;
	struct sp_batch batch;
	int rc = sp_flow_scan(&scan, flow, &input);

	if (rc == 0)
		rc = sp_flow_filter(&filter, scan, wanted, scan);
	if (rc == 0)
		rc = sp_flow_aggregate(&sum, filter, NULL, 0, values, 2);
	if (rc < 0)
		return rc;
	while ((rc = sp_flow_get(sum, &batch)) == SP_READY)
		fwrite(batch.data, 1, batch.bytes, stdout);
	return rc;
}

int main(int argc, char **argv)
{
	static const char *const tmpdirs[] = { "/tmp" };
	struct sp_run_opts opts = SP_RUN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_flow *flow = NULL;
	int rc;

	opts.memory_bytes = 16 << 20;
	opts.tmpdirs = tmpdirs;
	opts.ntmpdirs = 1;
	rc = sp_flow_open(&flow, &opts, &err);
	if (rc == 0)
		rc = run(flow, argc > 1 ? argv[1] : "-");
	if (rc < 0)
		fprintf(stderr, "06-aggregate-a-file: %s%s%s\n", err.path, *err.path ? ": " : "",
			err.text[0] ? err.text : sp_strerror(rc));
	sp_flow_close(flow);
	return rc == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
