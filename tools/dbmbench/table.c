/* SPDX-License-Identifier: MIT */
/*
 * Writes the table of a result: a line for each query, selectivity and system.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "dbmbench.h"

#define COLUMNS 12
#define TEXT 96
#define NOISE 0.05 /* deviation that is marked */

struct line {
	char cells[COLUMNS][TEXT];
};

static const char *const titles[COLUMNS] = {
	"query", "chosen",    "system",	  "ms a query", "+-",	  "ratio",
	"+-",	 "processor", "read, MB", "memory, MB", "instr.", "remarks",
};

static const char *const names[COLUMNS] = {
	"query",	"true_selectivity", "system", "query_s",    "half_interval_s",
	"ratio",	"ratio_half",	    "cpu_s",  "read_bytes", "peak_bytes",
	"instructions", "remarks",
};

/* Writes a number in a unit of people, or "-" if it is unknown; CSV: as it is, or nothing. */
static void put(char *cell, bool csv, double value, double unit, int digits, const char *suffix)
{
	if (!isfinite(value))
		strcpy(cell, csv ? "" : "-");
	else if (csv)
		snprintf(cell, TEXT, "%.9g", value);
	else
		snprintf(cell, TEXT, "%.*g%s", digits, value * unit, suffix);
}

static const struct sp_dbm_system *system_of(const struct sp_dbm_result *r, size_t cell)
{
	return &r->systems[cell % r->nsystems];
}

static void put_remarks(char *cell, const struct sp_dbm_result *r, size_t i)
{
	const struct sp_dbm_cell *c = &r->cells[i];
	const struct sp_dbm_system *s = system_of(r, i);

	*cell = 0;
	if (!s->version)
		snprintf(cell, TEXT, "absent: %s", quote_plain(s->failure));
	else if (s->failure && !c->units)
		snprintf(cell, TEXT, "failed: %s", quote_plain(s->failure));
	else if (c->plan_lacks)
		snprintf(cell, TEXT, "its plan lacks %s", c->plan_lacks);
	else if (c->deviation > NOISE)
		snprintf(cell, TEXT, "unsteady: deviation %.0f %%", 100 * c->deviation);
}

static void make_line(struct line *l, const struct sp_dbm_result *r, size_t i, bool csv)
{
	const struct sp_dbm_cell *c = &r->cells[i];
	const struct sp_dbm_usage *u = &c->usage;
	const double read = c->units ? (double)u->read_bytes : NAN;
	const double peak = c->units ? (double)u->peak_bytes : NAN;

	snprintf(l->cells[0], TEXT, "%s", sp_dbm_query_name(c->query));
	put(l->cells[1], csv, c->true_selectivity, 100, 3, " %");
	snprintf(l->cells[2], TEXT, "%s", quote_plain(c->system));
	put(l->cells[3], csv, c->query_s.value, 1e3, 4, "");
	put(l->cells[4], csv, c->query_s.high - c->query_s.value, 1e3, 2, "");
	put(l->cells[5], csv, c->ratio.value, 1, 3, "");
	put(l->cells[6], csv, c->ratio.high - c->ratio.value, 1, 2, "");
	put(l->cells[7], csv, u->user_s + u->system_s, 1, 3, " s");
	put(l->cells[8], csv, read, 1e-6, 3, "");
	put(l->cells[9], csv, peak, 1e-6, 3, "");
	put(l->cells[10], csv, c->events[SP_DBM_INSTRUCTIONS], 1, 3, "");
	put_remarks(l->cells[11], r, i);
}

/* Writes a text as a field of CSV. */
static void csv_field(FILE *out, const char *text)
{
	const bool quoted = strpbrk(text, ",\"\n") != NULL;

	if (quoted)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

static void write_line(FILE *out, enum table_style style, const struct line *l, const size_t *width)
{
	for (int k = 0; k < COLUMNS; k++) {
		const bool left = k == 0 || k == 2 || k == COLUMNS - 1;

		if (style == TABLE_CSV) {
			fputs(k ? "," : "", out);
			csv_field(out, l->cells[k]);
		} else if (style == TABLE_MARKDOWN) {
			fprintf(out, "%s%s", k ? " | " : "| ", l->cells[k]);
		} else if (k < COLUMNS - 1) {
			fprintf(out, "%s%*s", k ? "  " : "", left ? -(int)width[k] : (int)width[k],
				l->cells[k]);
		} else if (*l->cells[k]) {
			fprintf(out, "  %s", l->cells[k]);
		}
	}
	fputs(style == TABLE_MARKDOWN ? " |\n" : "\n", out);
}

static void write_head(FILE *out, enum table_style style, const size_t *width)
{
	struct line head;

	for (int k = 0; k < COLUMNS; k++)
		strcpy(head.cells[k], (style == TABLE_CSV ? names : titles)[k]);
	write_line(out, style, &head, width);
	if (style != TABLE_MARKDOWN)
		return;
	for (int k = 0; k < COLUMNS; k++)
		fputs(k == 0 || k == 2 || k == COLUMNS - 1 ? "|---" : "|--:", out);
	fputs("|\n", out);
}

void table_write(FILE *out, enum table_style style, const struct sp_dbm_result *r)
{
	size_t width[COLUMNS];
	struct line l;

	for (int k = 0; k < COLUMNS; k++)
		width[k] = strlen(titles[k]);
	for (size_t i = 0; i < r->ncells; i++) {
		make_line(&l, r, i, style == TABLE_CSV);
		for (int k = 0; k < COLUMNS; k++)
			width[k] = strlen(l.cells[k]) > width[k] ? strlen(l.cells[k]) : width[k];
	}
	write_head(out, style, width);
	for (size_t i = 0; i < r->ncells; i++) {
		make_line(&l, r, i, style == TABLE_CSV);
		write_line(out, style, &l, width);
	}
}
