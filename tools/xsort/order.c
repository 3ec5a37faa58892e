/* SPDX-License-Identifier: MIT */
/*
 * Reads order and format from the command line by the library (spindle/order.h); errors end the
 * program.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "columns.h"
#include "xsort.h"

void incompatible(const char *letters)
{
	die("options '-%s' are incompatible", letters);
}

void order_set_key(struct sp_order_key *key, const char *text, const char *named)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (!sp_order_set_key(key, text, &err))
		return;
	err.where = named;
	die_argument(&err);
}

/* Adds a key; if it does not begin with a number, it is resolved later by the header. */
void order_add_key(void *settings, const char *option, const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct settings *set = settings;
	int rc;

	(void)option;
	if (sp_columns_is_name(text) && strcmp(msg_program(), "sort") != 0)
		rc = sp_order_add_name(&set->order, text, &err);
	else
		rc = sp_order_add_key(&set->order, text, &err);
	if (rc)
		die_argument(&err);
}

bool order_add_obsolescent(struct settings *set, const char *begin, const char *end)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp_order_add_obsolescent(&set->order, begin, end, &err);

	if (rc < 0)
		die_argument(&err);
	return rc == 0;
}

void order_set_separator(void *order, const char *option, const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	(void)option;
	/* GNU sort reports the bytes of one character as several characters */
	if (text[0] & 0x80 && text[1] && strcmp(msg_program(), "sort") != 0)
		die("-t %s: a separator is one byte", quote(text));
	if (sp_order_set_separator(order, text, &err))
		die_argument(&err);
}

void order_finish(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_order_finish(&set->order, &err))
		die_argument(&err);
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

/* Computes the salt by two rounds of splitmix64, so -R with --seed is equal on every machine. */
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
	if (!sp_order_has_letter(&set->order, 'R'))
		return;
	if (set->random_source)
		read_salt_file(set);
	else if (set->common.seeded)
		salt_from_seed(set);
	else if (getrandom(set->salt, sizeof(set->salt), 0) != sizeof(set->salt))
		die_sys(errno, "getrandom");
}

struct sp_keyset *order_compile(const struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_keyset *keyset;
	int rc = sp_order_keyset(&keyset, &set->order, set->salt, &err);

	if (rc == -ENOMEM)
		die("memory exhausted");
	if (rc)
		die_of(rc, &err);
	return keyset;
}
