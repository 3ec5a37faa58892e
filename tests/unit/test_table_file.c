/* SPDX-License-Identifier: MIT */
/*
 * The file of a table: random tables are read as they were written; a damaged byte is found; locks;
 * a change by the journal is made whole or not at all, whichever call of the system fails (the
 * Makefile wraps them), and so is a new table, whichever allocation fails.
 */
#define TAP_THREADS
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"
#include "tablecase.h"
#include "crashstates.h"

static const char path[] = "table-file.tmp";
static struct sp_run_opts options(void)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;

	run.memory_bytes = 4 << 20;
	run.parallel = 1;
	run.seed = 5;
	return run;
}

/* True if the table at path has this version, and all its rows. */
static bool has_version(int version, int max)
{
	const struct sp_run_opts run = options();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__tablefile f;
	bool same = !sp__tablefile_open(&f, path, &run, false, &err) &&
		    !sp__tablefile_begin_reading(&f, &err) &&
		    tablecase_version(&f, max, &err) == version && tablecase_rows(&f, &err);

	if (same)
		sp__tablefile_end_reading(&f);
	if (err.text[0] && !same)
		diag("%s", err.text);
	(void)sp__tablefile_close(&f);
	return same;
}

static bool random_table(struct sp__rng *rng, bool wide)
{
	const struct tablecase t = {
		.ncolumns = wide ? 300 : 1 + (uint32_t)sp__rng_below(rng, 9),
		.page_records = sp__rng_below(rng, 2) ? 1 + (uint32_t)sp__rng_below(rng, 300) : 0,
		.form = (unsigned)sp__rng_below(rng, 4),
		.cell_bytes = (wide ? 4096u : 512u) << sp__rng_below(rng, 3),
		.records = sp__rng_below(rng, 8) ? sp__rng_below(rng, wide ? 500 : 5000) : 0,
		.with_text = sp__rng_below(rng, 2),
	};
	const struct sp_run_opts run = options();
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (tablecase_create(&t, path, &run, &err)) {
		diag("%s", err.text);
		return false;
	}
	return has_version(t.records ? 0 : -1, 0);
}

static const struct tablecase small = {
	.ncolumns = 3, .page_records = 50, .form = 3, .cell_bytes = 512, .records = 1000
};

static void make_small(void)
{
	const struct sp_run_opts run = options();
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (tablecase_create(&small, path, &run, &err))
		abort();
}

/* Changes all cells of the data area to a version, and the tombstones of 8 records. */
static int change_to(struct sp__tablefile *f, uint64_t version, struct sp_errinfo *err)
{
	const uint64_t cells = sp__layout_data_cells(&f->layout, f->superblock.records);
	uint8_t cell[512], bits = 0x81;
	int rc = sp__redo_begin(f, cells + 1, err);

	for (uint64_t n = 0; !rc && n < cells; n++) {
		if (!tablecase_used(f, n))
			continue;
		tablecase_cell(f, n, version, cell);
		rc = sp__redo_put(f, sp__map_cell(&f->map, SP__AREA_DATA, n), cell, err);
	}
	if (!rc)
		rc = sp__tombstones_write(f, 80, 8, &bits, err);
	f->superblock.deleted = 2;
	f->schema.columns[1].changing = true;
	return rc ? rc : sp__tablefile_commit(f, err);
}

static int change(struct sp__tablefile *f, struct sp_errinfo *err)
{
	return change_to(f, 1, err);
}

static int change_table(struct sp_errinfo *err)
{
	const struct sp_run_opts run = options();
	struct sp__tablefile f;
	int rc = sp__tablefile_open(&f, path, &run, true, err);

	if (!rc)
		rc = change(&f, err);
	(void)sp__tablefile_close(&f);
	return rc;
}

/* True if the table is as before the change, or as after it. */
static bool whole(bool *after)
{
	const struct sp_run_opts run = options();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__tablefile f;
	uint8_t bits[3] = { 1, 1, 1 };
	bool right = !sp__tablefile_open(&f, path, &run, false, &err);
	int version = right ? tablecase_version(&f, 1, &err) : -1;

	*after = version == 1;
	right = right && version >= 0 && tablecase_rows(&f, &err) &&
		!sp__tombstones_read(&f, 72, 24, bits, &err) && !bits[0] && !bits[2] &&
		bits[1] == (*after ? 0x81 : 0) && f.superblock.deleted == (*after ? 2 : 0) &&
		(f.schema.columns[1].changed > 0) == *after;
	if (!right)
		diag("%s (version %d)", err.text, version);
	(void)sp__tablefile_close(&f);
	return right;
}

static void check_change(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	unsigned right = 0, n, afters = 0;
	struct stat st, grown;
	bool after = false;

	make_small();
	stat(path, &st);
	calls = 0;
	ok(!change_table(&err) && whole(&after) && after, "a change by the journal is made");
	n = calls;
	stat(path, &grown);
	ok(grown.st_size > st.st_size, "tombstones and a new map make the file longer");
	ok(!change_table(&err) && stat(path, &st) == 0 && st.st_size == grown.st_size,
	   "a second change leaves the length as it is");
	for (unsigned i = 1; i <= 2 * n; i++) {
		err = (struct sp_errinfo)SP_ERRINFO_INIT;
		make_small();
		calls = 0;
		fail_at = (i + 1) / 2;
		stay_failed = i % 2;
		if (change_table(&err))
			right += err.code != 0;
		else /* only what does no harm failed */
			right++;
		fail_at = 0;
		right += whole(&after);
		afters += after;
	}
	ok(right == 4 * n && afters > n / 4 && afters < 2 * n,
	   "each of %u calls that fails leaves the table as before or as after (%u of %u)", n,
	   right, 4 * n);
}

static void check_session(void)
{
	const struct sp_run_opts run = options();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__tablefile f;
	uint8_t row[64] = { 0 };
	bool right;

	make_small();
	right = !sp__tablefile_open(&f, path, &run, true, &err);
	for (uint64_t version = 1; version <= 9; version++)
		right = right && !change_to(&f, version, &err) &&
			tablecase_version(&f, 9, &err) == (int)version;
	ok(right && f.superblock.slots.number == 29, "a program changes a table nine times: %s",
	   err.text);
	ok(sp__directory_write_rows(&f, 0, 1, row, &err) == SP_ESTATE,
	   "a directory row is not changed without a journal: %s", err.text);
	(void)sp__tablefile_close(&f);
	ok(has_version(9, 9), "and the last version is there");
}

/* After a power failure, or a kill, at any point of a change the table is as before or as after. */
static void check_crashes(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__rng rng = { 345 };
	struct crash c;
	unsigned right = 0, afters = 0, tried = 0;
	bool after, complete;

	make_small();
	crash_begin(&c, path);
	complete = !change_table(&err);
	recording = false;
	for (unsigned point = 0; point <= nevents; point++)
		for (unsigned i = 0; i < 8; i++, tried++) {
			crash_make(&c, path, point, i ? &rng : NULL);
			right += whole(&after);
			afters += after;
		}
	ok(complete && right == tried && afters && afters < tried,
	   "%u states after a crash are as before or as after (%u, %u)", tried, right, afters);
	crash_make(&c, path, nevents, &rng);
	ok(whole(&after) && after, "after the last sync the change stays");
	crash_end(&c);
}

/* Changes a byte of a superblock. */
static void flip(unsigned slot)
{
	int fd = open(path, O_RDWR);
	uint8_t byte;
	off_t at = slot * 4096 + 100;

	if (fd < 0 || pread(fd, &byte, 1, at) != 1)
		abort();
	byte ^= 1;
	(void)!pwrite(fd, &byte, 1, at);
	close(fd);
}

static void check_slots(void)
{
	const struct sp_run_opts run = options();
	struct sp__tablefile f;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	unsigned right = 0;
	bool after;

	for (unsigned changed = 0; changed < 2; changed++)
		for (unsigned slot = 0; slot < 2; slot++) {
			make_small();
			right += !changed || !change_table(&err);
			flip(slot);
			right += whole(&after) && after == (changed > 0);
		}
	ok(right == 8, "either superblock is enough, after a load and after a change");
	flip(0);
	ok(sp__tablefile_open(&f, path, &run, false, &err) == SP_ECORRUPT,
	   "without both the table is refused: %s", err.text);
	(void)sp__tablefile_close(&f);
}

/* Stops a change at a call; then opens the table, which cannot be written. */
static int open_interrupted(unsigned at, struct sp_errinfo *err)
{
	const struct sp_run_opts run = options();
	struct sp__tablefile f;
	int rc;

	make_small();
	calls = 0;
	fail_at = at;
	stay_failed = true;
	(void)!change_table(NULL);
	fail_at = 0;
	read_only = true;
	rc = sp__tablefile_open(&f, path, &run, false, err);
	(void)sp__tablefile_close(&f);
	read_only = false;
	return rc;
}

static void check_read_only(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	unsigned at = 1;
	bool after;

	while (at < 200 && !open_interrupted(at, &err))
		at++;
	ok(err.code == -EROFS && strstr(err.text, "interrupted"),
	   "a table with an interrupted change that cannot be written is refused: %s", err.text);
	ok(whole(&after) && after, "the change is finished once the table can be written");
}

static void check_links(void)
{
	static const char other[] = "table-link.tmp";
	struct sp_run_opts run = options();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct stat st;
	bool after;

	make_small();
	unlink(other);
	if (change_table(&err) || link(path, other))
		abort();
	ok(tablecase_create(&small, path, &run, &err) == -EEXIST && whole(&after) && after,
	   "a file with two names is not replaced");
	run.overwrite = true;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(!tablecase_create(&small, path, &run, &err) && !stat(other, &st) && st.st_nlink == 2 &&
		   has_version(0, 0),
	   "it is written in place if that is requested: %s", err.text);
	unlink(other);
}

static void check_memory(void)
{
	static const struct sp__value_type type = { 'w', 0, 2 };
	const struct sp__layout_opts o = { .form = &sp__layout_forms[3] };
	struct sp_run_opts run = options();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__schema s = { 0 };
	struct sp__table_layout l = { 0 };
	struct sp__tablefile f;
	char word[200];
	uint32_t code;
	bool right = !sp__schema_add(&s, "word", 4, &type);

	memset(word, 'w', sizeof(word));
	for (uint32_t i = 0; right && i < 60000; i++) {
		memcpy(word, &i, sizeof(i));
		right = !sp__dictionary_add(&s.columns[0].words, word, sizeof(word),
					    SP__DICT16_WORDS, &code);
	}
	right = right && !sp__layout_make(&l, &s, &o, &err) &&
		!sp__tablefile_create(&f, path, &run, &s, &l, NULL, NULL, &err) &&
		!sp__tablefile_commit(&f, &err) && !sp__tablefile_publish(&f, &err);
	(void)sp__tablefile_close(&f);
	ok(right && sp__tablefile_open(&f, path, &run, false, &err) == SP_EBUDGET,
	   "dictionaries that exceed the memory are refused: %s", err.text);
	(void)sp__tablefile_close(&f);
	run.memory_bytes = 64 << 20;
	ok(!sp__tablefile_open(&f, path, &run, false, &err) && f.schema.columns[0].words.n == 60000,
	   "with enough memory the table is opened");
	(void)sp__tablefile_close(&f);
}

static void check_allocations(void)
{
	const struct sp_run_opts run = options();
	struct sp_errinfo err;
	unsigned n, right = 0, refused = 0;
	bool after;

	make_small();
	allocations = 0;
	(void)change_table(NULL);
	n = allocations;
	for (unsigned i = 1; i <= n; i++) {
		make_small();
		allocations = 0;
		fail_allocation = i;
		err = (struct sp_errinfo)SP_ERRINFO_INIT;
		refused += change_table(&err) != 0;
		fail_allocation = 0;
		right += whole(&after);
	}
	ok(right == n && refused > n / 2, "%u allocations of a change fail, one at a time (%u)", n,
	   right);
	allocations = 0;
	make_small();
	n = allocations;
	right = 0;
	for (unsigned i = 1; i <= n; i++) {
		unlink(path);
		err = (struct sp_errinfo)SP_ERRINFO_INIT;
		allocations = 0;
		fail_allocation = i;
		if (tablecase_create(&small, path, &run, &err)) {
			fail_allocation = 0;
			right += access(path, F_OK) != 0;
		} else {
			fail_allocation = 0;
			right += has_version(0, 0);
		}
	}
	ok(right == n, "%u of a new table", n);
}

/* Opens and reads everything; returns 0 or the error. */
static int read_all(struct sp_errinfo *err)
{
	const struct sp_run_opts run = options();
	struct sp__tablefile f;
	int rc = sp__tablefile_open(&f, path, &run, false, err);
	uint8_t cell[512];

	for (uint64_t n = 0; !rc && n < sp__layout_data_cells(&f.layout, f.superblock.records);
	     n++) {
		const struct sp__layout_position at = sp__layout_position(&f.layout, n);
		uint32_t records = sp__layout_cell_records(&f.layout, f.superblock.records, &at);
		uint64_t c = sp__map_cell(&f.map, SP__AREA_DATA, n);

		if (!records)
			continue;
		rc = sp__tablefile_read(&f, c, 1, cell, err);
		if (!rc)
			rc = sp__tablefile_check_cell(&f, c, records, SP__CELL_VALUES, cell, err);
	}
	if (!rc && !tablecase_rows(&f, err))
		rc = err->code ? err->code : -1;
	(void)sp__tablefile_close(&f);
	return rc;
}

/* A cell of the file is used if it is not all zero. */
static void check_damage(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	unsigned found = 0, used = 0, silent = 0;
	struct stat st;
	uint8_t cell[512];
	int fd;

	make_small();
	fd = open(path, O_RDWR);
	ok(fd >= 0 && !fstat(fd, &st) && !read_all(&err), "a table without damage is read");
	for (off_t c = 2 * 4096 / 512; c < st.st_size / 512; c++) {
		off_t at = c * 512 + (c * 37) % 512;
		bool zero = true;
		int rc;

		if (pread(fd, cell, 512, c * 512) != 512)
			break;
		for (unsigned i = 0; i < 512; i++)
			zero &= !cell[i];
		cell[at % 512] ^= 0x10;
		err = (struct sp_errinfo)SP_ERRINFO_INIT;
		(void)!pwrite(fd, cell + at % 512, 1, at);
		rc = read_all(&err);
		used += !zero;
		found += !zero && rc == SP_ECORRUPT && strstr(err.text, "cell ");
		silent += zero && !rc;
		cell[at % 512] ^= 0x10;
		(void)!pwrite(fd, cell + at % 512, 1, at);
	}
	ok(used > 60 && found == used, "a changed byte of each of %u cells is found (%u)", used,
	   found);
	ok(!read_all(&err), "the table is whole again");
	(void)!pread(fd, cell, 512, 20 * 512);
	(void)!pwrite(fd, cell, 512, 21 * 512);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(read_all(&err) == SP_ECORRUPT && strstr(err.text, "wrong place: it is cell 20") &&
		   strstr(err.text, "records ") && strstr(err.text, "column column"),
	   "a cell at the wrong place is named: %s", err.text);
	ok(!ftruncate(fd, st.st_size - 512), "the file is truncated");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(read_all(&err) == SP_ECORRUPT && strstr(err.text, "truncated"), "which is reported: %s",
	   err.text);
	close(fd);
}

static void check_locks(void)
{
	const struct sp_run_opts run = options();
	struct sp__tablefile writer, reader, other;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	make_small();
	ok(!sp__tablefile_open(&reader, path, &run, false, &err) &&
		   !sp__tablefile_open(&writer, path, &run, true, &err),
	   "a table that is open to read, but not being read, can be opened to change it");
	ok(sp__tablefile_begin_reading(&reader, &err) == SP_ESTATE,
	   "while a writer has it, it is not read: %s", err.text);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp__tablefile_open(&other, path, &run, true, &err) == SP_ESTATE, "two writers: %s",
	   err.text);
	(void)sp__tablefile_close(&other);
	ok(tablecase_create(&small, path, &run, NULL) == SP_ESTATE,
	   "a table in use is not replaced");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(!change(&writer, &err), "the writer changes it");
	(void)sp__tablefile_close(&writer);
	ok(sp__tablefile_begin_reading(&reader, &err) == SP_ESTATE && strstr(err.text, "changed"),
	   "a reader of the state before is refused: %s", err.text);
	(void)sp__tablefile_close(&reader);
}

static void check_simulated(void)
{
	struct sp_run_opts run = options();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__tablefile f;

	run.volume = "sim:cheetah36es-like";
	ok(!tablecase_create(&small, path, &run, &err), "a table on a simulated volume: %s",
	   err.text);
	run.volume = NULL;
	ok(!sp__tablefile_open(&f, path, &run, false, &err) && f.env.device &&
		   tablecase_version(&f, 0, &err) == 0 && sp__env_now_ns(&f.env) > 1000000,
	   "is read on that volume, in its time: %s", err.text);
	(void)sp__tablefile_close(&f);
}

int main(void)
{
	struct sp__rng rng = { 342 };
	unsigned right = 0;

	for (unsigned i = 0; i < 60; i++)
		right += random_table(&rng, i % 20 == 0);
	ok(right == 60, "60 random tables are read as written, of 300 columns, too (%u)", right);
	check_change();
	check_session();
	check_memory();
	check_crashes();
	check_slots();
	check_read_only();
	check_links();
	check_allocations();
	check_damage();
	check_locks();
	check_simulated();
	unlink(path);
	return done();
}
