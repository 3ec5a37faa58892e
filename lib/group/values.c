/* SPDX-License-Identifier: MIT */
/* Values of lists to groups of the table, or to partial records (values.h). */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "group/values.h"

#define DIRECT (64 * SP__GROUP_TRIED) /* values that do not, before the table is tried again */

int sp__values_open(struct sp__group_worker *w)
{
	const struct sp__group_spec *s = w->in->spec;

	w->lists = calloc(s->nlists + 1, sizeof(*w->lists));
	if (!w->lists)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nlists; i++)
		w->lists[i].left = SP__GROUP_TRIED;
	return 0;
}

/* Decides whether the next values of a list go through the table. */
static void judge(struct sp__group_worker *w, struct sp__group_values *l)
{
	l->direct = !l->direct && !sp__group_worker_pays(w, l->added, l->made);
	l->left = l->direct ? DIRECT : SP__GROUP_TRIED;
	l->added = l->made = 0;
}

/* Makes a partial record of the value whose key is in w->key. */
static int put_direct(struct sp__group_worker *w)
{
	static const char once[] = { SP__CODE_ESCAPE, 1 + SP__CODE_STEP, SP__CODE_NUL };

	if (sp__bytes_append(&w->direct, w->key.data, w->key.bytes, NULL) ||
	    sp__bytes_append(&w->direct, once, sizeof(once), NULL))
		return -ENOMEM;
	w->partials++;
	return 0;
}

/* Counts the value whose key is in w->key. */
static void count(struct sp__group_worker *w, struct sp__group_values *l, uint32_t tag)
{
	const size_t groups = w->table.groups;
	const uint32_t at = sp__group_table_find(&w->table, w->key.data, w->key.bytes, tag);

	((struct sp__grouped *)sp__arena_at(&w->table.arena, at))->records++;
	l->added++;
	l->made += w->table.groups - groups;
}

/*
 * Adds a value of a list: its key is that of the group, the tag, and the value.  behind: a text of
 * a value that is a position, so it comes once.
 */
static int add(struct sp__group_worker *w, size_t key_bytes, uint32_t list, const char *p, size_t n,
	       const struct sp__slice *behind)
{
	const char tag = (char)(unsigned char)(SP__TAG_LIST + list);
	struct sp__group_values *l = &w->lists[list];
	struct sp__bytes *key = &w->key;
	int rc;

	key->bytes = key_bytes;
	rc = sp__bytes_append(key, &tag, 1, NULL);
	if (!rc)
		rc = sp__code_put_part(key, p, n);
	if (!rc && behind)
		rc = sp__code_put_part(key, behind->p, behind->n);
	if (rc)
		return -ENOMEM;
	if (behind)
		return put_direct(w);
	if (!l->left--)
		judge(w, l);
	if (l->direct)
		return put_direct(w);
	count(w, l, SP__TAG_LIST + list);
	return 0;
}

int sp__values_add(struct sp__group_worker *w, const struct sp__group_argument *a,
		   const struct sp__group_value *v, size_t key_bytes, uint64_t position)
{
	unsigned char code[SP__AMOUNT_CODE];
	char place[SP__CODE_POSITION];
	int rc = 0;

	if (a->keep & SP__KEEP_NUMBERS)
		rc = add(w, key_bytes, a->numbers, (const char *)code,
			 sp__amount_encode(&v->number, code), NULL);
	if (!rc && a->keep & SP__KEEP_WORDS)
		rc = add(w, key_bytes, a->words, v->text.p, v->text.n, NULL);
	if (rc || !(a->keep & SP__KEEP_ROWS))
		return rc;
	sp__code_position(place, position);
	return add(w, key_bytes, a->rows, place, sizeof(place), &v->text);
}

/* Returns the beginning of a code as a number: of two, the smaller one is never behind. */
static unsigned __int128 beginning_of(const struct sp__bytes *code)
{
	uint64_t halves[2] = { 0 };

	memcpy(halves, code->data, sp__min(code->bytes, sizeof(halves)));
	return (unsigned __int128)be64toh(halves[0]) << 64 | be64toh(halves[1]);
}

/* True if so many records of the group are certainly before this one; if not, it is noted. */
static bool is_behind(struct sp__group_firsts *f, uint32_t largest, unsigned __int128 code)
{
	uint32_t i;

	if (f->n == largest && code >= f->codes[f->n - 1])
		return code > f->codes[f->n - 1];
	for (i = f->n < largest ? f->n++ : f->n - 1; i && f->codes[i - 1] > code; i--)
		f->codes[i] = f->codes[i - 1];
	f->codes[i] = code;
	return false;
}

int sp__values_add_record(struct sp__group_worker *w, uint32_t at, size_t key_bytes,
			  const struct sp__slice *record, uint64_t position)
{
	const struct sp__group_spec *s = w->in->spec;
	char place[SP__CODE_POSITION];

	sp__code_position(place, position);
	if (sp__bytes_append(&w->by, place, sizeof(place), NULL))
		return -ENOMEM;
	if (s->firsts && is_behind(sp__group_part(&w->table.arena, at, s->firsts),
				   (uint32_t)s->largest, beginning_of(&w->by)))
		return 0;
	return add(w, key_bytes, 0, w->by.data, w->by.bytes, record);
}
