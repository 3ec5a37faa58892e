/* SPDX-License-Identifier: MIT */
/* Items that are divided among threads: each is done once, and the first error in order is kept. */
#define TAP_THREADS

#include <string.h>
#include "base/err.h"
#include "base/task.h"
#include "tap.h"

#define ITEMS 1000

struct items {
	_Atomic unsigned done[ITEMS];
	_Atomic unsigned busy[SP__DEAL_MAX]; /* calls per worker now */
	_Atomic bool mixed;		     /* two calls with one worker concurrently */
	uint64_t bad;			     /* from this item on, every seventh fails */
};

static int do_item(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err)
{
	struct items *s = arg;
	int rc = 0;

	if (worker >= SP__DEAL_MAX || atomic_fetch_add(&s->busy[worker], 1))
		s->mixed = true;
	s->done[item]++;
	if (item >= s->bad && item % 7 == 0)
		rc = sp__errf(err, SP_EFORMAT, "read", NULL, (long long)item, "item %d", (int)item);
	s->busy[worker]--;
	return rc;
}

/* True if the first n items were done once, and the later ones at most once. */
static bool done_once(const struct items *s, uint64_t n)
{
	for (uint64_t i = 0; i < ITEMS; i++)
		if (s->done[i] > 1 || (i < n && !s->done[i]))
			return false;
	return true;
}

static void check(unsigned threads)
{
	struct items all = { .bad = ITEMS }, bad = { .bad = 350 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp__deal(threads, ITEMS, do_item, &all, &err);

	ok(!rc && !err.code && done_once(&all, ITEMS) && !all.mixed, "%u threads do each item once",
	   threads);
	rc = sp__deal(threads, ITEMS, do_item, &bad, &err);
	ok(rc == SP_EFORMAT && err.offset == 350 && !strcmp(err.text, "item 350") &&
		   done_once(&bad, 351) && !bad.mixed,
	   "%u threads report the first item that fails", threads);
	ok(!sp__deal(threads, 0, do_item, &bad, NULL), "%u threads accept no items", threads);
}

int main(void)
{
	struct items bad = { .bad = 0 };

	for (unsigned threads = 1; threads <= 100; threads = 3 * threads + 1) {
		sp__tasks_open(threads);
		check(threads);
		sp__tasks_close();
	}
	ok(sp__deal(3, ITEMS, do_item, &bad, NULL) == SP_EFORMAT, "an error needs no description");
	return done();
}
