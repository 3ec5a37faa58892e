/* SPDX-License-Identifier: MIT */
/*
 * Progress: the content and rate of calls.
 */
#include "base/clock.h"
#include "obs/progress.h"
#include "tap.h"

#define CALLS 1000
#define TENTH_NS 100000000u

struct seen {
	uint64_t calls, done, total;
	int phase;
};

static void note(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes)
{
	struct seen *s = arg;

	s->calls++;
	s->phase = phase;
	s->done = done_bytes;
	s->total = total_bytes;
}

#define SECOND UINT64_C(1000000000)

/* 64 of 1024 bytes are a sixteenth. */
static void predicted(void)
{
	struct sp__progress p = { .last = 1 };

	sp__progress_predict(&p, 1 * SECOND, 0, 1024);
	sp__progress_predict(&p, 9 * SECOND, 63, 1024);
	ok(!p.begin_ns, "the first sixteenth says nothing");
	sp__progress_predict(&p, 10 * SECOND, 124, 1024);
	sp__progress_predict(&p, 12 * SECOND, 187, 1024);
	ok(!p.end_ns, "nothing is predicted of less than a second one");
	sp__progress_predict(&p, 14 * SECOND, 224, 1024);
	ok(p.end_ns == 46 * SECOND, "4 s for 100 bytes are 36 s for 900");
	sp__progress_predict(&p, 15 * SECOND, 1000, 1024);
	ok(p.end_ns == 46 * SECOND, "it is predicted once");
	p = (struct sp__progress){ .last = 1 };
	sp__progress_predict(&p, 10 * SECOND, 64, 1024);
	sp__progress_predict(&p, 14 * SECOND, 2000, 1024);
	ok(p.end_ns > 11 * SECOND && p.end_ns < 14 * SECOND,
	   "more bytes than were expected end it");
	p = (struct sp__progress){ .last = 1 };
	sp__progress_predict(&p, 10 * SECOND, 24, 0);
	sp__progress_predict(&p, 14 * SECOND, 124, 0);
	ok(!p.end_ns, "nothing is predicted without a total");
	sp__progress_predict(&p, 15 * SECOND, 20, 1024);
	ok(!p.end_ns, "no end is predicted if less is done than at the start");
	p = (struct sp__progress){ .last = 1 };
	sp__progress_report(&p, 0, 2, 2);
	ok(!p.begin_ns, "earlier phases are not the last");
	sp__progress_report(&p, 1, 1, 2);
	ok(p.begin_ns, "half of the last one is more than a sixteenth");
}

int main(void)
{
	struct seen s = { 0 };
	struct sp__progress p = { .tell = note, .arg = &s, .phase = -1, .last = -1 };
	struct sp__progress deaf = { .last = -1 };
	uint64_t begin = sp__now_ns(), tenths;

	sp__progress_report(&p, 2, 30, 400);
	ok(s.calls == 1 && s.phase == 2 && s.done == 30 && s.total == 400,
	   "the first call is passed on unchanged");
	for (int i = 0; i < CALLS; i++)
		sp__progress_report(&p, 2, 31, 400);
	tenths = (sp__now_ns() - begin) / TENTH_NS;
	ok(s.calls <= 1 + tenths, "many calls are passed on at most ten times a second");
	p.reported_ns -= TENTH_NS;
	sp__progress_report(&p, 3, 32, 0);
	ok(s.phase == 3 && s.done == 32 && s.total == 0,
	   "a tenth of a second later it is passed on again");
	sp__progress_report(&p, 4, 0, 7);
	ok(s.phase == 4 && s.done == 0 && s.total == 7,
	   "the start of a phase is passed on immediately");
	sp__progress_report(&deaf, 1, 1, 1);
	ok(!deaf.reported_ns, "without a callback nothing is reported");
	predicted();
	return done();
}
