/* SPDX-License-Identifier: MIT */
/* Locating keys in sorted files: the offset is that of a search record by record. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/rng.h"
#include "keysets.h"
#include "sort/merge/cut.h"
#include "tap.h"

#define RECORDS_MAX 4000

static struct sp__rng rng = { 11 };

struct text {
	char *data;
	size_t bytes;
	size_t starts[RECORDS_MAX + 1];
	unsigned n;
};

/* Sorted lines; now and then one is longer than several windows.  Keys repeat. */
static void make_text(struct text *t, unsigned n, bool long_ones, bool ended)
{
	unsigned key = 0;

	t->data = malloc((size_t)n * 64 + (long_ones ? (size_t)n / 50 * 40000 + 40000 : 0) + 64);
	t->bytes = 0;
	t->n = n;
	for (unsigned i = 0; i < n; i++) {
		size_t more = long_ones && i % 50 == 7 ? sp__rng_below(&rng, 40000)
						       : sp__rng_below(&rng, 50);

		key += sp__rng_below(&rng, 3) ? 0 : (unsigned)sp__rng_below(&rng, 9);
		t->starts[i] = t->bytes;
		t->bytes += (size_t)sprintf(t->data + t->bytes, "%08u ", key);
		memset(t->data + t->bytes, 'x', more);
		t->bytes += more;
		t->data[t->bytes++] = '\n';
	}
	t->bytes -= !ended && n;
	t->starts[n] = t->bytes;
}

static int file_of(const struct text *t)
{
	char path[] = "/tmp/filecutXXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) || write(fd, t->data, t->bytes) != (ssize_t)t->bytes)
		abort();
	return fd;
}

/* The key ends at the space, so records with one key are equal. */
static size_t want(const struct text *t, const char *key, size_t bytes)
{
	unsigned i = 0;

	while (i < t->n && memcmp(t->data + t->starts[i], key, bytes) < 0)
		i++;
	return t->starts[i];
}

static const struct order text_order = { "field 1", { "1,1" }, "", NULL };
static const struct order number_order = { "numbers", { "1,1n" }, "", NULL };

/* True if the record at an offset is the first one with its key. */
static bool starts_group(const struct text *t, uint64_t at)
{
	unsigned r = 0;

	while (r < t->n && t->starts[r] != at)
		r++;
	return r < t->n &&
	       (!r || memcmp(t->data + t->starts[r - 1], t->data + t->starts[r], 8) != 0);
}

/* Searches the keys of records at random offsets; returns how many were not found. */
static unsigned search(struct sp__finder *finder, const struct sp__cut_file *f,
		       const struct text *t, bool numbers, unsigned *found)
{
	unsigned wrong = 0;
	char copy[128];

	for (unsigned i = 0; i < 200; i++) {
		const void *key;
		size_t bytes;
		uint64_t at = 0;
		int rc = sp__finder_sample(finder, f, sp__rng_below(&rng, t->bytes + 2), &key,
					   &bytes);

		wrong += rc < 0;
		if (rc <= 0)
			continue;
		(*found)++;
		memcpy(copy, key, bytes);
		rc = sp__finder_find(finder, f, copy, bytes, sp__rng_below(&rng, t->bytes + 9),
				     &at);
		wrong += rc || (numbers ? !starts_group(t, at) : at != want(t, copy, bytes));
	}
	return wrong;
}

static void try(unsigned round)
{
	const bool numbers = round % 3 == 2;
	struct sp_keyset *ks = order_open(numbers ? &number_order : &text_order);
	unsigned n = round ? 1 + (unsigned)sp__rng_below(&rng, RECORDS_MAX) : 0, found = 0, wrong;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__finder finder;
	struct sp__cut_file f;
	struct text t;

	make_text(&t, n, round % 2, round % 4 < 2);
	if (sp__cut_file_describe(&f, &sp__ks(ks)->format, "a file", file_of(&t), &err) != 1 ||
	    sp__finder_open(&finder, ks, &err))
		abort();
	wrong = search(&finder, &f, &t, numbers, &found);
	ok(!wrong && (found || n < 50), "%u records: %u keys are found where they are", n, found);
	ok(f.unended == (n && round % 4 >= 2) && !sp__cut_file_check(&f, &err),
	   "the end of the file is known");
	if (pwrite(f.fd, "0\n", 2, (off_t)t.bytes) == 2)
		ok(!sp__cut_file_check(&f, &err), "a file can grow");
	if (n && !ftruncate(f.fd, (off_t)t.bytes - 1))
		ok(sp__cut_file_check(&f, &err) == SP_EFORMAT, "a file that is cut is an error");
	sp__finder_release(&finder);
	sp_keyset_free(ks);
	close(f.fd);
	free(t.data);
}

int main(void)
{
	for (unsigned round = 0; round < 12; round++)
		try(round);
	return done();
}
