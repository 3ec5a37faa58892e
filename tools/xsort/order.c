/* SPDX-License-Identifier: MIT */
/*
 * Reads order and format from the command line by the library (spindle/order.h); errors end the
 * program.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "columns.h"
#include "xsort.h"

/*
 * Resolves keys that name a column of the header: NAME[:OPTS] becomes the key FIELD,FIELD with
 * these options.
 */

static void set_key(struct sp_order_key *key, const struct sp_columns *columns)
{
	char *text = columns_key(columns, key->name);

	order_set_key(key, text, key->name);
	free(text);
}

/* Reads the first header; removes the empty inputs before it, which have been read. */
static void read_header(struct settings *set, struct sp_columns *columns)
{
	size_t i = 0;

	columns_read(columns);
	while (columns->empty && !set->order.header_first && ++i < set->nfiles) {
		sp_columns_close(columns);
		columns->input = set->files[i];
		columns_read(columns);
	}
	if (columns->empty)
		columns->input = set->files[0];
	else
		memmove(set->files, set->files + i, (set->nfiles -= i) * sizeof(*set->files));
}

void names_resolve(struct settings *set)
{
	struct sp_columns *columns = &set->columns;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	/* lines can begin with a comment; the header of CSV has all columns */
	bool looked_at = set->infer || set->where || (set->order.csv && set->order.header_records);

	*columns = (struct sp_columns){
		.input = set->files[0],
		.csv = set->order.csv,
		.separator =
			set->order.csv && set->order.separator == -1 ? ',' : set->order.separator,
		.eol = set->order.eol,
		.header_records = set->order.header_records,
		.decompress = set->opts.run.decompress,
		.sample_max = set->infer ? INFER_BYTES : 0,
	};
	for (size_t i = 0; i < set->order.nkeys; i++)
		looked_at |= set->order.keys[i].name != NULL;
	if ((!set->order.nkeys && !set->where) || !looked_at)
		return;
	for (size_t i = 0; !set->order.header_records && i < set->order.nkeys; i++) {
		if (set->order.keys[i].name && set->order.json)
			die("-k %s: with --json a key is a path, such as .user.id",
			    quote(set->order.keys[i].name));
		if (set->order.keys[i].name)
			die("-k %s: to name columns, add --header", quote(set->order.keys[i].name));
	}
	if (set->order.record_bytes)
		die("records of a fixed length have no columns with names");
	if (!set->order.header_records)
		return;
	files_check_inputs(set);
	read_header(set, columns);
	if (columns->empty && set->where && set->order.header_first && set->nfiles > 1)
		die("%s: there is no header to name columns of --where",
		    quote_file(columns->input));
	for (size_t i = 0; i < set->order.nkeys; i++) {
		if (set->order.keys[i].name)
			set_key(&set->order.keys[i], columns);
		else if (sp_columns_check(columns, set->order.keys[i].spec.sword + 1, &err))
			columns_failed(&err);
	}
	set->header_taken =
		(struct sp_batch){ .data = columns->taken, .bytes = columns->taken_bytes };
	columns->taken = NULL;
	if (!set->infer && !set->where)
		sp_columns_close(columns);
}

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
