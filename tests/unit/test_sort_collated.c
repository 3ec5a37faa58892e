/* SPDX-License-Identifier: MIT */
/*
 * Sorting and merging text in the locale's order, where some records have byte
 * keys and others can only be compared by strcoll().
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <spindle/sort.h>
#include "base/rng.h"
#include "rec/collate.h"
#include "sort/tree/merge.h"
#include "tap.h"

#define RECORDS 4000
#define BUFFER_BYTES (1u << 20)
/* Sanitizers end the program rather than fail to allocate. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static const struct sp_recfmt lines = { .kind = SP_REC_LINE, .eol = '\n' };

static const char *in_build(void)
{
	static char path[3][4096];
	const char *build = getenv("SP_BUILD");

	if (getenv("LOCPATH"))
		return getenv("LOCPATH");
	snprintf(path[0], sizeof(path[0]), "%s/locale", build ? build : "build");
	snprintf(path[1], sizeof(path[1]), "%s/../locale", build ? build : "build");
	snprintf(path[2], sizeof(path[2]), "build/locale");
	for (int i = 0; i < 3; i++)
		if (access(path[i], R_OK) == 0)
			return path[i];
	return NULL;
}

static struct sp_keyset *keyset(size_t nkeys, bool stable)
{
	static const struct sp_key first = { .eword = 0, .type = SP_KEY_TEXT };
	struct sp_keyset_opts o = {
		.format = lines, .keys = &first, .nkeys = nkeys, .separator = ' ', .stable = stable
	};
	struct sp_keyset *ks;

	if (sp_keyset_new(&ks, &o, NULL))
		abort();
	return ks;
}

/* Two words, the first from a few; one record in `every` begins with an invalid character. */
static size_t fill(char *text, unsigned every, uint64_t seed)
{
	static const char *const words[] = { "ape", "Ape", "co-op", "coop", "zebra", "Zo\xc3\xab" };
	struct sp__rng rng = { seed };
	size_t n = 0;

	for (unsigned i = 0; i < RECORDS; i++)
		n += (size_t)sprintf(text + n, "%s%s%llu %u\n",
				     every && i % every == 0 ? "\xff" : "",
				     words[sp__rng_below(&rng, 6)],
				     (unsigned long long)sp__rng_below(&rng, 300), i % 7);
	return n;
}

static void load(struct sp__runbuf *rb, const struct sp_keyset *ks, char *mem, const char *text,
		 size_t bytes)
{
	size_t taken;

	sp__runbuf_init(rb, ks);
	sp__runbuf_use(rb, mem, BUFFER_BYTES);
	if (sp__runbuf_add(rb, text, bytes, &taken) || taken != bytes)
		abort();
}

/* In order, and of equal records the earlier first. */
static bool in_order(const struct sp__runbuf *rb)
{
	for (size_t i = 1; i < rb->n; i++) {
		size_t an, bn;
		const char *a = sp__runbuf_record(rb, &rb->entries[i - 1], &an);
		const char *b = sp__runbuf_record(rb, &rb->entries[i], &bn);
		int c = sp_keyset_compare(rb->keys, a, an - 1, b, bn - 1);

		if (c > 0 || (c == 0 && a > b))
			return false;
	}
	return true;
}

static void ordering(char *text, char *mem)
{
	static const unsigned mixes[] = { 0, 1, 2, 3, 100, RECORDS };
	bool right = true, mixed = false;

	for (unsigned k = 0; k < 4; k++)
		for (size_t m = 0; m < sizeof(mixes) / sizeof(mixes[0]); m++) {
			struct sp_keyset *ks = keyset(k / 2, k % 2);
			struct sp__runbuf rb;
			size_t refused = 0, len;

			/* Keys are encoded from the first record on. */
			sp__key_expect(ks, 1u << 30);
			load(&rb, ks, mem, text, fill(text, mixes[m], m));
			for (size_t i = 0; i < rb.n; i++)
				refused += !sp__runbuf_key(&rb, &rb.entries[i], &len);
			mixed |= refused > 0 && refused < rb.n;
			sp__runbuf_sort(&rb);
			right &= rb.n == RECORDS && in_order(&rb);
			sp__runbuf_release(&rb);
			sp_keyset_free(ks);
		}
	ok(mixed, "some records have byte keys and others have not");
	ok(right, "however many have none, records are sorted, and stably");
}

/* Merges two run buffers; counts keys equal to the one before: as reported, and in fact. */
static void merge_two(const struct sp__runbuf *a, const struct sp__runbuf *b, bool plain,
		      size_t *said, size_t *truly, size_t *wrong)
{
	struct sp__budget budget;
	struct sp__merge m;

	*said = *truly = *wrong = 0;
	sp__budget_init(&budget, 1u << 20);
	if (sp__merge_init(&m, a->keys, 2, &budget, NULL))
		abort();
	m.plain = plain;
	sp__cursor_part(&m.cursors[0], a, 0, a->n);
	sp__cursor_part(&m.cursors[1], b, 0, b->n);
	while (sp__merge_next(&m, true) == SP_READY) {
		bool equal = m.prev && !sp__key_compare(a->keys, m.prev, m.prev_bytes - 1, m.rec,
							m.bytes - 1);

		*said += m.equal;
		*truly += equal;
		*wrong += equal != m.equal;
	}
	sp__merge_release(&m);
}

static void merging(char *text, char *mem)
{
	struct sp_keyset *ks = keyset(1, false);
	struct sp__runbuf a, b;
	size_t said, truly, wrong;

	sp__key_expect(ks, 1u << 30);
	load(&a, ks, mem, text, fill(text, 5, 1));
	load(&b, ks, mem + BUFFER_BYTES, text, fill(text, 3, 2));
	sp__runbuf_sort(&a);
	sp__runbuf_sort(&b);
	merge_two(&a, &b, false, &said, &truly, &wrong);
	ok(truly > 100 && !wrong, "a merge without codes tells which keys are equal");
	merge_two(&a, &b, true, &said, &truly, &wrong);
	ok(!said && truly > 100, "and does not look unless asked");
	sp__runbuf_release(&a);
	sp__runbuf_release(&b);
	sp_keyset_free(ks);
}

/* A whole sort of two records; the last status. */
static int sort_two(const struct sp_keyset *ks)
{
	static const char *const dirs[] = { "/tmp" };
	static const char text[] = "b\na\n";
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_batch batch = { text, sizeof(text) - 1 };
	struct sp_sort *s;
	int rc;

	o.format = lines;
	o.keys = ks;
	o.run.memory_bytes = 8u << 20;
	o.run.tmpdirs = dirs;
	o.run.ntmpdirs = 1;
	o.run.parallel = 1;
	if (sp_sort_new(&s, &o, NULL) || sp_sort_put(s, &batch) != SP_READY || sp_sort_finish(s))
		abort();
	while ((rc = sp_sort_get(s, &batch)) == SP_READY)
		;
	sp_sort_free(s);
	return rc;
}

/* Compares texts for which there is no memory. */
static bool starve(void)
{
	static char a[40u << 20], b[40u << 20];
	struct rlimit before, now;
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	memset(a, 'a', sizeof(a));
	memset(b, 'a', sizeof(b) - 1);
	b[sizeof(b) - 1] = 'b';
	if (!f || fscanf(f, "%lu", &pages) != 1)
		abort();
	fclose(f);
	getrlimit(RLIMIT_AS, &before);
	now = before;
	now.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (16u << 20);
	if (setrlimit(RLIMIT_AS, &now))
		return false;
	(void)sp__collate_compare(a, sizeof(a), b, sizeof(b));
	setrlimit(RLIMIT_AS, &before);
	return sp__collate_starved();
}

static void starving(void)
{
	struct sp_keyset *ks = keyset(0, false);

	ok(sort_two(ks) == SP_END, "a sort ends well");
	if (SANITIZED || !starve())
		skip("a sort that could not compare for want of memory is an error",
		     "memory cannot be limited");
	else
		ok(sort_two(ks) == -ENOMEM,
		   "a sort that could not compare for want of memory is an error");
	sp_keyset_free(ks);
}

int main(void)
{
	const char *dir = in_build();
	char *text = malloc(BUFFER_BYTES), *mem = aligned_alloc(16, 2 * BUFFER_BYTES);

	if (!text || !mem)
		abort();
	if (dir)
		setenv("LOCPATH", dir, 1);
	if (!setlocale(LC_ALL, "en_US.UTF-8")) {
		skip("text is sorted as strcoll() has it", "needs the locales of build/locale");
		return done();
	}
	ordering(text, mem);
	merging(text, mem);
	starving();
	free(text);
	free(mem);
	return done();
}
