/* SPDX-License-Identifier: MIT */
/*
 * Sorts the lines of standard input in batches, for programs whose records are
 * not in a file.
 *
 *	cc -o 04-sort-batches 04-sort-batches.c $(pkg-config --cflags --libs libspindle)
 *
 * 1. A key set defines the order: here the bytes of the whole line.
 * 2. Options: the memory limit, and the directories for temporary files.
 * 3. Put batches of whole lines; after LATER wait and put the same batch again.
 * 4. Finish, then get batches of the result until the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle.h>

static int put(struct sp_sort *sort, const struct sp_batch *batch)
{
	int status;

	while ((status = sp_sort_put(sort, batch)) == SP_LATER) {
		status = sp_sort_wait(sort);
		if (status < 0)
			break;
	}
	return status < 0 ? status : 0;
}

/* Puts standard input line by line; adds a newline that the last line lacks. */
static int put_lines(struct sp_sort *sort)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = getline(&line, &capacity, stdin)) > 0) {
		if (line[n - 1] != '\n')
			line[n++] = '\n'; /* overwrites the '\0' of getline() */
		rc = put(sort, &(struct sp_batch){ line, n });
	}
	free(line);
	return rc;
}

static int write_result(struct sp_sort *sort)
{
	struct sp_batch batch;
	int status;

	while ((status = sp_sort_get(sort, &batch)) != SP_END) {
		if (status == SP_LATER)
			status = sp_sort_wait(sort);
		else if (status == SP_READY)
			fwrite(batch.data, 1, batch.bytes, stdout);
		if (status < 0)
			return status;
	}
	return fflush(stdout) == 0 ? 0 : -1;
}

int main(void)
{
	static const char *const tmpdirs[] = { "/tmp" };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_keyset_opts order = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
					.separator = -1 };
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;
	struct sp_keyset *keys = NULL;
	struct sp_sort *sort = NULL;
	struct sp_sort_stats stats;
	int rc = sp_keyset_new(&keys, &order, &err);

	opts.format = order.format;
	opts.keys = keys;
	opts.run.memory_bytes = 64 << 20;
	opts.run.tmpdirs = tmpdirs;
	opts.run.ntmpdirs = 1;
	if (rc == 0)
		rc = sp_sort_new(&sort, &opts, &err);
	if (rc == 0)
		rc = put_lines(sort);
	if (rc == 0)
		rc = sp_sort_finish(sort);
	if (rc == 0)
		rc = write_result(sort);
	if (rc == 0) {
		sp_sort_stats(sort, &stats);
		fprintf(stderr, "%llu records, %llu runs spilled\n",
			(unsigned long long)stats.records, (unsigned long long)stats.spilled_runs);
	} else {
		fprintf(stderr, "04-sort-batches: %s\n", err.text[0] ? err.text : sp_strerror(rc));
	}
	sp_sort_free(sort);
	sp_keyset_free(keys);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
