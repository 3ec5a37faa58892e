/* SPDX-License-Identifier: MIT */
/*
 * Keys from the command line: a key without its own letters inherits all
 * global ones; global letters without a key make one key that spans the record.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "columns.h"
#include "msg.h"
#include "quote.h"
#include "xsort.h"

void incompatible(const char *letters)
{
	die("options '-%s' are incompatible", letters);
}

bool order_is_default(const struct sp_key *key)
{
	for (const char *c = ORDER_LETTERS; *c; c++)
		if (*c != 'r' && sp_key_has_letter(key, *c))
			return false;
	return true;
}

static void add(struct settings *set, const struct sp_key *key, bool obsolescent)
{
	set->keys = must_alloc(set->keys, set->nkeys + 1, sizeof(*set->keys));
	set->keys[set->nkeys++] = (struct key){ .spec = *key, .obsolescent = obsolescent };
}

static _Noreturn void bad_key(const struct sp_errinfo *err, const char *where)
{
	if (err->code == -ENOMEM)
		die("memory exhausted");
	die("%s %s", err->text, quote(where));
}

void order_set_key(struct key *key, const char *text, const char *named)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *where = text;
	bool inherits;

	if (sp_key_parse(text, &key->spec, &inherits, &where, &err))
		bad_key(&err, named ? named : where);
	key->name = NULL;
}

/* What is no number may be the name of a column; the header tells. */
void order_add_key(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;
	struct sp_key key = SP_KEY_INIT;

	(void)option;
	add(set, &key, false);
	if (columns_is_name(text) && strcmp(msg_program(), "sort") != 0)
		set->keys[set->nkeys - 1].name = text;
	else
		order_set_key(&set->keys[set->nkeys - 1], text, NULL);
}

bool order_add_obsolescent(struct settings *set, const char *begin, const char *end)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *where = end;
	struct sp_key key;
	bool inherits;
	int rc = sp_key_parse_obsolete(begin, end, &key, &inherits, &where, &err);

	if (rc < 0)
		bad_key(&err, where);
	if (rc == 0)
		add(set, &key, true);
	return rc == 0;
}

void order_finish(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	size_t i;

	for (i = 0; i < set->nkeys; i++)
		sp_key_inherit(&set->keys[i].spec, &set->global);
	if (!set->nkeys && !order_is_default(&set->global)) {
		set->global_only = true;
		add(set, &set->global, false);
	}
	for (i = 0; i < set->nkeys; i++)
		if (sp_key_check(&set->keys[i].spec, &err))
			die("%s", err.text);
}

static void read_salt_file(struct settings *set)
{
	int fd = open(set->random_source, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		die_sys(errno, "open failed: %s", quote_file(set->random_source));
	for (; have < sizeof(set->salt); have += (size_t)n) {
		n = read(fd, set->salt + have, sizeof(set->salt) - have);
		if (n < 0)
			die_sys(errno, "%s: read error", quote(set->random_source));
		if (n == 0)
			die("%s: end of file", quote(set->random_source));
	}
	close(fd);
}

/* Two rounds of splitmix64: -R under --seed is the same on every machine. */
static void salt_from_seed(struct settings *set)
{
	uint64_t state = set->opts.run.seed, z;

	for (size_t i = 0; i < sizeof(set->salt); i += sizeof(z)) {
		state += 0x9e3779b97f4a7c15u;
		z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		z ^= z >> 31;
		for (size_t k = 0; k < sizeof(z); k++)
			set->salt[i + k] = (unsigned char)(z >> 8 * k);
	}
}

void order_read_salt(struct settings *set)
{
	bool needed = false;

	for (size_t i = 0; i < set->nkeys; i++)
		needed |= sp_key_has_letter(&set->keys[i].spec, 'R');
	if (!needed)
		return;
	if (set->random_source)
		read_salt_file(set);
	else if (set->common.seeded)
		salt_from_seed(set);
	else if (getrandom(set->salt, sizeof(set->salt), 0) != sizeof(set->salt))
		die_sys(errno, "getrandom");
}

struct sp_keyset *order_compile(const struct settings *set, struct sp_recfmt format)
{
	struct sp_key *keys = must_alloc(NULL, set->nkeys, sizeof(*keys));
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_keyset_opts opts = {
		.format = format,
		.keys = set->nbkeys ? set->bkeys : keys,
		.nkeys = set->nbkeys ? set->nbkeys : set->nkeys,
		.separator = set->separator,
		.reverse = sp_key_has_letter(&set->global, 'r'),
		.stable = set->stable,
		.unique = set->unique,
		.random_salt = set->salt,
	};
	struct sp_keyset *keyset;
	int rc;

	for (size_t i = 0; i < set->nkeys; i++)
		keys[i] = set->keys[i].spec;
	rc = sp_keyset_new(&keyset, &opts, &err);
	free(keys);
	if (rc == -ENOMEM)
		die("memory exhausted");
	if (rc)
		die("%s", err.text[0] ? err.text : sp_strerror(rc));
	return keyset;
}
