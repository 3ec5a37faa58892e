/* SPDX-License-Identifier: MIT */
/*
 * Splits lines into fields by the rules of join.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "rec/fields.h"

const char sp__no_field[1] = "";

/* The position of a walk over a line's fields. */
struct walk {
	const struct sp__cut *cut;
	const char *at, *end;
	bool over;
};

void sp__cut_init(struct sp__cut *cut, const char *sep, size_t sep_bytes, bool csv)
{
	*cut = (struct sp__cut){ .kind = SP__CUT_BLANKS, .sep = " ", .sep_bytes = 1 };
	for (int c = 0; c < 256; c++) {
		cut->blank[c] = isblank(c) || c == '\n';
		cut->upper[c] = (unsigned char)toupper(c);
	}
	if (!sep)
		return;
	memcpy(cut->sep, sep, sep_bytes);
	cut->sep_bytes = sep_bytes;
	if (csv)
		cut->kind = SP__CUT_CSV;
	else if (sep_bytes > 1)
		cut->kind = SP__CUT_TEXT;
	else
		cut->kind = *sep == '\n' ? SP__CUT_WHOLE : SP__CUT_BYTE;
}

static const char *skip(const struct sp__cut *cut, const char *p, const char *end, bool blanks)
{
	while (p < end && cut->blank[(unsigned char)*p] == blanks)
		p++;
	return p;
}

static struct walk begin(const struct sp__cut *cut, const char *line, size_t bytes)
{
	struct walk w = { cut, line, line + sp__line_trim(cut, line, bytes), false };

	w.over = w.at == w.end;
	if (cut->kind == SP__CUT_BLANKS) {
		w.at = skip(cut, w.at, w.end, true);
		w.over = w.at == w.end;
	}
	return w;
}

/* Finds the next field; false: there is none. */
static bool step(struct walk *w, struct sp__slice *field)
{
	const struct sp__cut *cut = w->cut;
	const char *stop = w->end;

	if (w->over)
		return false;
	if (cut->kind == SP__CUT_BYTE)
		stop = sp__find_byte(w->at, w->end, cut->sep[0]);
	else if (cut->kind == SP__CUT_BLANKS)
		stop = skip(cut, w->at, w->end, false);
	else if (cut->kind == SP__CUT_CSV)
		stop = w->at < w->end && *w->at == '"'
			       ? sp__csv_field_end(w->at, w->end, cut->sep[0])
			       : sp__find_byte(w->at, w->end, cut->sep[0]);
	else if (cut->kind == SP__CUT_TEXT)
		stop = memmem(w->at, (size_t)(w->end - w->at), cut->sep, cut->sep_bytes);
	if (!stop)
		stop = w->end;
	*field = (struct sp__slice){ w->at, (size_t)(stop - w->at) };
	w->over = stop == w->end;
	if (!w->over)
		w->at = cut->kind == SP__CUT_BLANKS ? skip(cut, stop, w->end, true)
						    : stop + cut->sep_bytes;
	return true;
}

int sp__fields_split(const struct sp__cut *cut, const char *line, size_t bytes,
		     struct sp__fields *fields)
{
	struct walk w = begin(cut, line, bytes);
	struct sp__slice field;

	for (fields->n = 0; step(&w, &field); fields->at[fields->n++] = field)
		if (!SP__ARRAY_GROW(fields->at, fields->capacity, fields->n + 1))
			return -ENOMEM;
	return 0;
}

bool sp__field_find_slow(const struct sp__cut *cut, const char *line, size_t bytes, size_t k,
			 struct sp__slice *field)
{
	struct walk w;

	if (cut->kind == SP__CUT_FIXED) {
		*field = (struct sp__slice){ line + cut->fixed[k].offset, cut->fixed[k].length };
		return true;
	}
	w = begin(cut, line, bytes);
	do {
		if (!step(&w, field)) {
			*field = (struct sp__slice){ sp__no_field, 0 };
			return false;
		}
	} while (k--);
	return true;
}
