/* SPDX-License-Identifier: MIT */
/* Makes the keys of the join and of the index for index nested loops (keys.h). */
#include <string.h>
#include "join/inl/keys.h"

int sp__inlkeys_open(struct sp__inlkeys *k, const struct sp__inl_opts *opts)
{
	k->opts = opts;
	return sp__keying_init(&k->keying, opts->cut, opts->keys, opts->env->err);
}

void sp__inlkeys_release(struct sp__inlkeys *k)
{
	sp__keying_release(&k->keying);
	sp__keymem_release(&k->keymem);
	sp__keybuf_release(&k->of_outer);
	sp__keybuf_release(&k->of_inner);
	sp__bytes_release(&k->text, NULL);
}

static int no_memory(const struct sp__inlkeys *k)
{
	return sp__join_no_memory(k->opts->env);
}

int sp__inlkeys_make(struct sp__inlkeys *k, int side, const struct sp__line *line,
		     struct sp__slice *key)
{
	size_t begin;

	k->keymem.bytes = 0;
	if (sp__key_make(&k->keying, side, line->data, line->bytes, &k->keymem, &begin) < 0)
		return no_memory(k);
	*key = (struct sp__slice){ k->keymem.data, k->keymem.bytes };
	return 0;
}

/* Converts the outer key to the form of the inner file's records. */
static int binary_for_index(struct sp__inlkeys *k, const struct sp__slice *field)
{
	const struct sp_key *key = &k->opts->index->key.key;
	const size_t bytes = k->opts->format.fixed_bytes;

	sp__bytes_empty(&k->text, NULL);
	for (size_t i = 0; i < bytes; i += key->length)
		if (sp__bytes_append(&k->text, field->p, key->length, NULL) < 0)
			return no_memory(k);
	memcpy(k->text.data + key->offset, field->p, key->length);
	return sp__indexkey_of_record(&k->opts->index->key, k->text.data, bytes, &k->of_outer);
}

int sp__inlkeys_for_index(struct sp__inlkeys *k, const struct sp__line *outer)
{
	const struct sp_join_opts *keys = k->opts->keys;
	struct sp__slice f;
	size_t n;

	sp__field_find(k->keying.cut, outer->data, outer->bytes, keys->keys[k->opts->outer_side][0],
		       &f);
	if (k->keying.cut->kind == SP__CUT_FIXED)
		return binary_for_index(k, &f);
	if (sp__bytes_set(&k->text, f.p, f.n, NULL) < 0)
		return no_memory(k);
	n = f.n;
	if (k->keying.cut->kind == SP__CUT_CSV && n)
		n = (size_t)((char *)sp__csv_unquote(f.p, f.p + f.n,
						     (unsigned char *)k->text.data) -
			     k->text.data);
	return sp__indexkey_of_text(&k->opts->index->key, n ? k->text.data : "", n, &k->of_outer,
				    k->opts->env->err);
}

int sp__inlkeys_same(struct sp__inlkeys *k, const struct sp__line *outer, const char *record,
		     size_t bytes)
{
	int rc = sp__inlkeys_for_index(k, outer);

	if (!rc && sp__indexkey_of_record(&k->opts->index->key, record, bytes, &k->of_inner) < 0)
		rc = no_memory(k);
	return rc ? rc
		  : !sp__order_bytes(k->of_outer.data, k->of_outer.bytes, k->of_inner.data,
				     k->of_inner.bytes);
}
