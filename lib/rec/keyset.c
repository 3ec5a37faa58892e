/* SPDX-License-Identifier: MIT */
/*
 * Compiles key sets: checks keys against the record format, combines them with the locale's rules,
 * and chooses between the forms of key.h.
 */
#include <ctype.h>
#include <gnu/libc-version.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/loaded.h"
#include "rec/keyset.h"

static void read_ctype(struct sp__ctab *t)
{
	for (int c = 0; c < 256; c++) {
		t->blank[c] = c == '\n' || isblank(c);
		t->nondict[c] = !t->blank[c] && !isalnum(c);
		t->nonprint[c] = !isprint(c);
		t->fold[c] = (unsigned char)toupper(c);
	}
}

static void read_numeric(struct sp__numfmt *f)
{
	const struct lconv *l = localeconv();
	const char *point = l->decimal_point, *sep = l->thousands_sep;

	f->strtold_point = point[0] && !point[1] ? (unsigned char)point[0] : -1;
	f->decimal = f->strtold_point >= 0 ? f->strtold_point : '.';
	f->thousands = sep[0] && !sep[1] ? (unsigned char)sep[0] : -1;
}

/* True unless the locale has no collation rules (C.UTF-8) and compares bytes, whatever its name. */
static bool has_collation_rules(void)
{
	return (uint32_t)(uintptr_t)nl_langinfo(_NL_COLLATE_NRULES) != 0;
}

static int bad_key(struct sp_errinfo *err, const char *what)
{
	return sp__errf(err, -EINVAL, "key", NULL, -1, "%s", what);
}

static int check_binary(const struct sp_key *k, size_t record, struct sp_errinfo *err)
{
	size_t n = k->length;

	if (k->type < SP_KEY_BYTES)
		return bad_key(err, "a text key cannot be used with fixed-length records");
	if (!n || n > record || k->offset > record - n)
		return bad_key(err, "a key lies outside the record");
	if ((k->type == SP_KEY_UINT || k->type == SP_KEY_INT) && n != 1 && n != 2 && n != 4 &&
	    n != 8)
		return bad_key(err, "an integer key is 1, 2, 4 or 8 bytes long");
	if (k->type == SP_KEY_FLOAT && n != 4 && n != 8)
		return bad_key(err, "a floating-point key is 4 or 8 bytes long");
	return 0;
}

static int check_json(const struct sp_keyset_opts *o, struct sp_errinfo *err)
{
	if (o->format.kind != SP_REC_LINE)
		return bad_key(err, "JSON needs lines");
	if (o->nkeys > SP__JSON_KEYS)
		return bad_key(err, "there are more than 64 keys of JSON");
	for (size_t i = 0; i < o->nkeys; i++)
		if (!o->keys[i].path)
			return bad_key(err, "a key of JSON is a path, such as .user.id");
	return 0;
}

static int check(const struct sp_keyset_opts *o, struct sp_errinfo *err)
{
	int rc = o->format.json ? check_json(o, err) : 0;

	if (o->format.kind == SP_REC_FIXED && !o->format.fixed_bytes)
		return bad_key(err, "the record length is zero");
	for (size_t i = 0; i < o->nkeys && !rc; i++) {
		if (o->format.kind == SP_REC_FIXED)
			rc = check_binary(&o->keys[i], o->format.fixed_bytes, err);
		else if (o->keys[i].type >= SP_KEY_BYTES)
			rc = bad_key(err, "a binary key needs fixed-length records");
		else if (o->keys[i].path && !o->format.json)
			rc = bad_key(err, "a path needs JSON lines");
	}
	return rc;
}

/*
 * True if the number is read the same without the end of its field: the byte that ends the field
 * can neither be part of a number nor be skipped before it.
 */
static bool ends_itself(const struct sp_keyset *ks, const struct sp__comp *c)
{
	const struct sp_key *k = &c->key;
	const struct sp__numfmt *f = &ks->numfmt;
	int sep = ks->separator;

	if ((k->type != SP_KEY_NUMERIC && k->type != SP_KEY_HUMAN) ||
	    ks->pub.format.kind != SP_REC_LINE || k->path || c->fold || c->drop || k->empty)
		return false;
	if (k->eword == SP_KEY_NOEND)
		return true;
	if (k->schar || k->echar || k->eword < k->sword)
		return false;
	if (sep < 0)
		return !ks->ctab.blank[f->decimal] &&
		       (f->thousands < 0 || !ks->ctab.blank[f->thousands]);
	return !ks->ctab.blank[sep] && (sep < '0' || sep > '9') && sep != '-' &&
	       sep != f->decimal && sep != f->thousands && !sp__human_unit((char)sep);
}

static bool is_whole(const struct sp_keyset *ks, const struct sp__comp *c)
{
	const struct sp_key *k = &c->key;

	if (ks->pub.format.kind == SP_REC_FIXED)
		return k->length == ks->pub.format.fixed_bytes;
	if (ks->pub.format.kind == SP_REC_CSV)
		return c->whole;
	if (k->path)
		return false;
	return !k->sword && !k->schar && !k->skip_start_blanks && k->eword == SP_KEY_NOEND;
}

static void compile_key(struct sp_keyset *ks, struct sp__comp *c, const struct sp_key *k)
{
	c->key = *k;
	if (ks->pub.format.kind == SP_REC_FIXED)
		return;
	c->fold = k->fold ? ks->ctab.fold : NULL;
	c->drop = k->ignore == SP_IGNORE_NONDICT    ? ks->ctab.nondict
		  : k->ignore == SP_IGNORE_NONPRINT ? ks->ctab.nonprint
						    : NULL;
	c->collated = k->type == SP_KEY_TEXT && ks->strcoll;
	c->rewritten = (c->fold || c->drop) && (c->collated || k->type != SP_KEY_TEXT);
	c->typed = k->path && k->type == SP_KEY_TEXT && !c->fold && !c->drop;
	c->self_ending = ends_itself(ks, c);
	c->line = !c->rewritten && !k->reverse && !k->empty && ks->pub.format.kind == SP_REC_LINE &&
		  is_whole(ks, c);
}

static void whole_record_key(struct sp_keyset *ks, bool reverse)
{
	struct sp_key k = SP_KEY_INIT;

	k.reverse = reverse;
	if (ks->pub.format.kind == SP_REC_FIXED) {
		k.type = SP_KEY_BYTES;
		k.length = ks->pub.format.fixed_bytes;
	}
	compile_key(ks, &ks->comp[0], &k);
	ks->comp[0].whole = true;
}

/* True if the only key is a slice of the record, in the order of its bytes. */
static bool is_slice(const struct sp_keyset *ks, const struct sp__comp *c)
{
	if (ks->pub.format.kind == SP_REC_FIXED)
		return c->key.type == SP_KEY_BYTES;
	return c->key.type == SP_KEY_TEXT && !c->key.path && !c->key.empty && !c->collated &&
	       !c->fold && !c->drop && (ks->pub.format.kind == SP_REC_LINE || c->whole);
}

static void choose_form(struct sp_keyset *ks)
{
	struct sp__keyset *pub = &ks->pub;

	pub->form = SP__KEY_ENCODED;
	for (size_t i = 0; i < ks->nkeys; i++)
		if (ks->comp[i].collated)
			pub->form = SP__KEY_COLLATED;
	if (ks->nkeys == 1 && is_slice(ks, &ks->comp[0])) {
		pub->form = SP__KEY_INPLACE;
		pub->descending = ks->comp[0].key.reverse;
		pub->whole = pub->exact = is_whole(ks, &ks->comp[0]);
	}
}

static bool is_random(const struct sp_keyset *ks)
{
	for (size_t i = 0; i < ks->nkeys; i++)
		if (ks->comp[i].key.type == SP_KEY_RANDOM)
			return true;
	return false;
}

static int salt(struct sp_keyset *ks, const unsigned char *random_salt, struct sp_errinfo *err)
{
	static const unsigned char none[16];
	int rc = sp__library_load(SP__LIB_MD, err);

	if (rc)
		return rc;
	MD5Init(&ks->salted);
	MD5Update(&ks->salted, random_salt ? random_salt : none, 16);
	return 0;
}

/* True if the key can be the whole record, ordered by the key and then by the last resort. */
static bool is_cased(const struct sp_keyset *ks)
{
	const struct sp__comp *c = &ks->comp[0];

	return ks->nkeys == 1 && c->line && c->key.type == SP_KEY_TEXT && c->fold && !c->drop &&
	       ks->pub.last_resort && !ks->pub.last_reverse && !ks->pub.last_collated &&
	       sp__fold_reversible(c->fold);
}

static void set_up(struct sp_keyset *ks, const struct sp_keyset_opts *o)
{
	ks->pub.format = o->format;
	ks->separator = o->separator;
	if (o->format.kind == SP_REC_CSV)
		ks->separator = (unsigned char)o->format.separator;
	ks->hard = sp__collate_hard();
	ks->strcoll = ks->hard && !o->bytes && !o->format.json && has_collation_rules() &&
		      o->format.kind != SP_REC_FIXED;
	ks->pub.checks = o->format.json;
	read_ctype(&ks->ctab);
	read_numeric(&ks->numfmt);
	ks->nkeys = o->nkeys ? o->nkeys : 1;
	for (size_t i = 0; i < o->nkeys; i++) {
		compile_key(ks, &ks->comp[i], &o->keys[i]);
		ks->pub.checks |= o->keys[i].checked != NULL;
	}
	if (!o->nkeys)
		whole_record_key(ks, o->reverse);
	ks->comp[ks->nkeys - 1].last = true;
	choose_form(ks);
	ks->pub.last_resort = o->nkeys && !o->stable && !o->unique && !ks->pub.exact;
	ks->pub.last_reverse = o->reverse;
	ks->pub.last_collated = ks->strcoll;
	ks->comp[0].cased = is_cased(ks);
	ks->comp[0].ascii = sp__fold_ascii(ks->ctab.fold);
	ks->pub.exact |= ks->comp[0].cased;
	sp__encode_choose(ks);
}

/* Collects the paths of keys. */
static int compile_paths(struct sp_keyset *ks, struct sp_errinfo *err)
{
	const char *rest;
	int rc = sp__json_paths_new(&ks->json);

	for (size_t i = 0; i < ks->nkeys && !rc; i++)
		if (ks->comp[i].key.path)
			rc = sp__json_paths_add(ks->json, ks->comp[i].key.path, ":",
						&ks->comp[i].path, &rest, err);
	return rc;
}

int sp_keyset_new(struct sp_keyset **keyset, const struct sp_keyset_opts *opts,
		  struct sp_errinfo *err)
{
	size_t n = opts->nkeys ? opts->nkeys : 1, bytes;
	struct sp_keyset *ks = NULL;
	int rc = check(opts, err);

	if (rc)
		return rc;
	if (!__builtin_mul_overflow(n, sizeof(ks->comp[0]), &bytes) &&
	    !__builtin_add_overflow(bytes, sizeof(*ks), &bytes))
		ks = calloc(1, bytes);
	if (!ks)
		return sp__err(err, -ENOMEM, "key", NULL, -1);
	set_up(ks, opts);
	if (opts->format.json && opts->nkeys)
		rc = compile_paths(ks, err);
	if (!rc && is_random(ks))
		rc = salt(ks, opts->random_salt, err);
	for (size_t i = 0; i < ks->nkeys && !rc && !ks->month[0].name; i++)
		if (ks->comp[i].key.type == SP_KEY_MONTH)
			rc = sp__month_init(ks);
	if (!rc &&
	    (ks->pub.form == SP__KEY_COLLATED || (ks->pub.last_resort && ks->pub.last_collated)))
		rc = sp__collate_new(&ks->collate);
	if (rc) {
		sp_keyset_free(ks);
		return sp__err(err, rc, "key", NULL, -1);
	}
	*keyset = ks;
	return 0;
}

void sp_keyset_free(struct sp_keyset *ks)
{
	if (!ks)
		return;
	sp__month_fini(ks);
	if (ks->collate)
		sp__collate_free(ks->collate);
	sp__json_paths_free(ks->json);
	free(ks);
}

struct sp_keyset *sp__keyset_behind(const struct sp_keyset *ks, size_t skip)
{
	size_t bytes = sizeof(*ks) + ks->nkeys * sizeof(ks->comp[0]);
	struct sp_keyset *behind = malloc(bytes);

	if (!behind)
		return NULL;
	memcpy(behind, ks, bytes);
	behind->pub.skip = skip;
	behind->pub.whole = behind->pub.exact = behind->pub.last_resort = false;
	if (ks->pub.format.kind == SP_REC_FIXED)
		behind->pub.format.fixed_bytes += skip;
	return behind;
}

int sp__key_separator(const struct sp_keyset *ks)
{
	return ks->separator;
}

void sp__key_expect(const struct sp_keyset *ks, uint64_t bytes)
{
	if (ks->pub.form == SP__KEY_COLLATED)
		sp__collate_expect(ks->collate, bytes);
}

uint64_t sp__keyset_locale(const struct sp_keyset *ks)
{
	uint64_t sums[14] = { sp__checksum(&ks->ctab, sizeof(ks->ctab)) };

	if (ks->pub.format.kind == SP_REC_FIXED)
		return 0;
	for (size_t i = 0; i < ks->nkeys; i++)
		if (ks->comp[i].key.type == SP_KEY_NUMERIC ||
		    ks->comp[i].key.type == SP_KEY_HUMAN || ks->comp[i].key.type == SP_KEY_GENERAL)
			sums[1] = sp__checksum(&ks->numfmt, sizeof(ks->numfmt));
	for (size_t i = 0; ks->month[0].name && i < 12; i++)
		sums[2 + i] = sp__checksum(ks->month[i].name, strlen(ks->month[i].name)) +
			      ks->month[i].number;
	return sp__checksum(sums, sizeof(sums));
}

static uint64_t sum_of_key(const struct sp_key *k)
{
	const uint64_t all[] = { k->sword,
				 k->schar,
				 k->eword,
				 k->echar,
				 k->offset,
				 k->length,
				 k->type,
				 k->ignore,
				 k->fold,
				 k->reverse,
				 k->letters,
				 k->big_endian,
				 k->skip_start_blanks,
				 k->skip_end_blanks,
				 k->path ? sp__checksum(k->path, strlen(k->path)) : 0 };

	return sp__checksum(all, sizeof(all));
}

/* Computes a checksum of the locale, since another table of the same name can be another order. */
static uint64_t sum_of_locale(void)
{
	const char *const parts[] = { setlocale(LC_COLLATE, NULL), setlocale(LC_CTYPE, NULL),
				      nl_langinfo(_NL_IDENTIFICATION_REVISION),
				      nl_langinfo(_NL_IDENTIFICATION_DATE),
				      gnu_get_libc_version() };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		sum = sum * 31 + (parts[i] ? sp__checksum(parts[i], strlen(parts[i])) : 0);
	return sum;
}

uint64_t sp__keyset_identity(const struct sp_keyset *ks)
{
	const struct sp__keyset *p = &ks->pub;
	uint64_t sum = sum_of_locale();
	const uint64_t all[] = { p->format.kind,
				 (unsigned char)p->format.eol,
				 (unsigned char)p->format.separator,
				 p->format.fixed_bytes,
				 p->form,
				 p->descending,
				 p->last_resort,
				 p->last_reverse,
				 p->last_collated,
				 (uint64_t)ks->separator,
				 ks->hard,
				 ks->strcoll,
				 sp__keyset_locale(ks) };

	sum = sum * 31 + sp__checksum(all, sizeof(all));
	for (size_t i = 0; i < ks->nkeys; i++) {
		sum = sum * 31 + sum_of_key(&ks->comp[i].key);
		if (ks->comp[i].key.type == SP_KEY_RANDOM)
			sum = sum * 31 + sp__checksum(&ks->salted, sizeof(ks->salted));
	}
	return sum;
}

void sp__key_slice(const struct sp_keyset *ks, const char *rec, size_t bytes, const char **key,
		   size_t *key_bytes)
{
	const struct sp_key *k = &ks->comp[0].key;
	const char *end;

	rec += ks->pub.skip;
	bytes -= ks->pub.skip;
	if (ks->pub.whole) {
		*key = rec;
		*key_bytes = bytes;
	} else if (ks->pub.format.kind == SP_REC_FIXED) {
		*key = rec + k->offset;
		*key_bytes = k->length;
	} else {
		sp__field_extent(ks, k, rec, bytes, key, &end);
		*key_bytes = (size_t)(end - *key);
	}
}

bool sp__key_has_value(const struct sp_keyset *ks, const char *s, size_t n)
{
	long double value;
	const char *end;

	switch (ks->comp[0].key.type) {
	case SP_KEY_NUMERIC:
	case SP_KEY_HUMAN:
		return sp__number_found(ks, s, s + n);
	case SP_KEY_GENERAL:
		return sp__general_value(s, n, &value) > 0;
	case SP_KEY_MONTH:
		return sp__month_of(ks, s, s + n, &end) > 0;
	default:
		return true;
	}
}

/* True if the text is reduced to the part read as a number or a month. */
static bool is_reduced(const struct sp_key *k)
{
	return k->type == SP_KEY_MONTH || k->type == SP_KEY_GENERAL || k->type == SP_KEY_NUMERIC ||
	       k->type == SP_KEY_HUMAN;
}

/* Reduces the text to the part read as a number or a month. */
static const char *tighten(const struct sp_keyset *ks, const struct sp_key *k, const char **text,
			   const char *lim)
{
	const char *s = sp__skip_blanks(ks, *text, lim), *end = s;
	long double value;
	char largest;

	switch (k->type) {
	case SP_KEY_MONTH:
		sp__month_of(ks, s, lim, &end);
		break;
	case SP_KEY_GENERAL:
		end += sp__general_value(s, (size_t)(lim - s), &value);
		break;
	case SP_KEY_NUMERIC:
	case SP_KEY_HUMAN:
		end = sp__human_digits(ks, s + (s < lim && *s == '-'), lim, &largest);
		if (!largest)
			end = s;
		else if (k->type == SP_KEY_HUMAN && end < lim && sp__human_unit(*end))
			end++;
		break;
	default:
		return lim;
	}
	*text = s;
	return end;
}

/* Finds a value as it is written. */
static void json_extent(const struct sp_keyset *ks, size_t n, const char *rec, size_t bytes,
			const char **s, const char **lim)
{
	struct sp__json_value values[SP__JSON_KEYS];
	const struct sp__json_value *v = &values[ks->comp[n].path];
	struct sp__json_error unused;

	*s = *lim = rec + bytes;
	if (sp__json_find(ks->json, rec, bytes, SP__JSON_CHECK_FOUND, values, &unused) || !v->kind)
		return;
	*s = v->p;
	*lim = v->p + v->n;
}

void sp_keyset_extent(const struct sp_keyset *ks, size_t n, const char *rec, size_t bytes,
		      size_t *begin, size_t *end)
{
	const struct sp_key *k = &ks->comp[n].key;
	const char *s = rec, *lim = rec + bytes;

	if (ks->pub.format.kind == SP_REC_FIXED) {
		s = rec + k->offset;
		lim = s + k->length;
	} else if (ks->json) {
		json_extent(ks, n, rec, bytes, &s, &lim);
	} else if (ks->pub.format.kind == SP_REC_LINE) {
		sp__field_extent(ks, k, rec, bytes, &s, &lim);
		/* GNU sort shows a number or month that ends before it begins behind blanks. */
		if (is_reduced(k) && sp__field_crosses(ks, k, rec, bytes))
			s = lim = sp__skip_blanks(ks, s, rec + bytes);
		else
			lim = tighten(ks, k, &s, lim);
	}
	*begin = (size_t)(s - rec);
	*end = (size_t)(lim - rec);
}
