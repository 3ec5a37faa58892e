/* SPDX-License-Identifier: MIT */
/*
 * Fetches records by their offsets over a scripted device: in every order of completion each is
 * returned once, with its bytes, and never before its read; if ordered, in the order of requests.
 */
#include <fcntl.h>
#include <unistd.h>
#include "index/fetch.h"
#include "run/env.h"
#include "script.h"
#include "tap.h"

#define BYTES (256u << 10)
#define RECORDS 7

static char path[] = "/tmp/sp-fetch.XXXXXX", content[BYTES];
static struct sp_errinfo err;
static struct sp__volume *volume;

/* Two in one block, one behind a small gap, one of several blocks; the first once more. */
static const struct {
	uint64_t offset;
	size_t bytes;
} wanted[RECORDS] = { { 100000, 30 },	{ 5, 10 }, { 2000, 20 },  { 150000, 40000 },
		      { 220000, 4000 }, { 40, 0 }, { 100000, 30 } };

struct fetching {
	struct sp__budget budget;
	struct sp__requests reads;
	struct sp__fetch *fetch;
	uint64_t came[RECORDS]; /* tags */
	unsigned n;
	bool wrong;
};

static void open_all(struct fetching *g, bool ordered, unsigned max, uint64_t gap)
{
	const struct sp__queue_opts qo = { .engine = "null", .depth = RECORDS };
	struct sp__fetch_opts o = { .volume = volume,
				    .reads = &g->reads,
				    .budget = &g->budget,
				    .err = &err,
				    .max = max,
				    .memory_bytes = 64 << 10,
				    .gap_bytes = gap,
				    .ordered = ordered };

	memset(g, 0, sizeof(*g));
	script_begin();
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	sp__budget_init(&g->budget, 1 << 20);
	if (sp__requests_open(&g->reads, &qo, &err) || sp__fetch_open(&g->fetch, &o))
		abort();
}

static void close_all(struct fetching *g)
{
	sp__requests_close(&g->reads);
	sp__fetch_close(g->fetch);
	g->wrong |= g->budget.used_bytes != 0;
}

static void look(struct fetching *g, const struct sp__fetched *r)
{
	g->wrong |= g->n == RECORDS || r->tag >= RECORDS || r->offset != wanted[r->tag].offset ||
		    r->bytes != wanted[r->tag].bytes ||
		    memcmp(r->data, content + r->offset, r->bytes) != 0;
	for (unsigned i = 0; i < g->n; i++)
		g->wrong |= g->came[i] == r->tag;
	if (g->n < RECORDS)
		g->came[g->n++] = r->tag;
}

/* Asks for all, as there is room, and takes them: the end or an error. */
static int run(struct fetching *g)
{
	struct sp__fetched record;
	uint64_t asked = 0;
	int rc = 0;

	while (!rc) {
		for (; asked < RECORDS && sp__fetch_slots_left(g->fetch); asked++)
			sp__fetch_put(g->fetch, wanted[asked].offset, wanted[asked].bytes, asked);
		rc = sp__fetch_flush(g->fetch);
		if (!rc)
			rc = sp__requests_collect(&g->reads);
		while (!rc && (rc = sp__fetch_get(g->fetch, &record)) == SP_READY) {
			look(g, &record);
			rc = 0;
		}
		if (rc == SP_LATER) {
			g->wrong |= sp__queue_outstanding(g->reads.queue) == 0;
			rc = sp__queue_wait(g->reads.queue, -1);
			rc = rc < 0 ? rc : 0;
		} else if (rc == SP_END && asked == RECORDS) {
			break;
		}
	}
	return rc;
}

static void check_orders(bool ordered, unsigned max, uint64_t gap, long min)
{
	long paths = 0, wrong = 0;
	struct fetching g;
	uint64_t reads = 0;

	script.depth = 0;
	do {
		open_all(&g, ordered, max, gap);
		g.wrong |= run(&g) != 0 || g.n != RECORDS;
		for (unsigned i = 0; ordered && i < g.n; i++)
			g.wrong |= g.came[i] != i;
		reads = sp__fetch_counts(g.fetch)->reads;
		g.wrong |= sp__fetch_counts(g.fetch)->records != RECORDS;
		close_all(&g);
		wrong += g.wrong;
		paths++;
	} while (script_next_path());
	ok(!wrong && paths >= min, "%u at once, %s: in all %ld orders each record comes once (%d)",
	   max, ordered ? "ordered" : "as they come", paths, (int)reads);
}

static void check_counts(void)
{
	const struct sp__fetch_counts *c;
	struct fetching g;

	open_all(&g, false, RECORDS, 4096);
	script.random = &(struct sp__rng){ 3 };
	g.wrong |= run(&g) != 0;
	c = sp__fetch_counts(g.fetch);
	ok(!g.wrong && c->reads == 4 && c->shared == 1 && c->coalesced == 2,
	   "a block is read once, and neighbours with one request: %d, %d, %d", (int)c->reads,
	   (int)c->shared, (int)c->coalesced);
	close_all(&g);
	script.random = NULL;
}

static void check_failures(void)
{
	long wrong = 0;
	struct fetching g;

	for (script.fails = 1; script.fails <= 4; script.fails++) {
		script.depth = 0;
		do {
			open_all(&g, false, RECORDS, 4096);
			g.wrong |= run(&g) != -EIO || err.code != -EIO || strcmp(err.path, path);
			close_all(&g);
			wrong += g.wrong;
		} while (script_next_path());
	}
	script.fails = 0;
	ok(!wrong, "a read that fails is the error of its records, which names the file");
}

int main(void)
{
	struct sp__rng rng = { 1 };
	int fd = mkstemp(path);

	for (size_t i = 0; i < BYTES; i++)
		content[i] = (char)('a' + sp__rng_below(&rng, 26));
	if (fd < 0 || write(fd, content, BYTES) != BYTES ||
	    sp__volume_adopt(&volume, fd, true, path, NULL))
		abort();
	for (int ordered = 0; ordered < 2; ordered++) {
		check_orders(ordered, RECORDS, 4096, 24);
		check_orders(ordered, RECORDS, 0, 24);
		check_orders(ordered, 2, 0, 2);
		check_orders(ordered, 1, 0, 1);
	}
	check_counts();
	check_failures();
	sp__volume_close(volume);
	unlink(path);
	return done();
}
