/* SPDX-License-Identifier: MIT */
/*
 * Checking and describing tables: a table whose parts agree has no damage; each changed byte of a
 * cell in use is reported with records and columns; and parts that are valid, but contradict each
 * other, are reported, too.
 */
#define TAP_THREADS
#include <endian.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "table/file/directory.h"
#include "table/file/redo.h"
#include "tap.h"

static const char path[] = "table-check.tmp";

/* Columns: i32 with bounds, a text, a dictionary. */
enum { NUMBER, TEXT, WORD, COLUMNS };

/* What is wrong with the table that is made. */
enum fault { NONE, BOUNDS, ENDS, LENGTH, CODE, PLACE, DELETED };

struct making {
	struct sp__tablefile file;
	enum fault fault;
	unsigned form;
	uint64_t records;
};

static void make_schema(struct sp__schema *s, struct sp__table_layout *l, unsigned form)
{
	static const struct sp__value_type types[] = { { 'i', 0, 4 },
						       { 't', 0, 4 },
						       { 'w', 0, 1 } };
	static const char *const names[] = { "number", "text", "word" };
	struct sp__layout_opts o = { .form = &sp__layout_forms[form],
				     .cell_bytes = 512,
				     .page_records = form < 2 ? 0 : 100 };
	uint32_t code;

	*s = (struct sp__schema){ 0 };
	for (unsigned i = 0; i < COLUMNS; i++)
		if (sp__schema_add(s, names[i], strlen(names[i]), &types[i]))
			abort();
	s->columns[NUMBER].bounds = true;
	for (unsigned i = 0; i < 3; i++)
		if (sp__dictionary_add(&s->columns[WORD].words, names[i], 3, SP__DICT8_WORDS,
				       &code))
			abort();
	if (sp__layout_make(l, s, &o, NULL))
		abort();
}

/* Records of a directory row. */
static uint64_t row_records(const struct making *m)
{
	return (uint64_t)m->file.layout.page_records * m->file.layout.row_pages;
}

/* The value of a record: 4 bytes, little-endian. */
static uint32_t value_of(const struct making *m, uint32_t column, uint64_t record)
{
	uint64_t in_row = record % row_records(m);

	if (column == NUMBER)
		return (uint32_t)record * 3;
	if (column == WORD)
		return m->fault == CODE && record == 150 ? 4 : record % 4;
	if (m->fault == ENDS && record == 150)
		return 0;
	return (uint32_t)(in_row + 1) * 5; /* texts of 5 bytes */
}

static void write_cell(struct making *m, uint64_t n)
{
	const struct sp__table_layout *l = &m->file.layout;
	const struct sp__layout_position at = sp__layout_position(l, n);
	const struct sp__column_group *g = &l->groups[at.group];
	uint32_t records = sp__layout_cell_records(l, m->records, &at);
	uint64_t first = at.page * l->page_records + (uint64_t)at.j * g->cell_records;
	uint64_t cell = sp__map_cell(&m->file.map, SP__AREA_DATA, n);
	uint8_t data[512] = { 0 };

	if (!records)
		return;
	for (uint32_t k = 0; k < g->ncolumns; k++) {
		const struct sp__column_place *p = &l->places[g->columns[k]];

		for (uint32_t i = 0; i < records; i++) {
			uint32_t v = htole32(value_of(m, g->columns[k], first + i));

			memcpy(data + p->base + i * p->stride, &v, p->bytes);
		}
	}
	sp__cell_seal(data, 512, records, SP__CELL_VALUES, m->file.superblock.id, cell);
	if (sp__tablefile_write(&m->file, cell, 1, data, NULL))
		abort();
}

/* Writes the texts of a row, and the row. */
static void write_row(struct making *m, uint64_t row)
{
	struct sp__tablefile *f = &m->file;
	uint64_t first = row * row_records(m), last = first + row_records(m) - 1;
	struct sp__text_place t;
	uint8_t entries[32] = { 0 }, data[512] = { 0 };
	uint32_t bounds[2];

	if (last >= m->records)
		last = m->records - 1;
	t.bytes = (uint32_t)(last - first + 1) * 5;
	t.cells = (t.bytes + 503) / 504;
	if (sp__map_take(&f->map, t.cells, &t.first) ||
	    sp__map_add(&f->map, SP__AREA_TEXT, t.first, t.cells))
		abort();
	for (uint32_t i = 0; i < t.cells; i++) {
		sp__cell_seal(data, 512, 0, SP__CELL_TEXT, f->superblock.id, t.first + i);
		if (sp__tablefile_write(f, t.first + i, 1, data, NULL))
			abort();
	}
	if (m->fault == LENGTH && row == 1)
		t.bytes--;
	if (m->fault == PLACE && row == 1)
		t.first = 20;
	bounds[0] = htole32((uint32_t)first * 3);
	bounds[1] = htole32((uint32_t)last * 3 - (m->fault == BOUNDS && row == 1));
	memcpy(sp__directory_entry(f, entries, NUMBER), &bounds[0], 4);
	memcpy(sp__directory_entry(f, entries, NUMBER) + 8, &bounds[1], 4);
	sp__directory_set_text(sp__directory_entry(f, entries, TEXT), &t);
	if (sp__directory_write_rows(f, row, 1, entries, NULL))
		abort();
}

static void make(unsigned form, uint64_t records, enum fault fault)
{
	struct making m = { .fault = fault, .form = form, .records = records };
	struct sp_run_opts run = SP_RUN_OPTS_INIT;
	struct sp__schema s;
	struct sp__table_layout l;
	uint8_t bits = 0x14;
	uint64_t cells;

	run.memory_bytes = 4 << 20;
	make_schema(&s, &l, form);
	if (sp__tablefile_create(&m.file, path, &run, &s, &l, NULL, NULL, NULL))
		abort();
	cells = sp__layout_data_cells(&m.file.layout, records);
	if (sp__tablefile_reserve(&m.file, cells, NULL))
		abort();
	for (uint64_t n = 0; n < cells; n++)
		write_cell(&m, n);
	for (uint64_t row = 0; row < sp__layout_rows(&m.file.layout, records); row++)
		write_row(&m, row);
	m.file.superblock.records = records;
	m.file.superblock.deleted = fault == DELETED ? 1 : 2;
	if (sp__tombstones_write(&m.file, 8, 8, &bits, NULL) ||
	    sp__tablefile_commit(&m.file, NULL) || sp__tablefile_publish(&m.file, NULL))
		abort();
	(void)sp__tablefile_close(&m.file);
}

/* The last damage reported. */
static char text[300], columns[100];
static uint64_t first_record, last_record;

static int take(void *arg, const struct sp_table_damage *d)
{
	(void)arg;
	snprintf(text, sizeof(text), "%s", d->text);
	snprintf(columns, sizeof(columns), "%s", d->columns ? d->columns : "");
	first_record = d->first_record;
	last_record = d->last_record;
	return 0;
}

/* Returns how often damage was reported; -1: the table could not be opened or checked. */
static long long check(uint64_t lost[COLUMNS])
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_check_result r;
	struct sp_table *t;
	long long damaged = -1;

	o.run.memory_bytes = 4 << 20;
	text[0] = columns[0] = '\0';
	if (sp_table_open(&t, path, &o, &err)) {
		snprintf(text, sizeof(text), "%s", err.text);
		return -1;
	}
	if (!sp_table_check(t, take, NULL, &r, &err)) {
		damaged = (long long)r.damaged;
		if (lost)
			memcpy(lost, r.lost, COLUMNS * sizeof(*lost));
	}
	(void)sp_table_close(t);
	return damaged;
}

static void check_sound(void)
{
	static const uint64_t records[] = { 1, 99, 100, 101, 2047, 5000 };

	for (unsigned form = 0; form < 4; form++) {
		unsigned right = 0;

		for (unsigned i = 0; i < 6; i++) {
			make(form, records[i], NONE);
			/* A table of one record cannot have two that are deleted. */
			right += check(NULL) == (records[i] == 1 ? -1 : 0);
		}
		ok(right == 6, "form %u: tables whose parts agree have no damage: %s", form, text);
	}
}

static void check_contradictions(void)
{
	static const char *const names[] = { "",
					     "bounds",
					     "the end of the text",
					     "the end of the text",
					     "dictionary",
					     "no cells of texts",
					     "deleted records" };

	for (int fault = BOUNDS; fault <= DELETED; fault++)
		for (unsigned form = 0; form < 4; form++) {
			make(form, 5000, (enum fault)fault);
			ok(check(NULL) >= 1 && strstr(text, names[fault]), "form %u: %s", form,
			   text);
		}
}

static void check_bytes(void)
{
	uint64_t lost[COLUMNS] = { 0 };
	unsigned used = 0, found = 0;
	uint8_t cell[512];
	struct stat st;
	int fd;

	make(3, 1000, NONE);
	fd = open(path, O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		abort();
	for (off_t c = 16; c < st.st_size / 512; c++) {
		off_t at = c * 512 + (c * 41) % 512;
		bool zero = true;

		if (pread(fd, cell, 512, c * 512) != 512)
			break;
		for (unsigned i = 0; i < 512; i++)
			zero &= !cell[i];
		cell[at % 512] ^= 0x40;
		(void)!pwrite(fd, cell + at % 512, 1, at);
		used += !zero;
		found += check(NULL) != 0 && !zero;
		cell[at % 512] ^= 0x40;
		(void)!pwrite(fd, cell + at % 512, 1, at);
	}
	ok(used > 40 && found == used && check(NULL) == 0, "each of %u changed cells is found (%u)",
	   used, found);
	memset(cell, 0, sizeof(cell));
	(void)!pwrite(fd, cell, 512, 16 * 512);
	ok(check(lost) == 1 && lost[NUMBER] == 100 && !lost[TEXT] && !lost[WORD] &&
		   !strcmp(columns, "number") && first_record == 0 && last_record == 99 &&
		   strstr(text, "never written"),
	   "records and column of a damaged cell are named: %s", text);
	close(fd);
}

static void check_info(void)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_table_check_result r;
	struct sp_table_info info;
	struct sp_table *t;

	o.run.memory_bytes = 4 << 20;
	make(0, 5000, NONE);
	if (sp_table_open(&t, path, &o, NULL))
		abort();
	ok(!sp_table_info(t, true, &info, NULL) && info.layout == SP_TABLE_NSM &&
		   info.records == 5000 && info.deleted == 2 && info.page_records == 56 &&
		   info.ngroups == 1 && info.text_bytes == 25000 && info.dead_text_bytes == 0,
	   "a table is described");
	ok(!strcmp(info.groups[0].columns, "number,text,word") &&
		   !strcmp(info.columns[NUMBER].type, "i32") && info.columns[WORD].words == 3,
	   "and its columns");
	ok(fabs(info.fill - 70000.0 / (141 * 512)) < 1e-9 &&
		   fabs(info.columns[NUMBER].bounds_width - (2071 + 2071 + 855) / 3.0 / 4999) <
			   1e-9 &&
		   isnan(info.columns[TEXT].bounds_width),
	   "with the fill of its cells, and the width of bounds");
	ok(!sp_table_check(t, take, NULL, &r, NULL) && !strcmp(info.columns[TEXT].name, "text") &&
		   isnan(info.columns[TEXT].bounds_width),
	   "a check leaves the description as it is");
	(void)sp_table_close(t);
}

/* A table of one column has the name of the layout that was chosen. */
static void check_layout_names(void)
{
	static const struct sp__value_type type = { 'i', 0, 4 };
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	unsigned right = 0;

	for (unsigned form = 0; form < 4; form++) {
		const struct sp__layout_opts lo = { .form = &sp__layout_forms[form] };
		struct sp__schema s = { 0 };
		struct sp__table_layout l;
		struct sp__tablefile f;
		struct sp_table_info info;
		struct sp_table *t;

		if (sp__schema_add(&s, "a", 1, &type) || sp__layout_make(&l, &s, &lo, NULL) ||
		    sp__tablefile_create(&f, path, &o.run, &s, &l, NULL, NULL, NULL) ||
		    sp__tablefile_commit(&f, NULL) || sp__tablefile_publish(&f, NULL))
			abort();
		(void)sp__tablefile_close(&f);
		if (sp_table_open(&t, path, &o, NULL))
			abort();
		right += !sp_table_info(t, true, &info, NULL) && info.layout == form &&
			 isnan(info.fill);
		(void)sp_table_close(t);
	}
	ok(right == 4, "a table of one column and no records has the layout that was chosen");
}

int main(void)
{
	check_sound();
	check_contradictions();
	check_bytes();
	check_info();
	check_layout_names();
	unlink(path);
	return done();
}
