/* SPDX-License-Identifier: MIT */
/*
 * A table in memory, one value after the other, as the independent truth of tests that change
 * tables: written by the writer, and read back by the arithmetic of the layout.
 */
#ifndef TABLEMODEL_H
#define TABLEMODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "base/rng.h"
#include "table/file/directory.h"
#include "table/write/writer.h"

#define MODEL_COLUMNS 10
#define MODEL_VALUE 40
#define MODEL_TEXT 700 /* bytes of a text, at most */

struct model_text {
	uint16_t bytes; /* with the one of NULL */
	char text[MODEL_TEXT];
};

struct model {
	struct sp__rng rng;
	uint32_t n; /* columns */
	struct sp__value_type types[MODEL_COLUMNS];
	uint64_t records, capacity;
	uint8_t (*values[MODEL_COLUMNS])[MODEL_VALUE];
	struct model_text *texts[MODEL_COLUMNS];
	bool *deleted;
	uint32_t text_max; /* usual bytes of a text */
	unsigned form;	   /* of the layout, from 1; 0: random */
};

static const char *const model_types[] = { "i8",  "i16",  "i32",      "i64",	  "u8",	   "u16",
					   "f32", "f64",  "date",     "char(3)",  "time",  "text",
					   "u64", "text", "dec16(2)", "char(40)", "dict8", "text" };

static inline uint64_t model_below(struct model *m, uint64_t n)
{
	return sp__rng_below(&m->rng, n);
}

static inline void model_value(struct model *m, uint32_t c, uint8_t *to)
{
	const struct sp__value_type *t = &m->types[c];

	for (uint32_t i = 0; i < t->bytes; i++)
		to[i] = (uint8_t)sp__rng_next(&m->rng);
	if (t->kind == 'c')
		to[0] = 'a' + to[0] % 26;
	if (model_below(m, 11) == 0)
		sp__value_set_null(t, to);
}

static inline void model_text(struct model *m, struct model_text *to)
{
	to->bytes = (uint16_t)(model_below(m, 40) ? model_below(m, m->text_max)
						  : model_below(m, MODEL_TEXT));
	memset(to->text, 'a' + (int)model_below(m, 26), to->bytes);
	if (to->bytes)
		to->text[0] = 'A' + (char)model_below(m, 26);
	if (model_below(m, 9) == 0) {
		to->bytes = 1;
		to->text[0] = (char)SP__TEXT_NULL;
	}
}

/* Adds records of random values. */
static inline void model_add(struct model *m, uint64_t n)
{
	for (uint32_t c = 0; c < m->n; c++) {
		m->values[c] = realloc(m->values[c], (m->records + n + 1) * MODEL_VALUE);
		if (m->types[c].kind == 't')
			m->texts[c] = realloc(m->texts[c],
					      (m->records + n + 1) * sizeof(struct model_text));
		if (!m->values[c] || (m->types[c].kind == 't' && !m->texts[c]))
			abort();
		for (uint64_t r = m->records; r < m->records + n; r++) {
			memset(m->values[c][r], 0, MODEL_VALUE);
			if (m->types[c].kind == 't')
				model_text(m, &m->texts[c][r]);
			else
				model_value(m, c, m->values[c][r]);
		}
	}
	m->deleted = realloc(m->deleted, m->records + n + 1);
	if (!m->deleted)
		abort();
	memset(m->deleted + m->records, 0, n);
	m->records += n;
}

/* Makes a table of random columns and records. */
static inline void model_make(struct model *m, uint64_t seed, uint64_t records)
{
	*m = (struct model){ .rng = { seed } };
	m->n = 1 + (uint32_t)model_below(m, MODEL_COLUMNS);
	m->text_max = 1 + (uint32_t)model_below(m, 60);
	for (uint32_t c = 0; c < m->n; c++) {
		const char *name =
			model_types[model_below(m, sizeof(model_types) / sizeof(*model_types))];

		if (sp__value_type_parse(&m->types[c], name, strlen(name)))
			abort();
	}
	model_add(m, records);
}

/* Removes the deleted records. */
static inline void model_pack(struct model *m)
{
	uint64_t n = 0;

	for (uint64_t r = 0; r < m->records; r++) {
		if (m->deleted[r])
			continue;
		for (uint32_t c = 0; c < m->n; c++) {
			memmove(m->values[c][n], m->values[c][r], MODEL_VALUE);
			if (m->texts[c])
				m->texts[c][n] = m->texts[c][r];
		}
		m->deleted[n++] = false;
	}
	m->records = n;
}

static inline void model_free(struct model *m)
{
	for (uint32_t c = 0; c < m->n; c++) {
		free(m->values[c]);
		free(m->texts[c]);
	}
	free(m->deleted);
}

static inline void model_schema(const struct model *m, struct sp__schema *s)
{
	char name[16];

	*s = (struct sp__schema){ 0 };
	for (uint32_t c = 0; c < m->n; c++) {
		snprintf(name, sizeof(name), "c%u", c);
		if (sp__schema_add(s, name, strlen(name), &m->types[c]))
			abort();
		s->columns[c].bounds = sp__column_type_bounded(&m->types[c]);
	}
}

static inline void model_layout(struct model *m, const struct sp__schema *s,
				struct sp__table_layout *l)
{
	uint32_t together[MODEL_COLUMNS];
	struct sp__layout_opts o = { .form = &sp__layout_forms[model_below(m, 4)],
				     .cell_bytes = UINT32_C(1024) << model_below(m, 3),
				     .strip_bytes = 4096u << model_below(m, 4) };

	if (m->form)
		o = (struct sp__layout_opts){ .form = &sp__layout_forms[m->form - 1] };
	for (uint32_t c = 0; !m->form && c < MODEL_COLUMNS; c++)
		together[c] = (uint32_t)model_below(m, 3);
	if (!m->form && !o.form->one_group && model_below(m, 2))
		o.together = together;
	if (!m->form && model_below(m, 2))
		o.page_records = (uint32_t)(1 + model_below(m, 300));
	*l = (struct sp__table_layout){ 0 };
	if (sp__layout_make(l, s, &o, NULL))
		abort();
}

static inline struct sp_run_opts model_run(void)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;

	run.memory_bytes = 4 << 20;
	run.parallel = 1;
	run.seed = 5;
	run.engine = "sync";
	return run;
}

#define MODEL_PORTION 700 /* records */

/* Puts records [from, m->records) in portions of random sizes.  Returns the writer's result. */
static inline int model_put(struct model *m, struct sp__tablewriter *w, uint64_t from)
{
	static uint8_t values[MODEL_COLUMNS][MODEL_PORTION * MODEL_VALUE];
	static struct sp__text_ref refs[MODEL_COLUMNS][MODEL_PORTION];
	struct sp__column_values columns[MODEL_COLUMNS];
	int rc = 0;

	for (uint64_t n; !rc && from < m->records; from += n) {
		n = sp__min(m->records - from, 1 + model_below(m, MODEL_PORTION));
		for (uint32_t c = 0; c < m->n; c++) {
			const struct model_text *t = m->texts[c] ? &m->texts[c][from] : NULL;
			const uint32_t bytes = m->types[c].bytes;

			for (uint64_t i = 0; i < n; i++) {
				memcpy(values[c] + i * bytes, m->values[c][from + i], bytes);
				if (!t)
					continue;
				refs[c][i].at = (uint32_t)(t[i].text - (const char *)t);
				refs[c][i].bytes = sp__text_null(t[i].text, t[i].bytes)
							   ? SP__TEXT_REF_NULL
							   : t[i].bytes;
			}
			columns[c] =
				(struct sp__column_values){ values[c], refs[c], (const char *)t };
		}
		rc = sp__tablewriter_put(w, n, columns);
	}
	return rc;
}

/* Creates the table. */
static inline int model_create(struct model *m, const char *path, struct sp_errinfo *err)
{
	const struct sp_run_opts run = model_run();
	struct sp__schema s;
	struct sp__table_layout l;
	struct sp__tablefile f;
	struct sp__tablewriter w = { 0 };
	int rc;

	model_schema(m, &s);
	model_layout(m, &s, &l);
	rc = sp__tablefile_create(&f, path, &run, &s, &l, NULL, NULL, err);
	if (!rc)
		rc = sp__tablewriter_open(&w, &f, 1 << 20, err);
	if (!rc)
		rc = model_put(m, &w, 0);
	if (!rc)
		rc = sp__tablewriter_finish(&w);
	if (!rc)
		rc = sp__tablefile_commit(&f, err);
	if (!rc)
		rc = sp__tablefile_publish(&f, err);
	sp__tablewriter_close(&w);
	(void)sp__tablefile_close(&f);
	return rc;
}

/* Reads the texts of a directory row; the caller frees.  NULL: damaged. */
static inline char *model_read_texts(struct sp__tablefile *f, const struct sp__text_place *p,
				     struct sp_errinfo *err)
{
	const uint32_t payload = sp__cell_payload(f->layout.cell_bytes);
	char *all = malloc((size_t)p->cells * payload + 1);
	uint8_t *cell = malloc(f->layout.cell_bytes);
	int rc = sp__directory_text_possible(f, p) ? 0 : SP_ECORRUPT;

	for (uint32_t i = 0; !rc && i < p->cells; i++) {
		rc = sp__tablefile_read(f, p->first + i, 1, cell, err);
		if (!rc)
			rc = sp__tablefile_check_cell(f, p->first + i, 0, SP__CELL_TEXT, cell, err);
		memcpy(all + (size_t)i * payload, cell, payload);
	}
	free(cell);
	if (rc) {
		free(all);
		all = NULL;
	}
	return all;
}

/* True if a value is between the bounds of its directory row, or NULL. */
static inline bool model_bounded(const struct sp__value_type *t, const uint8_t *entry,
				 const uint8_t *value)
{
	return sp__value_null(t, value) ||
	       (!sp__value_null(t, entry) && sp__value_compare(t, entry, value) <= 0 &&
		sp__value_compare(t, value, entry + 8) <= 0);
}

/* Compares column c of directory row e with the model; returns what is wrong, or NULL. */
static inline const char *model_compare(const struct model *m, struct sp__tablefile *f, uint32_t c,
					uint64_t e, uint8_t *row, struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &f->layout;
	const struct sp__column_place *p = &l->places[c];
	const struct sp__value_type *t = &m->types[c];
	const uint32_t max = l->groups[p->group].cell_records;
	const uint64_t per_row = (uint64_t)l->page_records * l->row_pages;
	const uint64_t end = sp__min((e + 1) * per_row, m->records);
	uint8_t *entry = f->entries[c] == UINT32_MAX ? NULL : sp__directory_entry(f, row, c);
	struct sp__text_place place = { 0 };
	uint8_t *cell = malloc(l->cell_bytes);
	uint64_t loaded = 0;
	const char *wrong = NULL;
	uint32_t last = 0, text_end;
	char *texts = NULL;

	if (t->kind == 't') {
		place = sp__directory_text(entry);
		texts = model_read_texts(f, &place, err);
		if (!texts)
			wrong = "texts are damaged";
	}
	for (uint64_t r = e * per_row; !wrong && r < end; r++) {
		uint64_t page = r / l->page_records, in = r % l->page_records;
		struct sp__layout_position at = { page, p->group, (uint32_t)(in / max) };
		uint64_t number = sp__map_cell(&f->map, SP__AREA_DATA,
					       sp__layout_cell(l, page, p->group, at.j));
		const uint8_t *value = cell + p->base + in % max * p->stride;

		if (number != loaded &&
		    (sp__tablefile_read(f, number, 1, cell, err) ||
		     sp__tablefile_check_cell(f, number,
					      sp__layout_cell_records(l, m->records, &at),
					      SP__CELL_VALUES, cell, err)))
			wrong = "a cell is damaged";
		loaded = number;
		if (wrong)
			break;
		if (t->kind != 't') {
			if (memcmp(value, m->values[c][r], t->bytes) != 0)
				wrong = "a value differs";
			else if (entry && !model_bounded(t, entry, value))
				wrong = "a value is out of its bounds";
			continue;
		}
		memcpy(&text_end, value, sizeof(text_end));
		if (text_end > place.bytes || text_end - last != m->texts[c][r].bytes ||
		    memcmp(texts + last, m->texts[c][r].text, text_end - last) != 0)
			wrong = "a text differs";
		last = text_end;
	}
	if (!wrong && t->kind == 't' && last != place.bytes)
		wrong = "the length of texts differs";
	free(texts);
	free(cell);
	return wrong;
}

/* Compares all records of an open table with the model; returns what is wrong, or NULL. */
static inline const char *model_differs(const struct model *m, struct sp__tablefile *f,
					struct sp_errinfo *err)
{
	uint8_t *row = malloc(sp__directory_row_bytes(f) + 1), bits = 0;
	const char *wrong = f->superblock.records == m->records ? NULL : "the records differ";
	uint64_t deleted = 0;

	for (uint64_t e = 0; !wrong && e < sp__layout_rows(&f->layout, m->records); e++) {
		if (sp__directory_read_rows(f, e, 1, row, err))
			wrong = "the directory is damaged";
		for (uint32_t c = 0; !wrong && c < m->n; c++)
			wrong = model_compare(m, f, c, e, row, err);
	}
	for (uint64_t r = 0; !wrong && r < m->records; r++) {
		if (r % 8 == 0 && sp__tombstones_read(f, r, 8, &bits, err))
			wrong = "tombstones are damaged";
		else if ((bits >> r % 8 & 1) != m->deleted[r])
			wrong = "deleted records differ";
		deleted += m->deleted[r];
	}
	if (!wrong && f->superblock.deleted != deleted)
		wrong = "the number of deleted records differs";
	free(row);
	return wrong;
}

/* Compares the table at path with the model; returns what is wrong, or NULL. */
static inline const char *model_wrong(const struct model *m, const char *path,
				      struct sp_errinfo *err)
{
	const struct sp_run_opts run = model_run();
	struct sp__tablefile f;
	const char *wrong =
		sp__tablefile_open(&f, path, &run, false, err) ? "it does not open" : NULL;

	if (!wrong && sp__tablefile_begin_reading(&f, err))
		wrong = "it cannot be read";
	if (!wrong) {
		wrong = model_differs(m, &f, err);
		sp__tablefile_end_reading(&f);
	}
	(void)sp__tablefile_close(&f);
	return wrong;
}

#endif
