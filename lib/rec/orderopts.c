/* SPDX-License-Identifier: MIT */
/*
 * Processes options that decide order and format, one by one; parses key specifications of GNU
 * sort: -k POS1[,POS2], +POS1 [-POS2], and the ordering letters.  Messages and conditions of errors
 * are GNU sort's if it has the option.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/order.h>
#include <spindle/rec.h>
#include "base/array.h"
#include "base/enum.h"
#include "base/err.h"
#include "rec/jsonread.h"

/*
 * Key specifications: accepted input, and the messages for other input, are a contract.  Leading
 * white space and a plus sign before a number are accepted.  A number too large counts as SIZE_MAX,
 * and is then decremented like any other.
 */

/* In the order in which GNU sort names several of them; then Spindle's own. */
static const char letters[] = "bdfghiMnRrVeE";
/* These go with every type. */
static const char any_type[] = "breE";

struct spec {
	const char *text;
	struct sp_errinfo *err;
};

static unsigned bit(char letter)
{
	const char *p = letter ? strchr(letters, letter) : NULL;

	return p ? 1u << (p - letters) : 0;
}

bool sp_key_has_letter(const struct sp_key *key, char letter)
{
	unsigned set = key->letters;

	if (set & bit('d'))
		set &= ~bit('i');
	return set & bit(letter);
}

static enum sp_key_type type_of(const struct sp_key *key)
{
	static const struct {
		char letter;
		enum sp_key_type type;
	} rank[] = {
		{ 'n', SP_KEY_NUMERIC }, { 'g', SP_KEY_GENERAL }, { 'h', SP_KEY_HUMAN },
		{ 'M', SP_KEY_MONTH },	 { 'R', SP_KEY_RANDOM },  { 'V', SP_KEY_VERSION },
	};

	for (size_t i = 0; i < sizeof(rank) / sizeof(rank[0]); i++)
		if (key->letters & bit(rank[i].letter))
			return rank[i].type;
	return SP_KEY_TEXT;
}

bool sp_key_letter(struct sp_key *key, char letter, enum sp_key_end end)
{
	if (!bit(letter))
		return false;
	key->letters |= bit(letter);
	if (letter == 'b') {
		key->skip_start_blanks |= end != SP_KEY_END;
		key->skip_end_blanks |= end != SP_KEY_START;
	}
	key->fold = key->letters & bit('f');
	key->reverse = key->letters & bit('r');
	key->type = type_of(key);
	if (sp_key_has_letter(key, 'd'))
		key->ignore = SP_IGNORE_NONDICT;
	else if (sp_key_has_letter(key, 'i'))
		key->ignore = SP_IGNORE_NONPRINT;
	key->empty = key->letters & bit('E')   ? SP_EMPTY_LAST
		     : key->letters & bit('e') ? SP_EMPTY_FIRST
					       : SP_EMPTY_ORDERED;
	return true;
}

void sp_key_inherit(struct sp_key *key, const struct sp_key *global)
{
	if (key->letters)
		return;
	key->letters = global->letters;
	key->skip_start_blanks = global->skip_start_blanks;
	key->skip_end_blanks = global->skip_end_blanks;
	key->type = global->type;
	key->ignore = global->ignore;
	key->empty = global->empty;
	key->fold = global->fold;
	key->reverse = global->reverse;
}

int sp_key_check(const struct sp_key *key, struct sp_errinfo *err)
{
	static const char *const classes[] = { "n", "g", "h", "M", "VRdi" };
	char given[sizeof(letters)], *p = given;
	int count = 0;

	if (sp_key_has_letter(key, 'e') && sp_key_has_letter(key, 'E'))
		return sp__invalid(err, NULL, "options '-eE' are incompatible");
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		for (const char *c = classes[i]; *c; c++)
			if (sp_key_has_letter(key, *c)) {
				count++;
				break;
			}
	if (count <= 1)
		return 0;
	for (const char *c = letters; *c; c++)
		if (!strchr(any_type, *c) && sp_key_has_letter(key, *c))
			*p++ = *c;
	*p = '\0';
	return sp__invalid(err, NULL, "options '-%s' are incompatible", given);
}

static const char *take_letters(const char *p, struct sp_key *key, enum sp_key_end end)
{
	while (sp_key_letter(key, *p, end))
		p++;
	return p;
}

static bool space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads a count; NULL if there is none. */
static const char *take_number(const char *p, size_t *value)
{
	size_t v = 0;
	bool over = false;

	while (space(*p))
		p++;
	if (*p == '+')
		p++;
	if (*p < '0' || *p > '9')
		return NULL;
	for (; *p >= '0' && *p <= '9'; p++)
		over |= __builtin_mul_overflow(v, (size_t)10, &v) ||
			__builtin_add_overflow(v, (size_t)(*p - '0'), &v);
	*value = over ? SIZE_MAX : v;
	return p;
}

static const char *need_number(const struct spec *s, const char *p, size_t *value,
			       const char *place)
{
	const char *rest = take_number(p, value);

	if (!rest)
		sp__invalid(s->err, p, "invalid number %s: invalid count at start of", place);
	return rest;
}

static int bad_spec(const struct spec *s, const char *what)
{
	return sp__invalid(s->err, s->text, "%s: invalid field specification", what);
}

/*
 * Parses the end of a key: POS2, or in the obsolescent form, whose fields count from 0, after a
 * '-'.
 */
static int parse_end(const struct spec *s, const char *p, bool obsolete, struct sp_key *key)
{
	p = need_number(s, p, &key->eword, obsolete ? "after '-'" : "after ','");
	if (!p)
		return -EINVAL;
	if (!obsolete && !key->eword--)
		return bad_spec(s, "field number is zero");
	if (*p == '.') {
		p = need_number(s, p + 1, &key->echar, "after '.'");
		if (!p)
			return -EINVAL;
	}
	/* Without characters, -N ends the key after the last whole field. */
	if (obsolete && !key->echar && key->eword)
		key->eword--;
	p = take_letters(p, key, SP_KEY_END);
	return *p ? bad_spec(s, "stray character in field spec") : 0;
}

int sp_key_parse(const char *text, struct sp_key *key, struct sp_errinfo *err)
{
	const struct spec s = { text, err };
	const char *p;
	int rc = 0;

	*key = (struct sp_key)SP_KEY_INIT;
	p = need_number(&s, text, &key->sword, "at field start");
	if (!p)
		return -EINVAL;
	if (!key->sword--)
		return bad_spec(&s, "field number is zero");
	if (*p == '.') {
		p = need_number(&s, p + 1, &key->schar, "after '.'");
		if (!p)
			return -EINVAL;
		if (!key->schar--)
			return bad_spec(&s, "character offset is zero");
	}
	p = take_letters(p, key, SP_KEY_START);
	if (*p == ',')
		rc = parse_end(&s, p + 1, false, key);
	else if (*p)
		rc = bad_spec(&s, "stray character in field spec");
	return rc;
}

int sp_key_parse_obsolete(const char *plus, const char *minus, struct sp_key *key,
			  struct sp_errinfo *err)
{
	const struct spec s = { minus, err };
	const char *p;
	int rc = 0;

	*key = (struct sp_key)SP_KEY_INIT;
	p = take_number(plus + 1, &key->sword);
	if (p && *p == '.')
		p = take_number(p + 1, &key->schar);
	if (!p || *take_letters(p, key, SP_KEY_START))
		return 1;
	if (minus)
		rc = parse_end(&s, minus + 1, true, key);
	return rc;
}

int sp_key_parse_path(const char *text, struct sp_key *key, struct sp_errinfo *err)
{
	struct sp__json_paths *paths;
	const char *rest = text;
	size_t number;
	int rc = sp__json_paths_new(&paths);

	*key = (struct sp_key)SP_KEY_INIT;
	key->path = text;
	if (!rc)
		rc = sp__json_paths_add(paths, text, ":", &number, &rest, err);
	sp__json_paths_free(paths);
	if (rc)
		return rc == -ENOMEM ? sp__err(err, rc, "allocate", NULL, -1) : rc;
	if (*rest == ':')
		rest = take_letters(rest + 1, key, SP_KEY_BOTH);
	return *rest ? sp__invalid(err, text, "stray character behind the path of a key:") : 0;
}

SP__ENUM_TABLE(sp_order_sort, { "general-numeric", 'g' }, { "human-numeric", 'h' },
	       { "month", 'M' }, { "numeric", 'n' }, { "random", 'R' }, { "version", 'V' })

void sp_order_release(struct sp_order *order)
{
	free(order->keys);
	free(order->bkeys);
	order->keys = NULL;
	order->bkeys = NULL;
	order->nkeys = order->nbkeys = 0;
}

static int add(struct sp_order *o, const struct sp_order_key *key, struct sp_errinfo *err)
{
	if (!SP__ARRAY_GROW_BY_ONE(o->keys, o->nkeys))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	o->keys[o->nkeys++] = *key;
	return 0;
}

/* True of a key that GNU sort would refuse, and that is a path. */
static bool is_path(const char *text)
{
	return text[0] == '.' && !isdigit((unsigned char)text[1]);
}

int sp_order_set_key(struct sp_order_key *key, const char *text, struct sp_errinfo *err)
{
	key->name = NULL;
	if (is_path(text))
		return sp_key_parse_path(text, &key->spec, err);
	return sp_key_parse(text, &key->spec, err);
}

int sp_order_add_key(struct sp_order *order, const char *text, struct sp_errinfo *err)
{
	struct sp_order_key key = { .spec = SP_KEY_INIT };
	int rc = sp_order_set_key(&key, text, err);

	return rc ? rc : add(order, &key, err);
}

int sp_order_add_name(struct sp_order *order, const char *name, struct sp_errinfo *err)
{
	const struct sp_order_key key = { .spec = SP_KEY_INIT, .name = name };

	return add(order, &key, err);
}

int sp_order_add_obsolescent(struct sp_order *order, const char *plus, const char *minus,
			     struct sp_errinfo *err)
{
	struct sp_order_key key = { .obsolescent = true };
	int rc = sp_key_parse_obsolete(plus, minus, &key.spec, err);

	return rc ? rc : add(order, &key, err);
}

int sp_order_set_separator(struct sp_order *order, const char *text, struct sp_errinfo *err)
{
	int c = (unsigned char)text[0];

	if (!c)
		return sp__invalid(err, NULL, "empty tab");
	if (text[1] && strcmp(text, "\\0") != 0)
		return sp__invalid(err, text, "multi-character tab");
	if (text[1])
		c = '\0';
	if (order->separator != -1 && order->separator != c)
		return sp__invalid(err, NULL, "incompatible tabs");
	order->separator = c;
	return 0;
}

int sp_order_add_bkey(struct sp_order *order, const char *text, struct sp_errinfo *err)
{
	struct sp_key key = SP_KEY_INIT;
	int rc = sp_bkey_parse(text, &key, err);

	if (rc)
		return rc;
	if (!SP__ARRAY_GROW_BY_ONE(order->bkeys, order->nbkeys))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	order->bkeys[order->nbkeys++] = key;
	return 0;
}

int sp_order_set_header(struct sp_order *order, const char *text)
{
	const char *p = text ? text : "1";
	uint64_t n = 0;

	while (isspace((unsigned char)*p))
		p++;
	p += *p == '+' && isdigit((unsigned char)p[1]);
	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return -EINVAL;
	if (*p && strcmp(p, ",first") != 0)
		return -EINVAL;
	order->header_records = n;
	order->header_first = *p;
	return 0;
}

bool sp_order_is_default(const struct sp_key *global)
{
	for (const char *c = "bdfghiMnRV"; *c; c++)
		if (sp_key_has_letter(global, *c))
			return false;
	return true;
}

bool sp_order_has_letter(const struct sp_order *order, char letter)
{
	bool has = false;

	for (size_t i = 0; i < order->nkeys; i++)
		has |= sp_key_has_letter(&order->keys[i].spec, letter);
	return has;
}

int sp_order_finish(struct sp_order *order, struct sp_errinfo *err)
{
	struct sp_order_key whole = { .spec = order->global };
	int rc = 0;

	if (order->strict && !order->json)
		return sp__invalid(err, NULL, "--strict needs --json");
	whole.spec.path = order->json ? "." : NULL;
	for (size_t i = 0; i < order->nkeys; i++)
		if (!order->keys[i].spec.path != !order->json)
			return order->json ? sp__invalid(err, NULL,
							 "with --json a key is a path, such as "
							 "-k .user.id")
					   : sp__invalid(err, order->keys[i].spec.path,
							 "a path needs --json:");

	for (size_t i = 0; i < order->nkeys; i++)
		sp_key_inherit(&order->keys[i].spec, &order->global);
	if (!order->nkeys && (order->json || !sp_order_is_default(&order->global))) {
		order->global_only = true;
		rc = add(order, &whole, err);
	}
	for (size_t i = 0; !rc && i < order->nkeys; i++)
		rc = sp_key_check(&order->keys[i].spec, err);
	return rc;
}

bool sp_order_conflict(const struct sp_order *o, const char **a, const char **b)
{
	static const char fixed[] = "--record-size";
	const struct {
		bool given;
		const char *a, *b;
	} pairs[] = {
		{ o->record_bytes && o->csv, "--csv", fixed },
		{ o->record_bytes && o->nkeys && !o->global_only, "-k", fixed },
		{ o->record_bytes && o->separator != -1, "-t", fixed },
		{ o->record_bytes && !o->eol, "-z", fixed },
		{ o->csv && !o->eol, "--csv", "-z" },
		{ o->json && o->csv, "--json", "--csv" },
		{ o->json && o->record_bytes, "--json", fixed },
		{ o->json && o->separator != -1, "--json", "-t" },
		{ o->json && !o->eol, "--json", "-z" },
		{ o->json && o->header_records, "--json", "--header" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (!pairs[i].given)
			continue;
		*a = pairs[i].a;
		*b = pairs[i].b;
		return true;
	}
	return false;
}

struct sp_recfmt sp_order_format(const struct sp_order *o)
{
	if (o->record_bytes)
		return (struct sp_recfmt){ .kind = SP_REC_FIXED, .fixed_bytes = o->record_bytes };
	if (o->csv)
		return (struct sp_recfmt){ .kind = SP_REC_CSV,
					   .eol = o->eol,
					   .separator = (char)(o->separator == -1 ? ','
										  : o->separator) };
	return (struct sp_recfmt){ .kind = SP_REC_LINE,
				   .eol = o->eol,
				   .json = o->json,
				   .array = o->array,
				   .strict = o->strict };
}

int sp_order_keyset(struct sp_keyset **keyset, const struct sp_order *o, const unsigned char *salt,
		    struct sp_errinfo *err)
{
	struct sp_key *keys = calloc(o->nkeys + 1, sizeof(*keys));
	struct sp_keyset_opts opts = {
		.format = sp_order_format(o),
		.keys = o->nbkeys ? o->bkeys : keys,
		.nkeys = o->nbkeys ? o->nbkeys : o->nkeys,
		.separator = o->csv && o->separator == -1 ? ',' : o->separator,
		.reverse = sp_key_has_letter(&o->global, 'r'),
		.stable = o->stable,
		.unique = o->unique,
		.random_salt = salt,
	};
	int rc;

	if (!keys)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < o->nkeys; i++)
		keys[i] = o->keys[i].spec;
	rc = sp_keyset_new(keyset, &opts, err);
	free(keys);
	return rc;
}
