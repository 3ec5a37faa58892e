/* SPDX-License-Identifier: MIT */
/*
 * Turns of threads that read one device: how many there are, and what changes that.
 */
#define TAP_THREADS
#include <stdatomic.h>
#include "base/task.h"
#include "flow/parts.h"
#include "tap.h"

#define THREADS 4
#define ROUNDS 500

static struct sp__turns turns;
static atomic_uint reading, max_reading, rounds;

static void one_turn(uint64_t chunks, uint64_t waited)
{
	sp__turns_take(&turns);
	sp__turns_give(&turns, chunks, waited);
}

/* Each turn waits for half of its chunks, so none is added. */
static void read_in_turns(void *unused)
{
	unsigned now, max;

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		sp__turns_take(&turns);
		now = atomic_fetch_add(&reading, 1) + 1;
		max = atomic_load(&max_reading);
		while (now > max && !atomic_compare_exchange_weak(&max_reading, &max, now))
			;
		atomic_fetch_add(&rounds, 1);
		atomic_fetch_sub(&reading, 1);
		sp__turns_give(&turns, 8, 4);
	}
}

static void test_threads(void)
{
	char arg[THREADS];

	sp__turns_open(&turns, THREADS);
	sp__tasks_run(THREADS, read_in_turns, arg, 1);
	ok(atomic_load(&max_reading) == 1, "one thread reads at a time while readers wait");
	ok(atomic_load(&rounds) == THREADS * ROUNDS, "every thread gets its turns");
	sp__turns_close(&turns);
}

static void test_number(void)
{
	sp__turns_open(&turns, 3);
	ok(turns.allowed == 1, "there is one turn at first");
	one_turn(16, 2);
	ok(turns.allowed == 2, "a reader that waited for an eighth of its chunks adds a turn");
	one_turn(16, 3);
	ok(turns.allowed == 2, "one that waited for more adds none");
	one_turn(0, 0);
	one_turn(16, 0);
	ok(turns.allowed == 3, "there are never more than the maximum");
	one_turn(16, 8);
	ok(turns.allowed == 2, "a reader that waited for half of its chunks removes a turn");
	one_turn(16, 16);
	one_turn(16, 16);
	ok(turns.allowed == 1, "one turn remains");
	sp__turns_close(&turns);
}

static void test_stop(void)
{
	sp__turns_open(&turns, 1);
	sp__turns_take(&turns);
	sp__turns_stop(&turns);
	sp__turns_take(&turns);
	ok(turns.taken == 2, "after a stop no thread waits");
	sp__turns_give(&turns, 8, 8);
	sp__turns_give(&turns, 8, 8);
	sp__turns_close(&turns);
}

int main(void)
{
	test_number();
	test_threads();
	test_stop();
	return done();
}
