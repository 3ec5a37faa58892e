/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous lookups: completions in many orders, any number outstanding, few frames; every
 * answer once, every page once, and any read that fails.  Each case runs page by page and with
 * joined pages.
 */
#define TAP_THREADS
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <spindle/index.h>
#include "base/hash.h"
#include "index/matched.h"
#include "tap.h"

/* Keys of three digits, the one divisible by 8 more often. */
#define KEYS 400
#define TIMES(key) ((key) % 8 ? 1 : times)

static char dir[64], source[80], path[80];
static const char *const tmp[] = { "/tmp" };
static int times;
static uint64_t gap_bytes; /* of all plans */

static bool build(unsigned page_bytes)
{
	struct sp_index_build_opts o = SP_INDEX_BUILD_OPTS_INIT;
	FILE *f = fopen(source, "w");

	if (!f)
		return false;
	for (int i = 0; i < times; i++)
		for (int key = 0; key < KEYS; key++)
			if (i < TIMES(key))
				fprintf(f, "%03d %d\n", key, i);
	if (fclose(f))
		return false;
	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.key = "1,1";
	o.page_bytes = page_bytes;
	return !sp_index_build(&o, source, path, NULL, NULL);
}

/* A plan: lookups and the fetch of what they find, on one queue. */
struct plan {
	struct sp__env env;
	struct sp_run_opts run;
	struct sp_errinfo err;
	struct sp__index index;
	struct sp__requests reads;
	struct sp__waits waits;
	struct sp__lookup *lookup;
	struct sp__matched matched;
	int rc;
};

static void begin(struct plan *p, const char *engine, unsigned max, uint64_t bytes, bool ordered)
{
	struct sp__lookup_opts o = { .index = &p->index,
				     .reads = &p->reads,
				     .waits = &p->waits,
				     .max = max,
				     .bytes = bytes,
				     .gap_bytes = gap_bytes,
				     .ordered = ordered };
	struct sp__queue_opts qo = { .engine = engine, .depth = 2 * max };

	memset(p, 0, sizeof(*p));
	p->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	p->run = (struct sp_run_opts)SP_RUN_OPTS_INIT;
	p->run.tmpdirs = tmp;
	p->run.ntmpdirs = 1;
	p->rc = sp__env_open(&p->env, &p->run, &p->err);
	p->rc = p->rc ?: sp__index_open(&p->index, path, &p->env);
	p->rc = p->rc ?: sp__requests_open(&p->reads, &qo, &p->err);
	p->rc = p->rc ?: sp__lookup_open(&p->lookup, &o);
	if (!p->rc && gap_bytes)
		sp__lookup_expect(p->lookup, KEYS);
	p->matched.reads = &p->reads;
	p->matched.waits = &p->waits;
	p->rc = p->rc ?: sp__matched_fetch(&p->matched, &p->index, max, 1 << 20);
}

static void end(struct plan *p)
{
	sp__requests_close(&p->reads);
	sp__matched_close(&p->matched);
	sp__lookup_close(p->lookup);
	sp__index_close(&p->index);
	(void)sp__env_close(&p->env);
}

/* The answers for each key, and whether it is complete. */
static unsigned answered[KEYS + 1];
static bool over[KEYS + 1];

static bool put_all(struct plan *p, unsigned *next)
{
	char key[16];

	while (*next <= KEYS && sp__lookup_has_space(p->lookup)) {
		size_t n = (size_t)sprintf(key, "%03u", *next);

		p->rc = sp__lookup_put(p->lookup, key, n, *next);
		++*next;
		if (p->rc)
			return false;
	}
	return true;
}

/* Runs the plan to its end.  True: nothing was answered that should not be, or not again. */
static bool run(struct plan *p, bool ordered)
{
	unsigned next = 0, last = 0;
	struct sp__found found;
	bool good = true;

	memset(answered, 0, sizeof(answered));
	memset(over, 0, sizeof(over));
	while (!p->rc && put_all(p, &next)) {
		p->rc = sp__lookup_get(p->lookup, &found);
		if (p->rc == SP_LATER) {
			p->rc = sp__waits_block(&p->waits);
			continue;
		}
		if (p->rc != SP_READY && (p->rc != SP_END || next > KEYS))
			break;
		if (p->rc == SP_READY) {
			good &= !over[found.tag] && (!ordered || found.tag >= last);
			last = (unsigned)found.tag;
			answered[found.tag] += (unsigned)found.n;
			over[found.tag] = found.last;
		}
		p->rc = 0;
	}
	return good;
}

static bool complete(void)
{
	bool good = answered[KEYS] == 0 && over[KEYS];

	for (unsigned i = 0; i < KEYS; i++)
		good &= over[i] && answered[i] == (unsigned)TIMES(i);
	return good;
}

static void orders(void)
{
	bool good = true, once = true;
	char engine[64];
	struct plan p;

	for (unsigned i = 0; good && i < 120; i++) {
		static const unsigned max[] = { 1, 2, 3, 7, 64, 500 };
		bool ordered = i % 2, few = i % 3 == 0;
		uint64_t hits, misses = 0;

		sprintf(engine, "fault:REORDER=%u:sync", i);
		begin(&p, engine, max[i % 6], few ? 3000 : 1 << 20, ordered);
		good = !p.rc && run(&p, ordered) && !p.rc && complete();
		if (p.lookup)
			sp__lookup_counts(p.lookup, &hits, &misses);
		once &= few || misses <= p.index.header.end_page;
		if (!good)
			diag("order %u: %d %s", i, p.rc, p.err.text);
		end(&p);
	}
	ok(good, "each key is answered once, whatever the order of completions (gap %u)",
	   (unsigned)gap_bytes);
	ok(once, "a page that several lookups need is read once");
}

/* Requests for the index, for all keys, with the expected number found; 0: an error. */
static uint64_t requests(const char *engine, uint64_t expected, unsigned max)
{
	uint64_t hits, misses = 0;
	struct plan p;
	bool good;

	begin(&p, engine, max, 1 << 20, false);
	if (!p.rc)
		sp__lookup_expect(p.lookup, expected);
	good = !p.rc && run(&p, false) && !p.rc && complete();
	if (good)
		sp__lookup_counts(p.lookup, &hits, &misses);
	if (!good)
		diag("%s: %d %s", engine, p.rc, p.err.text);
	end(&p);
	return misses;
}

/* Pages as large as blocks; a gap of 8192 bytes joins four of them in a request. */
static void pieces(void)
{
	uint64_t single, expected, seen;
	bool good = true;
	char engine[64];
	struct plan p;

	times = 400;
	ok(build(4096), "there is an index with larger pages");
	single = requests("sync", 0, 7);
	gap_bytes = 8192;
	expected = requests("sync", KEYS, 7);
	seen = requests("sync", 0, 7);
	ok(single && expected && expected <= single / 4 + 1,
	   "many keys are expected: joined pages (%u requests instead of %u)", (unsigned)expected,
	   (unsigned)single);
	ok(seen > expected && seen < single,
	   "many pages have been read: joined pages (%u requests)", (unsigned)seen);
	/* The first is the root, which can be alone in the last request. */
	for (unsigned i = 2; good && i <= expected; i++) {
		sprintf(engine, "fault:NTH=%u,ERROR=EIO:sync", i);
		good = requests(engine, KEYS, 7 * i) > expected;
	}
	ok(good, "joined pages that cannot be read are read one by one");
	begin(&p, "fault:NTH=3,COUNT=0,ERROR=EIO:sync", 9, 1 << 20, false);
	ok(run(&p, false) && p.rc == -EIO && !strcmp(p.err.path, path),
	   "pages that cannot be read alone either are the end");
	end(&p);
}

static void faults(void)
{
	bool good = true;
	unsigned failed = 0;
	char engine[64];
	struct plan p;

	for (unsigned i = 1; good && (i == 1 || failed == i - 1); i++) {
		sprintf(engine, "fault:NTH=%u,ERROR=EIO:sync", i);
		begin(&p, engine, 9, 1 << 20, i % 2);
		good = p.rc == 0 && run(&p, i % 2);
		failed += p.rc == -EIO;
		good &= p.rc == -EIO ? !strcmp(p.err.path, path) : complete();
		if (p.rc == -EIO) {
			struct sp__found found;

			good &= sp__lookup_get(p.lookup, &found) == -EIO &&
				sp__lookup_put(p.lookup, "1", 1, 0) == -EIO;
		}
		end(&p);
	}
	ok(good && failed > 10, "each read that fails is the end (%u)", failed);
}

/* The changed byte can be one of another page, which is not read there. */
static void flips(void)
{
	unsigned found = 0;
	bool good = true;
	char engine[64];
	struct plan p;

	for (unsigned i = 1; good && i < 40; i++) {
		sprintf(engine, "fault:NTH=%u,ERROR=FLIP:sync", i);
		begin(&p, engine, 9, 1 << 20, i % 2);
		good = run(&p, i % 2);
		found += p.rc != 0;
		good &= p.rc ? p.rc == SP_ECORRUPT && strstr(p.err.text, "is damaged") : complete();
		end(&p);
	}
	ok(good && found, "a page that is read wrong is named (%u)", found);
}

/* Matches to be returned one by one, so that each is alone on its way. */
struct found {
	struct sp__keymatch matches[4];
	unsigned n, next;
};

static int find_next(void *arg, const struct sp__keymatch **matches, size_t *n)
{
	struct found *f = arg;

	if (f->next == f->n)
		return SP_END;
	*matches = &f->matches[f->next++];
	*n = 1;
	return SP_READY;
}

static int next_record(struct plan *p, struct sp__keymatch *m, const char **record)
{
	int rc;

	while ((rc = sp__matched_next(&p->matched, m, record)) == SP_LATER)
		if (sp__waits_block(&p->waits))
			break;
	return rc;
}

/* Sets the matches of the first three records, and one that the source does not have. */
static bool find_first(const struct plan *p, struct found *found)
{
	struct sp__keybuf key = { 0 };
	char text[12];
	bool good = true;

	*found = (struct found){ .n = 4 };
	for (unsigned i = 0; i < 4; i++) {
		sprintf(text, "%03u", i);
		good &= !sp__indexkey_of_text(&p->index.key, text, 3, &key, NULL);
		found->matches[i] = (struct sp__keymatch){ i < 3 ? 6 * i : 1 << 30, 5,
							   sp__checksum(key.data, key.bytes) };
	}
	sp__keybuf_release(&key);
	return good;
}

/* A match whose record has another key, and ones that are not a record. */
static void misled(void)
{
	static const struct {
		uint64_t offset, bytes;
	} places[] = { { 6, 5 }, { 0, 4 }, { 0, 6 }, { 0, 11 }, { 5, 3 } };
	struct found found;
	struct sp__keymatch out;
	const char *record;
	struct plan p;
	bool good = true;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		begin(&p, "sync", 4, 1 << 20, true);
		good &= !p.rc && find_first(&p, &found);
		found.n = 1;
		found.matches[0].offset = places[i].offset;
		found.matches[0].bytes = places[i].bytes;
		p.matched.find = find_next;
		p.matched.arg = &found;
		p.matched.status = SP_READY;
		good &= next_record(&p, &out, &record) == -ESTALE &&
			strstr(p.err.text, "build the index again");
		end(&p);
	}
	ok(good, "another record than that of the entry is an error");
}

static void fetches(unsigned max)
{
	struct found found;
	struct sp__keymatch out;
	const char *record = NULL;
	struct plan p;
	unsigned returned = 0;
	bool good = true;

	begin(&p, "fault:REORDER=3:sync", max, 1 << 20, true);
	ok(!p.rc && sp__fetch_get(p.matched.fetch, &(struct sp__fetched){ 0 }) == SP_END,
	   "without a record that was requested there is none");
	ok(find_first(&p, &found), "the keys are made");
	p.matched.find = find_next;
	p.matched.arg = &found;
	p.matched.status = SP_READY;
	for (unsigned i = 0; i < 3; i++)
		good &= next_record(&p, &out, &record) == SP_READY && out.offset == 6 * i &&
			*record == '0';
	ok(good, "records come in the order of the matches, with %u outstanding", max);
	ok(next_record(&p, &out, &record) == SP_ECORRUPT,
	   "a record that the source does not have is an error");
	end(&p);
	found.next = 0;
	found.n = 3;
	begin(&p, "sync", max, 1 << 20, true);
	p.matched.find = find_next;
	p.matched.arg = &found;
	p.matched.status = SP_READY;
	while (next_record(&p, &out, &record) == SP_READY)
		returned++;
	ok(returned == 3, "all records are returned before the end, with %u outstanding", max);
	end(&p);
}

/* A plan over public functions: a range, of which the records with an even number are counted. */
static int even(void *arg, const char *record, size_t bytes)
{
	(void)arg;
	return bytes && (record[bytes - 1] - '0') % 2 == 0;
}

static bool plan_of_range(const char *engine, const char *lo, const char *hi, const char *want)
{
	static const struct sp_flow_value count = { .function = SP_FLOW_COUNT };
	struct sp_run_opts run = SP_RUN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_operator *op;
	struct sp_flow *flow;
	struct sp_batch batch;
	size_t field = 0;
	bool good;

	run.tmpdirs = tmp;
	run.ntmpdirs = 1;
	run.memory_bytes = 1 << 20;
	run.engine = engine;
	if (sp_flow_open(&flow, &run, &err))
		return false;
	good = !sp_index_operator(&op, flow, path, lo, hi) &&
	       !sp_flow_filter(&op, op, even, NULL) &&
	       !sp_flow_aggregate(&op, op, &field, 1, &count, 1);
	while (good && sp_flow_get(op, &batch) == SP_READY) {
		good = strlen(want) >= batch.bytes && !memcmp(want, batch.data, batch.bytes);
		want += batch.bytes;
	}
	good &= !*want && !err.code;
	if (!good)
		diag("%s: %s", engine, err.text);
	return !sp_flow_close(flow) && good;
}

static void operators(void)
{
	char engine[64];
	struct sp_flow *flow;
	struct sp_operator *op;
	struct sp_run_opts run = SP_RUN_OPTS_INIT;
	bool good = true;

	for (unsigned i = 0; good && i < 20; i++) {
		sprintf(engine, "fault:REORDER=%u:sync", i);
		good = plan_of_range(engine, "014", "018", "014 1\n015 1\n016 20\n017 1\n") &&
		       plan_of_range(engine, "399", NULL, "399 1\n") &&
		       plan_of_range(engine, "5", NULL, "");
	}
	ok(good, "a range is an operator of a plan");
	run.tmpdirs = tmp;
	run.ntmpdirs = 1;
	ok(!sp_flow_open(&flow, &run, NULL) &&
		   sp_index_operator(&op, flow, "/tmp/no-such-index", NULL, NULL) == -ENOENT &&
		   !sp_flow_close(flow),
	   "without its index there is none");
}

static void misuse(void)
{
	struct sp__found found;
	struct plan p;

	begin(&p, "sync", 1, 1 << 20, false);
	ok(!p.rc && sp__lookup_get(p.lookup, &found) == SP_END, "nothing was asked: the end");
	ok(!sp__lookup_put(p.lookup, "000", 3, 0) && !sp__lookup_has_space(p.lookup) &&
		   sp__lookup_put(p.lookup, "001", 3, 1) == SP_ESTATE,
	   "more than max keys are refused");
	end(&p);
}

int main(void)
{
	char command[80] = "rm -r ";

	strcpy(dir, "/tmp/test_lookup.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	sprintf(source, "%s/source", dir);
	sprintf(path, "%s/index", dir);
	times = 40;
	ok(build(512), "there is an index");
	orders();
	faults();
	flips();
	misled();
	fetches(1);
	fetches(3);
	operators();
	misuse();
	pieces();
	orders();
	flips();
	strcat(command, dir);
	return system(command) ? 1 : done();
}
