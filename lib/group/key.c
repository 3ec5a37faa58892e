/* SPDX-License-Identifier: MIT */
/* Makes the keys of records (key.h). */
#include <errno.h>
#include "group/code.h"
#include "group/key.h"

static int put_ordered(struct sp__group_worker *w, struct sp__bytes *to,
		       const struct sp_keyset *order, const struct sp__slice *text)
{
	const struct sp__keyset *ks = sp__ks(order);
	struct sp__slice part = *text;
	int rc;

	if (ks->form == SP__KEY_INPLACE) {
		if (!ks->whole)
			sp__key_slice(order, text->p, text->n, &part.p, &part.n);
		if (ks->descending) {
			w->out.bytes = 0;
			rc = sp__code_put_part(&w->out, part.p, part.n);
			return rc ? rc : sp__code_put_descending(to, &w->out);
		}
	} else {
		w->encoded.uncut = true;
		rc = sp__key_encode(order, text->p, text->n, &w->encoded);
		if (rc)
			return -ENOMEM;
		part = (struct sp__slice){ (const char *)w->encoded.data, w->encoded.bytes };
	}
	return sp__code_put_part(to, part.p, part.n);
}

/* Appends a calculated number; no value is before all. */
static int put_value(struct sp__group_worker *w, struct sp__bytes *to,
		     const struct sp__group_key *key, const struct sp__slice *text)
{
	unsigned char code[SP__AMOUNT_CODE];
	struct sp__amount x;
	size_t n = 0;
	int rc;

	if (text->n && sp__amount_parse(text->p, text->n, &x))
		n = sp__amount_encode(&x, code);
	if (!key->reverse)
		return sp__code_put_part(to, (char *)code, n);
	w->out.bytes = 0;
	rc = sp__code_put_part(&w->out, (char *)code, n);
	return rc ? rc : sp__code_put_descending(to, &w->out);
}

int sp__group_make_key(struct sp__group_worker *w, struct sp__bytes *to,
		       const struct sp__group_key *keys, uint32_t n)
{
	int rc = 0;

	sp__bytes_empty(to, NULL);
	for (uint32_t i = 0; !rc && i < n; i++) {
		const struct sp__slice *text =
			keys[i].binary ? &w->record : &w->columns[keys[i].column];

		rc = keys[i].by_value ? put_value(w, to, &keys[i], text)
		     : keys[i].order  ? put_ordered(w, to, keys[i].order, text)
				      : sp__code_put_part(to, text->p, text->n);
	}
	return rc;
}
