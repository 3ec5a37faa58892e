/* SPDX-License-Identifier: MIT */
/*
 * Files of tables in which cells were changed and have right checksums: opening, describing,
 * checking and scanning such a table ends, and opening it to write finishes its journal or refuses
 * it.
 *
 * An input is a list of changes of 5 bytes: cell (2), offset (2), and the byte there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/table.h>
#include "base/rng.h"
#include "table/file/cell.h"

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

/* Writes the records of the table, in lines. */
static void write_records(const char *name)
{
	static const char *const words[] = { "red", "green", "blue", "" };
	FILE *out = fopen(name, "w");

	require(out);
	for (int i = 0; i < 100; i++)
		fprintf(out, "%d|%g|%d.%02d|x%d|%s|%.*s\n", i * 37 - 500, i / 7.0, i, i % 100,
			i % 9, words[i % 4], i % 23, "texts of several lengths");
	require(!fclose(out));
}

/* Makes the table that inputs change. */
static void make(void)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	char records[] = "/tmp/fuzz_table_text.XXXXXX";
	const char *const inputs[] = { records };
	struct stat st;
	int fd = mkstemp(records);

	require(fd >= 0 && !close(fd));
	write_records(records);
	o.run.memory_bytes = 4 << 20;
	o.run.parallel = 1;
	o.run.seed = 7;
	o.cell_bytes = 512;
	o.page_records = 20;
	o.separator = '|';
	o.types = "a:i32,b:f64,c:dec(2),d:char(7),e:dict8,f:text";
	fd = mkstemp(path);
	require(fd >= 0 && !close(fd) && !sp_table_load(path, inputs, 1, &o, NULL, NULL));
	unlink(records);
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

static int discard(void *arg, const char *data, size_t bytes)
{
	*(uint64_t *)arg += bytes ? (uint8_t)data[bytes - 1] : 0;
	return 0;
}

/* Scans all records in two forms, and one column alone. */
static void scan(struct sp_table *t)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	uint64_t sum = 0;

	(void)!sp_table_scan(t, &q, discard, &sum, NULL, NULL);
	q.format = SP_TABLE_CSV;
	q.columns = "f,e,c";
	(void)!sp_table_scan(t, &q, discard, &sum, NULL, NULL);
	q.lo = 37;
	q.limit = 20;
	(void)!sp_table_scan(t, &q, discard, &sum, NULL, NULL);
}

/* Returns 0 or an error of opening. */
static int try_table(bool write, unsigned *damaged)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_table_check_result r;
	struct sp_table_info info;
	struct sp_table *t;
	int rc;

	o.run.memory_bytes = 4 << 20;
	o.run.parallel = 1;
	o.write = write;
	rc = sp_table_open(&t, path, &o, NULL);
	if (rc)
		return rc;
	(void)!sp_table_info(t, true, &info, NULL);
	(void)!sp_table_check(t, ignore, damaged, &r, NULL);
	scan(t);
	(void)sp_table_close(t);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	unsigned damaged = 0;
	int fd;

	if (!table) {
		make();
		require(!try_table(false, &damaged) && !damaged);
	}
	change(data, bytes);
	fd = open(path, O_WRONLY | O_TRUNC);
	require(fd >= 0 && pwrite(fd, changed, table_bytes, 0) == (ssize_t)table_bytes);
	close(fd);
	(void)!try_table(bytes & 1, &damaged);
	return 0;
}
