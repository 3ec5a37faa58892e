/* SPDX-License-Identifier: MIT */
/*
 * Reports progress to the caller, by the clock of the real machine.
 *
 * A report is made at the beginning of each phase, and otherwise at most about 10 times per second.
 * The end of the last phase is predicted from its second sixteenth: in the first one, few
 * operations run concurrently.
 *
 * Thread rule: one thread at a time uses a struct sp__progress.  Any thread may call
 * sp__progress_add().
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include "base/clock.h"

#define SP__PROGRESS_PACE_NS 100000000u

struct sp__progress {
	/* The callback; NULL: no reports. */
	void (*tell)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *arg;
	uint64_t reported_ns;
	int phase;			/* last phase reported */
	int last;			/* last of all phases */
	uint64_t begin_ns, begin_bytes; /* when 1/16 of it was done */
	uint64_t end_ns;		/* predicted end of it; 0: unknown */
};

static inline void sp__progress_predict(struct sp__progress *p, uint64_t now, uint64_t done_bytes,
					uint64_t total_bytes)
{
	uint64_t done = done_bytes - p->begin_bytes;

	if (!p->begin_ns) {
		if (done_bytes < total_bytes / 16)
			return;
		p->begin_ns = now;
		p->begin_bytes = done_bytes;
	} else if (!p->end_ns && done_bytes > p->begin_bytes && total_bytes > p->begin_bytes &&
		   done >= total_bytes / 16) {
		p->end_ns = p->begin_ns + (uint64_t)((double)(now - p->begin_ns) / (double)done *
						     (double)(total_bytes - p->begin_bytes));
	}
}

/* Returns the predicted duration from begin_ns to the end of the last phase; 0: unknown. */
static inline double sp__progress_end_s(const struct sp__progress *p, uint64_t begin_ns)
{
	return p->end_ns ? (double)(p->end_ns - begin_ns) * 1e-9 : 0;
}

/* Reports a state. total_bytes 0: unknown. */
static inline void sp__progress_report(struct sp__progress *p, int phase, uint64_t done_bytes,
				       uint64_t total_bytes)
{
	uint64_t now = sp__now_ns();

	if (phase == p->last)
		sp__progress_predict(p, now, done_bytes, total_bytes);
	if (!p->tell)
		return;
	if (phase == p->phase && now - p->reported_ns < SP__PROGRESS_PACE_NS)
		return;
	p->reported_ns = now;
	p->phase = phase;
	p->tell(p->arg, phase, done_bytes, total_bytes);
}

/* Counts the bytes of one phase that several threads process. */
struct sp__progress_phase {
	struct sp__progress progress; /* used by the thread that has set busy */
	int phase;
	uint64_t total_bytes;
	_Atomic uint64_t done_bytes;
	atomic_bool busy;
};

#define SP__PROGRESS_PHASE_INIT(callback, callback_arg)                                            \
	{                                                                                          \
		.progress = {.tell = (callback), .arg = (callback_arg), .phase = -1, .last = -1 }  \
	}

/* Begins a phase, before its threads start. total_bytes 0: unknown. */
static inline void sp__progress_begin(struct sp__progress_phase *p, int phase, uint64_t total_bytes)
{
	p->phase = phase;
	p->total_bytes = total_bytes;
	p->done_bytes = 0;
	if (p->progress.tell)
		sp__progress_report(&p->progress, phase, 0, total_bytes);
}

/* Adds bytes that a thread has processed; p may be NULL.  Costs nothing without a callback. */
static inline void sp__progress_add(struct sp__progress_phase *p, uint64_t bytes)
{
	uint64_t done;

	if (!p || !p->progress.tell)
		return;
	atomic_fetch_add_explicit(&p->done_bytes, bytes, memory_order_relaxed);
	if (atomic_exchange_explicit(&p->busy, true, memory_order_acquire))
		return;
	done = atomic_load_explicit(&p->done_bytes, memory_order_relaxed);
	if (p->total_bytes && done > p->total_bytes)
		done = p->total_bytes;
	sp__progress_report(&p->progress, p->phase, done, p->total_bytes);
	atomic_store_explicit(&p->busy, false, memory_order_release);
}
