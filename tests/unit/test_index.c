/* SPDX-License-Identifier: MIT */
/*
 * Indexes against a sorted array in memory: random keys with many that are equal, pages of all
 * sizes, lookups and ranges with any depth; then small indexes with each byte changed, cut off
 * anywhere, or none at all.
 *
 *	SP_INDEX_CASES	random indexes (60)
 *	SP_TEST_SEED	the first of them (1)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/index.h>
#include "below.h"
#include "tap.h"

#define RECORDS_MAX 3000
#define KEY_MAX 90

static char dir[64], source[80], path[80];
static const char *const tmp[] = { "/tmp" };
static unsigned long seed;

struct record {
	char key[KEY_MAX + 1];
	uint64_t offset, bytes;
};

static struct record records[RECORDS_MAX];
static size_t nrecords;
static char *text; /* of the source */

static bool failed(const char *what, int rc, const struct sp_errinfo *err)
{
	diag("seed %lu: %s: %d %s %s", seed, what, rc, err->op ? err->op : "", err->text);
	return false;
}

/* Equal keys are in the order of their records already. */
static int by_key(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

/* Keys of few letters, so that many are equal or begin with the same ones. */
static void random_key(char *key, size_t max)
{
	size_t n = below(4) ? below(6) : below(max + 1);

	for (size_t i = 0; i < n; i++)
		key[i] = (char)("abz"[below(3)]);
	key[n] = '\0';
}

static void write_file(const char *name, const void *data, size_t bytes)
{
	FILE *f = fopen(name, "w");

	if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f))
		abort();
}

/* Lines "KEY,filling"; the last one may have no end. */
static void make_source(size_t n, size_t key_max)
{
	size_t at = 0;

	nrecords = n;
	for (size_t i = 0; i < n; i++) {
		struct record *r = &records[i];
		size_t begin = at;

		random_key(r->key, key_max);
		at += (size_t)sprintf(text + at, "%s,%.*s", r->key, (int)below(30),
				      "how to fill a line until it is long");
		r->offset = begin;
		r->bytes = at - begin;
		text[at++] = '\n';
	}
	write_file(source, text, at - (n && below(2)));
	qsort(records, n, sizeof(*records), by_key);
}

static uint32_t random_page(void)
{
	return UINT32_C(512) << below(8);
}

static bool build(uint32_t page, struct sp_index_stats *st, struct sp_errinfo *err)
{
	struct sp_index_build_opts o = SP_INDEX_BUILD_OPTS_INIT;
	int rc;

	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	o.run.parallel = 1;
	o.run.memory_bytes = 1 << 20;
	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.separator = ',';
	o.key = "1,1";
	o.page_bytes = page;
	rc = sp_index_build(&o, source, path, st, err);
	return rc ? failed("build", rc, err) : true;
}

static int open_with(struct sp_index **ix, const char *engine, unsigned depth,
		     struct sp_errinfo *err)
{
	struct sp_index_opts o = { .run = SP_RUN_OPTS_INIT, .depth = depth };

	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	o.run.memory_bytes = 512 << 10;
	o.run.engine = engine;
	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp_index_open(ix, path, &o, err);
}

/* The expected result of a query: records from one on. */
struct expected {
	size_t next, end;
	bool wrong, places;
};

static int compare(void *arg, const struct sp_index_match *m)
{
	struct expected *e = arg;
	const struct record *r = &records[e->next];

	e->wrong |= e->next >= e->end || m->offset != r->offset || m->bytes != r->bytes ||
		    (e->places ? m->record != NULL
			       : memcmp(m->record, text + r->offset, r->bytes) != 0);
	e->next++;
	return 0;
}

/* Each key of the index and some others, in order. */
struct asking {
	size_t next;
	char absent[KEY_MAX + 3];
	bool between;
	uint64_t asked;
};

static int next_key(void *arg, const char **key, size_t *bytes)
{
	struct asking *a = arg;

	a->asked++;
	if (a->between) { /* no key has a '#' */
		sprintf(a->absent, "%s#", a->next ? records[a->next - 1].key : "");
		*key = a->absent;
	} else if (a->next == nrecords) {
		a->asked--;
		return 0;
	} else {
		*key = records[a->next].key;
		do {
			a->next++;
		} while (a->next < nrecords && !strcmp(records[a->next].key, *key));
	}
	a->between = !a->between && !below(3);
	*bytes = strlen(*key);
	return 1;
}

static bool lookups(struct sp_index *ix, uint64_t keys, struct sp_errinfo *err)
{
	struct expected e = { .end = nrecords, .places = below(2) };
	struct asking a = { .between = below(2) };
	struct sp_index_stats st;
	int rc = sp_index_lookup(ix, next_key, &a, !e.places, compare, &e, &st);

	if (rc)
		return failed("lookup", rc, err);
	if (e.wrong || e.next != nrecords || st.keys != a.asked || st.found != keys)
		return failed("a lookup that differs", (int)e.next, err);
	return true;
}

static size_t first_from(const char *key, bool after)
{
	size_t i = 0;

	while (i < nrecords && strcmp(records[i].key, key) < (after ? 1 : 0))
		i++;
	return i;
}

static bool ranges(struct sp_index *ix, struct sp_errinfo *err)
{
	for (int i = 0; i < 5; i++) {
		struct expected e = { .places = below(2) };
		char lo[KEY_MAX + 1], hi[KEY_MAX + 1];
		bool has_lo = below(4), has_hi = below(4);
		int rc;

		random_key(lo, 5);
		random_key(hi, 5);
		e.next = has_lo ? first_from(lo, false) : 0;
		e.end = has_hi ? first_from(hi, false) : nrecords;
		e.end = e.end < e.next ? e.next : e.end;
		rc = sp_index_range(ix, has_lo ? lo : NULL, has_hi ? hi : NULL, !e.places, compare,
				    &e, NULL);
		if (rc)
			return failed("range", rc, err);
		if (e.wrong || e.next != e.end)
			return failed("a range that differs", (int)e.next, err);
	}
	return true;
}

static bool random_case(void)
{
	static const char *const engines[] = { "sync", NULL, "fault:REORDER=1:sync",
					       "fault:REORDER=2:sync" };
	uint32_t page = random_page();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_index_stats st;
	struct sp_index *ix;
	uint64_t keys = 0;
	bool good;
	int rc;

	make_source(below(3) ? below(RECORDS_MAX) : below(4), KEY_MAX);
	for (size_t i = 0; i < nrecords; i++)
		keys += !i || strcmp(records[i].key, records[i - 1].key) != 0;
	if (!build(page, &st, &err))
		return false;
	if (st.records != nrecords || st.keys != keys)
		return failed("counts", (int)st.records, &err);
	rc = open_with(&ix, engines[below(4)], (unsigned)(1 + below(below(2) ? 300 : 4)), &err);
	if (rc)
		return failed("open", rc, &err);
	rc = sp_index_check(ix, NULL);
	good = !rc || failed("check", rc, &err);
	good = good && lookups(ix, keys, &err) && ranges(ix, &err);
	return !sp_index_close(ix) && good;
}

static void random_cases(void)
{
	unsigned long cases =
		getenv("SP_INDEX_CASES") ? strtoul(getenv("SP_INDEX_CASES"), NULL, 10) : 60;
	bool good = true;

	seed = getenv("SP_TEST_SEED") ? strtoul(getenv("SP_TEST_SEED"), NULL, 10) : 1;
	for (unsigned long i = 0; good && i < cases; i++, seed++) {
		rng = (struct sp__rng){ seed };
		good = random_case();
	}
	ok(good, "lookups and ranges find what a sorted array has, in %lu random indexes", cases);
}

/* Every page, and every key: an error, or the right result. */
static bool honest(bool *detected)
{
	struct expected all = { .end = nrecords, .places = true }, each = all;
	struct asking a = { 0 };
	struct sp_errinfo err;
	struct sp_index *ix;
	int rc = open_with(&ix, "sync", 3, &err);

	*detected = rc;
	if (rc)
		return rc == SP_ECORRUPT || rc == SP_EFORMAT;
	rc = sp_index_range(ix, NULL, NULL, false, compare, &all, NULL);
	if (rc ? rc != SP_ECORRUPT : all.next != nrecords)
		all.wrong = true;
	(void)sp_index_close(ix);
	if (all.wrong || open_with(&ix, "sync", 3, &err))
		return false;
	rc = sp_index_lookup(ix, next_key, &a, false, compare, &each, NULL);
	if (rc ? rc != SP_ECORRUPT : each.next != nrecords)
		each.wrong = true;
	(void)sp_index_close(ix);
	if (each.wrong || open_with(&ix, "sync", 3, &err))
		return false;
	*detected = sp_index_check(ix, NULL) == SP_ECORRUPT &&
		    (strstr(err.text, "is damaged: ") || err.text[0]);
	(void)sp_index_close(ix);
	return true;
}

static void damage(void)
{
	static char file[1 << 16];
	struct sp_errinfo err = SP_ERRINFO_INIT;
	bool good, all = true, detected;
	size_t bytes;
	FILE *f;

	rng = (struct sp__rng){ 77 };
	make_source(60, 20);
	good = build(512, NULL, &err);
	f = fopen(path, "r");
	bytes = f ? fread(file, 1, sizeof(file), f) : 0;
	ok(good && bytes >= 4 * 512, "a small index has a root and leaves");
	if (f)
		fclose(f);
	for (size_t i = 0; i < bytes; i++) {
		file[i] ^= (char)(1 << i % 8);
		write_file(path, file, bytes);
		file[i] ^= (char)(1 << i % 8);
		good = good && honest(&detected);
		all &= detected;
		if (!good || !all)
			diag("byte %zu", i);
		if (!good || !all)
			break;
	}
	ok(good, "with any byte changed a query gives its result or an error");
	ok(all, "with any byte changed the check, if not the opening, fails");
	for (size_t i = 0; good && i < bytes; i += i < 600 ? 1 : 64) {
		write_file(path, file, i);
		good = honest(&detected) && detected;
	}
	ok(good, "cut off anywhere it is not opened");
	write_file(path, text, 3000);
	ok(honest(&detected) && detected, "lines are not opened as an index");
}

static bool exchange(size_t a, size_t b)
{
	char x[512], y[512];
	int fd = open(path, O_RDWR);
	bool done = fd >= 0 && pread(fd, x, 512, (off_t)(512 * a)) == 512 &&
		    pread(fd, y, 512, (off_t)(512 * b)) == 512 &&
		    pwrite(fd, y, 512, (off_t)(512 * a)) == 512 &&
		    pwrite(fd, x, 512, (off_t)(512 * b)) == 512;

	close(fd);
	return done;
}

static void misplaced(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	bool detected;

	make_source(60, 20);
	ok(build(512, NULL, &err) && exchange(1, 2) && honest(&detected) && detected,
	   "pages that have changed places are damage");
}

static void changed_source(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct timespec times[2];
	struct sp_index *ix;
	struct stat st;
	int fd, rc;

	make_source(60, 20);
	ok(build(512, NULL, &err) && !stat(source, &st), "the source is as it was");
	fd = open(source, O_WRONLY);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	rc = pwrite(fd, "#", 1, (off_t)records[30].offset) == 1 ? 0 : -errno;
	close(fd);
	ok(!rc && open_with(&ix, NULL, 0, &err) == -ESTALE && strstr(err.text, source),
	   "an index whose source has another time is refused");
	ok(!utimensat(AT_FDCWD, source, times, 0) && !open_with(&ix, NULL, 0, &err) &&
		   sp_index_check(ix, NULL) == -ESTALE,
	   "the check finds a change that the time does not show");
	(void)sp_index_close(ix);
	ok(!truncate(source, st.st_size - 1) && !utimensat(AT_FDCWD, source, times, 0) &&
		   open_with(&ix, NULL, 0, &err) == -ESTALE,
	   "an index whose source has another size is refused");
	unlink(source);
	ok(open_with(&ix, NULL, 0, &err) == -ENOENT && !strcmp(err.path, source),
	   "an index without its source names it");
}

int main(void)
{
	char command[80] = "rm -r ";

	strcpy(dir, "/tmp/test_index.XXXXXX");
	text = malloc(RECORDS_MAX * (KEY_MAX + 40));
	if (!text || !mkdtemp(dir))
		return 1;
	sprintf(source, "%s/source", dir);
	sprintf(path, "%s/index", dir);
	random_cases();
	damage();
	misplaced();
	changed_source();
	free(text);
	strcat(command, dir);
	return system(command) ? 1 : done();
}
