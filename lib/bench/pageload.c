/* SPDX-License-Identifier: MIT */
/*
 * Checks page loads, queues their requests, and runs scans and range queries.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "bench/pageload.h"

/*
 * Range queries with read-ahead of extents whose use exceeds a threshold.
 *
 * Algorithm: queries read one page at a time into a buffer.  When they have worked on more pages of
 * an extent than the threshold, the extent's pages outside the buffer are requested together: the
 * read-ahead that section 3.1 describes for accesses that are not sequential.  The page that has
 * been in the buffer longest is replaced first.
 *
 * States of a page:
 *
 *	OUT -> COMING -> HERE -> WORKED -> OUT
 *
 * If a page is replaced after its arrival and before its query continues, the query requests it
 * again.
 */

enum { OUT, COMING, HERE, WORKED };

static int open_threshold(struct sp__pageload *l)
{
	struct sp__pagethreshold *c = &l->threshold;

	c->frames = (size_t)(l->opts.buffer * (double)l->pages);
	c->state = calloc(l->pages, sizeof(c->state[0]));
	c->here = calloc(c->frames, sizeof(c->here[0]));
	c->worked = calloc(l->pages / l->opts.extent_pages, sizeof(c->worked[0]));
	l->clients = calloc(l->opts.clients, sizeof(l->clients[0]));
	if (!c->state || !c->here || !c->worked || !l->clients)
		return -ENOMEM;
	for (unsigned i = 0; i < l->opts.clients; i++)
		l->clients[i].left = l->opts.query_pages;
	return sp__pagequeue_open(l, SP__PAGE_READ, c->frames);
}

/* Takes the frame of the page that has been in the buffer longest.  False: all are being read. */
static bool take_frame(struct sp__pageload *l)
{
	struct sp__pagethreshold *c = &l->threshold;

	for (size_t i = 0; c->n == c->frames && i < c->frames; i++) {
		uint32_t page = c->here[c->head];

		c->head = (c->head + 1) % c->frames;
		c->n--;
		if (c->state[page] == COMING) {
			c->here[(c->head + c->n++) % c->frames] = page;
			continue;
		}
		if (c->state[page] == WORKED)
			c->worked[page / l->opts.extent_pages]--;
		c->state[page] = OUT;
	}
	return c->n < c->frames;
}

static void ask(struct sp__pageload *l, uint32_t page)
{
	struct sp__pagethreshold *c = &l->threshold;

	if (c->state[page] != OUT || !take_frame(l))
		return;
	c->here[(c->head + c->n++) % c->frames] = page;
	c->state[page] = COMING;
	sp__pageload_ask(l, SP__PAGE_READ, page, 0);
}

/* Counts a page that was worked on; requests its extent if the count exceeds the threshold. */
static void count(struct sp__pageload *l, uint32_t page)
{
	struct sp__pagethreshold *c = &l->threshold;
	uint32_t extent = page / l->opts.extent_pages;

	if (c->state[page] == WORKED)
		return;
	c->state[page] = WORKED;
	if (++c->worked[extent] != l->opts.extent_threshold + 1)
		return;
	for (uint32_t i = 0; i < l->opts.extent_pages; i++)
		ask(l, extent * l->opts.extent_pages + i);
}

/* Ends the query of the client and begins another one. */
static void pageclient_finish(struct sp__pageload *l, struct sp__pageclient *c)
{
	l->queries++;
	l->over = l->queries == l->opts.passes;
	c->left = l->opts.query_pages;
}

/* Works on a page that has arrived, after the previous page of the query. */
static void pageload_work(struct sp__pageload *l, uint64_t *busy_ns, uint64_t arrived_ns)
{
	*busy_ns = sp__max(arrived_ns, *busy_ns) + l->opts.compute_ns;
	l->accessed++;
}

static void run_reader(struct sp__pageload *l, struct sp__pageclient *q, uint64_t now_ns)
{
	while (!l->over) {
		if (q->busy_ns > now_ns) {
			sp__pageload_due(l, q->busy_ns);
			return;
		}
		if (!q->n && !q->left) {
			pageclient_finish(l, q);
			continue;
		}
		if (!q->n) {
			q->page = (uint32_t)sp__rng_below(&l->rng, l->pages);
			q->n = 1;
			q->left--;
		}
		ask(l, q->page);
		if (l->threshold.state[q->page] < HERE)
			return;
		pageload_work(l, &q->busy_ns, now_ns);
		q->n = 0;
		count(l, q->page);
	}
}

static void run(struct sp__pageload *l, uint64_t now_ns)
{
	for (unsigned i = 0; i < l->opts.clients; i++)
		run_reader(l, &l->clients[i], now_ns);
}

static void done(struct sp__pageload *l, enum sp__pageclass class, const struct sp__pagereq *r,
		 uint64_t now_ns)
{
	(void)class;
	(void)now_ns;
	l->threshold.state[r->page] = HERE;
}

const struct sp__pageload_ops sp__pageload_threshold = {
	.open = open_threshold,
	.run = run,
	.done = done,
};

#define UPDATE_PAGES_MAX (1u << 22) /* each has about 25 bytes of state */

static const char *check_update(const struct sp_policy_opts *o, uint64_t pages)
{
	unsigned ahead = o->submission == SP_POLICY_AGGRESSIVE ? o->ahead : 1;

	if (pages > UPDATE_PAGES_MAX)
		return "the table of an update has at most 4194304 pages";
	if (!(o->buffer > 0 && o->buffer < 1))
		return "the buffer must be larger than 0 and smaller than the table";
	if (o->buffer * (double)pages < (double)(ahead + 1) * o->extent_pages)
		return "the buffer cannot hold the pages read ahead and one extent more";
	if (!o->steal || !o->flow || !o->preflush_ns)
		return "steal, flow and the interval of the preflush must not be 0";
	if (o->log_bytes > SP__PAGELOG_MAX_BYTES)
		return "a page adds at most 512 KiB to the log";
	return NULL;
}

static const char *check_threshold(const struct sp_policy_opts *o, uint64_t pages)
{
	if (o->load != SP_POLICY_RANGE || o->submission == SP_POLICY_AGGRESSIVE)
		return "the extent threshold is for queries that read one page at a time";
	if (o->extent_threshold >= o->extent_pages)
		return "the extent threshold must be smaller than an extent";
	if (!(o->buffer > 0 && o->buffer < 1) ||
	    o->buffer * (double)pages < 2.0 * (o->extent_pages + o->clients))
		return "the buffer cannot hold the extents that are read";
	return NULL;
}

const char *sp__pageload_check(const struct sp_policy_opts *o, uint64_t pages)
{
	if (!o->extent_pages || !o->ahead || !o->clients || !o->query_pages || !o->batch)
		return "extents, read-ahead, clients, query pages and batches must not be 0";
	if (o->extent_pages > 65536 || o->ahead > 256 || o->batch > 4096 || o->clients > 4096)
		return "an extent has at most 65536 pages, 256 extents are read ahead, and "
		       "there are at most 4096 clients with batches of 4096 pages";
	if (o->load != SP_POLICY_UPDATE && o->submission == SP_POLICY_ADAPTIVE)
		return "adaptive submission needs writes, which only an update has";
	if (pages > UINT32_MAX)
		return "a table has at most 4294967295 pages";
	if (pages / o->extent_pages <= o->ahead)
		return "the table must have more extents than are requested ahead";
	if (o->extent_threshold && check_threshold(o, pages))
		return check_threshold(o, pages);
	if (o->threads && o->load == SP_POLICY_RANGE)
		return "threads apply to scans and updates only: queries do not share their reads";
	return o->load == SP_POLICY_UPDATE ? check_update(o, pages) : NULL;
}

int sp__pagequeue_open(struct sp__pageload *l, enum sp__pageclass class, size_t size)
{
	struct sp__pagequeue *q = &l->queues[class];

	q->size = size;
	q->reqs = calloc(size, sizeof(*q->reqs));
	return q->reqs ? 0 : -ENOMEM;
}

void sp__pageload_ask(struct sp__pageload *l, enum sp__pageclass class, uint32_t page,
		      uint32_t cookie)
{
	struct sp__pagequeue *q = &l->queues[class];

	q->reqs[(q->head + q->n++) % q->size] =
		(struct sp__pagereq){ .page = page, .n = 1, .cookie = cookie };
	l->pending[class]++;
}

void sp__pageload_due(struct sp__pageload *l, uint64_t due_ns)
{
	if (due_ns < l->due_ns)
		l->due_ns = due_ns;
}

/*
 * A scan reads pages in order.  It requests an extent when it works on the last page of an earlier
 * one.  With one extent ahead this is InnoDB's read-ahead, section 3.2; with more it is the
 * proposal of 3.3.
 */

int sp__pagescan_open(struct sp__pageload *l)
{
	struct sp__pagescan *s = &l->scan;
	bool aggressive = l->opts.submission == SP_POLICY_AGGRESSIVE;

	s->ahead = (uint64_t)(aggressive ? l->opts.ahead : 1) * l->opts.extent_pages;
	s->end = l->opts.passes ? (uint64_t)l->opts.passes * l->pages : UINT64_MAX;
	s->wanted = s->ahead;
	s->arrived_ns = calloc(s->ahead, sizeof(s->arrived_ns[0]));
	return s->arrived_ns ? sp__pagequeue_open(l, SP__PAGE_READ, s->ahead) : -ENOMEM;
}

void sp__pagescan_arrived(struct sp__pageload *l, uint64_t page, uint64_t now_ns)
{
	l->scan.arrived_ns[page % l->scan.ahead] = now_ns ? now_ns : 1;
}

bool sp__pagescan_step(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagescan *s = &l->scan;
	uint64_t *arrived = &s->arrived_ns[s->at % s->ahead];

	if (s->busy_ns > now_ns) {
		sp__pageload_due(l, s->busy_ns);
		return false;
	}
	l->over = s->at == s->end;
	if (l->over || !*arrived)
		return false;
	pageload_work(l, &s->busy_ns, *arrived);
	*arrived = 0;
	s->at++;
	if (s->at % l->opts.extent_pages == 0)
		s->wanted = sp__min(s->at + s->ahead, s->end);
	return true;
}

static void run_scan(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagescan *s = &l->scan;

	do
		for (; s->asked < s->wanted; s->asked++)
			sp__pageload_ask(l, SP__PAGE_READ, (uint32_t)(s->asked % l->pages),
					 (uint32_t)(s->asked % s->ahead));
	while (sp__pagescan_step(l, now_ns));
}

static void scan_done(struct sp__pageload *l, enum sp__pageclass class, const struct sp__pagereq *r,
		      uint64_t now_ns)
{
	(void)class;
	sp__pagescan_arrived(l, r->cookie, now_ns);
}

static const struct sp__pageload_ops scan_ops = {
	.open = sp__pagescan_open,
	.run = run_scan,
	.done = scan_done,
};

/*
 * Range queries by an index whose order differs from the order of the table: the query of each
 * client needs pages anywhere in the table, in index order.  A client requests the next batch when
 * it has worked on all pages of the previous one.  With batches of one page, a query reads each
 * page when it reaches it.
 */

static unsigned batch_of(const struct sp__pageload *l)
{
	unsigned most = l->depth / l->opts.clients, n = l->opts.batch;

	if (l->opts.submission != SP_POLICY_AGGRESSIVE || !most)
		return 1;
	return n < most ? n : most;
}

static int open_clients(struct sp__pageload *l)
{
	size_t n = l->opts.clients;

	l->batch = batch_of(l);
	l->clients = calloc(n, sizeof(l->clients[0]));
	l->arrived_ns = calloc(n * l->batch, sizeof(l->arrived_ns[0]));
	if (!l->clients || !l->arrived_ns)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		l->clients[i].arrived_ns = l->arrived_ns + i * l->batch;
		l->clients[i].left = l->opts.query_pages;
	}
	return sp__pagequeue_open(l, SP__PAGE_READ, n * l->batch);
}

static void ask_batch(struct sp__pageload *l, struct sp__pageclient *c)
{
	uint32_t first = (uint32_t)(c - l->clients) * l->batch;

	c->n = c->left < l->batch ? c->left : l->batch;
	c->left -= c->n;
	c->at = 0;
	for (uint32_t i = 0; i < c->n; i++)
		sp__pageload_ask(l, SP__PAGE_READ, (uint32_t)sp__rng_below(&l->rng, l->pages),
				 first + i);
}

static void run_client(struct sp__pageload *l, struct sp__pageclient *c, uint64_t now_ns)
{
	while (!l->over) {
		uint64_t *arrived = &c->arrived_ns[c->at];

		if (c->busy_ns > now_ns) {
			sp__pageload_due(l, c->busy_ns);
			return;
		}
		if (c->at < c->n && !*arrived)
			return;
		if (c->at < c->n) {
			pageload_work(l, &c->busy_ns, *arrived);
			*arrived = 0;
			c->at++;
		} else if (c->left) {
			ask_batch(l, c);
		} else {
			pageclient_finish(l, c);
		}
	}
}

static void run_clients(struct sp__pageload *l, uint64_t now_ns)
{
	for (unsigned i = 0; i < l->opts.clients; i++)
		run_client(l, &l->clients[i], now_ns);
}

static void client_done(struct sp__pageload *l, enum sp__pageclass class,
			const struct sp__pagereq *r, uint64_t now_ns)
{
	(void)class;
	l->arrived_ns[r->cookie] = now_ns ? now_ns : 1;
}

static const struct sp__pageload_ops range_ops = {
	.open = open_clients,
	.run = run_clients,
	.done = client_done,
};

static const struct sp__pageload_ops *ops_of(const struct sp_policy_opts *o)
{
	switch (o->load) {
	case SP_POLICY_SCAN:
		return &scan_ops;
	case SP_POLICY_RANGE:
		return o->extent_threshold ? &sp__pageload_threshold : &range_ops;
	default:
		return &sp__pageload_update;
	}
}

int sp__pageload_open(struct sp__pageload *l, const struct sp_policy_opts *opts, uint64_t pages,
		      unsigned depth, uint64_t seed)
{
	*l = (struct sp__pageload){ .opts = *opts,
				    .ops = ops_of(opts),
				    .pages = (uint32_t)(pages - pages % opts->extent_pages),
				    .depth = depth,
				    .rng = { sp__mix64(seed + 4711) } };
	return l->ops->open(l);
}

void sp__pageload_close(struct sp__pageload *l)
{
	for (size_t i = 0; i < SP__PAGE_CLASSES; i++)
		free(l->queues[i].reqs);
	free(l->scan.arrived_ns);
	free(l->clients);
	free(l->arrived_ns);
	free(l->buffer.state);
	free(l->buffer.dirty.pages);
	free(l->buffer.clean.pages);
	free(l->buffer.where);
	free(l->threshold.state);
	free(l->threshold.here);
	free(l->threshold.worked);
}

void sp__pageload_run(struct sp__pageload *l, uint64_t now_ns)
{
	l->due_ns = UINT64_MAX;
	if (!l->over)
		l->ops->run(l, now_ns);
}

uint32_t sp__pageload_max(const struct sp_policy_opts *o, enum sp__pageclass class)
{
	if (class == SP__PAGE_LOG)
		return SP__PAGELOG_MAX_BYTES / SP__PAGELOG_BLOCK_BYTES;
	return o->threads && class != SP__PAGE_URGENT ? o->extent_pages : 1;
}

static struct sp__pagereq take(struct sp__pagequeue *q)
{
	struct sp__pagereq r = q->reqs[q->head];

	q->head = (q->head + 1) % q->size;
	q->n--;
	return r;
}

/* Extends a request of a thread by the pages that follow it in the queue. */
static void take_following(const struct sp__pageload *l, enum sp__pageclass class,
			   struct sp__pagequeue *q, struct sp__pagereq *r)
{
	uint32_t most = sp__pageload_max(&l->opts, class);

	for (; q->n && r->n < most; r->n++) {
		const struct sp__pagereq *next = &q->reqs[q->head];

		if (next->page != r->page + r->n ||
		    (class == SP__PAGE_READ && next->cookie != r->cookie + r->n))
			break;
		take(q);
	}
}

bool sp__pageload_next(struct sp__pageload *l, enum sp__pageclass *class, struct sp__pagereq *r)
{
	if (sp__pagelog_next(l, r)) {
		*class = SP__PAGE_LOG;
		l->taken[SP__PAGE_LOG]++;
		return true;
	}
	for (unsigned i = SP__PAGE_URGENT; i < SP__PAGE_CLASSES; i++) {
		struct sp__pagequeue *q = &l->queues[i];
		bool threads = l->opts.threads && i != SP__PAGE_URGENT;

		if (!q->n || (threads && l->taken[i] >= l->opts.threads))
			continue;
		*class = (enum sp__pageclass)i;
		*r = take(q);
		if (threads)
			take_following(l, *class, q, r);
		l->taken[i]++;
		return true;
	}
	return false;
}

void sp__pageload_done(struct sp__pageload *l, enum sp__pageclass class,
		       const struct sp__pagereq *r, uint64_t now_ns)
{
	l->taken[class]--;
	if (class == SP__PAGE_LOG)
		return;
	for (uint32_t i = 0; i < r->n; i++) {
		struct sp__pagereq page = { r->page + i, 1, r->cookie + i };

		l->pending[class]--;
		l->ops->done(l, class, &page, now_ns);
	}
}
