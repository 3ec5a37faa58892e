/* SPDX-License-Identifier: MIT */
/*
 * Files of tables in which cells were changed and have right checksums: opening, describing and
 * checking such a table ends, and opening it to write finishes its journal or refuses it.
 *
 * An input is a list of changes of 5 bytes: cell (2), offset (2), and the byte there.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../unit/tablecase.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static char path[] = "/tmp/fuzz_table_file.XXXXXX";
static uint8_t *table, *changed;
static size_t table_bytes;

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void forget(void)
{
	unlink(path);
	free(table);
	free(changed);
}

/* Makes the table that inputs change. */
static void make(void)
{
	static const struct tablecase t = { .ncolumns = 6,
					    .page_records = 20,
					    .cell_bytes = 512,
					    .form = 3,
					    .records = 100,
					    .with_text = true };
	struct sp_run_opts run = SP_RUN_OPTS_INIT;
	struct stat st;
	int fd = mkstemp(path);

	run.memory_bytes = 4 << 20;
	run.seed = 7;
	require(fd >= 0 && !close(fd) && !tablecase_create(&t, path, &run, NULL));
	fd = open(path, O_RDONLY);
	require(fd >= 0 && !fstat(fd, &st));
	table_bytes = (size_t)st.st_size;
	table = malloc(table_bytes);
	changed = malloc(table_bytes);
	require(table && changed && pread(fd, table, table_bytes, 0) == (ssize_t)table_bytes);
	close(fd);
	atexit(forget);
}

/* Changes bytes of cells behind the superblocks, and seals these cells. */
static void change(const uint8_t *data, size_t bytes)
{
	const uint64_t id = sp__mix64(7), cells = table_bytes / 512;

	memcpy(changed, table, table_bytes);
	for (; bytes >= 5; data += 5, bytes -= 5) {
		uint64_t cell = 16 + (data[0] | (uint64_t)data[1] << 8) % (cells - 16);
		uint8_t *at = changed + cell * 512;

		at[(data[2] | (uint32_t)data[3] << 8) % 504] = data[4];
		sp__cell_seal(at, 512, sp__cell_records(at, 512),
			      (enum sp__cell_kind)(at[506] | at[507] << 8), id, cell);
	}
}

static int ignore(void *arg, const struct sp_table_damage *d)
{
	require(d->text[0] && ++*(unsigned *)arg < 100000);
	return 0;
}

static void try_table(bool write)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_table_check_result r;
	struct sp_table_info info;
	struct sp_table *t;
	unsigned n = 0;

	o.run.memory_bytes = 4 << 20;
	o.run.parallel = 1;
	o.write = write;
	if (sp_table_open(&t, path, &o, NULL))
		return;
	(void)!sp_table_info(t, &info, NULL);
	(void)!sp_table_check(t, ignore, &n, &r, NULL);
	(void)sp_table_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int fd;

	if (!table)
		make();
	change(data, bytes);
	fd = open(path, O_WRONLY | O_TRUNC);
	require(fd >= 0 && pwrite(fd, changed, table_bytes, 0) == (ssize_t)table_bytes);
	close(fd);
	try_table(bytes & 1);
	return 0;
}
