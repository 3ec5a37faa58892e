/* SPDX-License-Identifier: MIT */
/*
 * How many requests the simulator serves in a second of real time.
 *
 *	sim_speed [REQUESTS [PART]]
 *
 * One line for each part and setting, with tabs between: the part, the I/O
 * scheduler, requests outstanding, requests per second of real time and of the
 * processor's, and a hash of the requests' order and times of completion.  The hash depends on the
 * number of requests and the setting alone, so two builds that differ in it do not
 * simulate the same.  Parts:
 *
 *	machine		random reads of 4 KB on atlas10k3-like, window of 16
 *	window64	the same with the model's window
 *	blockdev	the same as machine, without files
 *	cache		one stream of 4 KB on ultrastar36lzx-like, whose cache reads ahead
 *	cache-random	random reads and writes there, at the model's window
 *	cache-deep	the same in a window of 4096
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/rng.h"
#include "dev/model.h"
#include "sim/blockdev.h"
#include "sim/machine.h"

#define DEPTH_MAX 4096
#define PAGE 4096u

struct setting {
	const char *part, *sched;
	unsigned depth, window;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void mix(uint64_t *hash, uint64_t v)
{
	*hash = sp__mix64(*hash ^ v);
}

static _Noreturn void fail(const char *what, const struct sp_errinfo *err)
{
	fprintf(stderr, "sim_speed: %s: %s\n", what, err->text);
	exit(1);
}

struct begin {
	double real, cpu;
};

static struct begin begin_now(void)
{
	return (struct begin){ seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

static void report(const struct setting *s, size_t n, const struct begin *b, uint64_t hash)
{
	struct begin now = begin_now();

	printf("%s\t%s\t%u\t%.0f\t%.0f\t%016" PRIx64 "\n", s->part, s->sched, s->depth,
	       (double)n / (now.real - b->real), (double)n / (now.cpu - b->cpu), hash);
}

static void machine(const struct setting *s, size_t total)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	static struct sp__simreq reqs[DEPTH_MAX], *list[DEPTH_MAX];
	struct sp__simreq *r;
	struct sp__rng rng = { 1 };
	struct sp__machine_spec spec;
	struct sp__machine *m;
	uint64_t pages, hash = 0;
	size_t submitted = 0, done = 0, n;
	struct begin begin;
	char text[128];
	int file;

	snprintf(text, sizeof(text), "atlas10k3-like,sched=%s,window=%u", s->sched, s->window);
	if (sp__machine_spec_parse(&spec, text, &err) || sp__machine_open(&m, &spec, &err))
		fail(text, &err);
	pages = sp__machine_model(m)->blocks * sp__machine_model(m)->block_bytes / PAGE;
	file = sp__machine_file(m, SP__SIM_INPUT, pages * PAGE);
	begin = begin_now();
	for (n = 0; n < s->depth; n++)
		list[n] = &reqs[n];
	while (done < total) {
		for (size_t i = 0; i < n; i++)
			*list[i] = (struct sp__simreq){
				.file = (unsigned)file,
				.offset = sp__rng_below(&rng, pages) * PAGE,
				.bytes = PAGE,
			};
		if (file < 0 || sp__machine_submit(m, list, n, false))
			fail(text, &err);
		submitted += n;
		for (r = sp__machine_reap(m, true), n = 0; r; r = r->next) {
			list[n++] = r;
			mix(&hash, r->offset);
			mix(&hash, r->done_ns);
		}
		done += n;
	}
	while (done < submitted)
		for (r = sp__machine_reap(m, true); r; r = r->next)
			done++;
	report(s, done, &begin, hash);
	sp__machine_close(m);
}

/* The next request of a job on the bare device. */
static void next(const struct setting *s, const struct sp__model *m, struct sp__rng *rng,
		 uint64_t number, struct sp__blockreq *r)
{
	uint32_t blocks = PAGE / m->block_bytes;
	uint64_t places = m->blocks / blocks, place = number % places;
	bool write = false;

	if (strcmp(s->part, "cache") != 0)
		place = sp__rng_below(rng, places);
	if (!strncmp(s->part, "cache-", 6))
		write = sp__rng_below(rng, 4) == 0;
	*r = (struct sp__blockreq){ .lbn = place * blocks, .blocks = blocks, .write = write };
}

static void blockdev(const struct setting *s, const char *model, size_t total)
{
	struct sp__blockdev_opts opts = { .sched = s->sched, .window = s->window, .policy = -1 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	static struct sp__blockreq reqs[DEPTH_MAX];
	struct sp__blockreq *r, *rest;
	struct sp__rng rng = { 1 };
	struct sp__blockdev *bd;
	struct sp__model *m;
	uint64_t hash = 0, number = 0;
	size_t done = 0;
	struct begin begin;

	if (sp__model_load(&m, model, &err) || sp__blockdev_open(&bd, m, &opts, &err))
		fail(model, &err);
	begin = begin_now();
	for (size_t i = 0; i < s->depth; i++) {
		r = &reqs[i];
		next(s, m, &rng, number++, r);
		sp__blockdev_submit(bd, 0, &r, 1, false);
	}
	while (done < total) {
		uint64_t now = sp__blockdev_next_ns(bd);

		for (r = sp__blockdev_advance(bd, now); r; r = rest) {
			rest = r->next;
			mix(&hash, r->lbn);
			mix(&hash, r->done_ns);
			next(s, m, &rng, number++, r);
			sp__blockdev_submit(bd, now, &r, 1, false);
			done++;
		}
	}
	report(s, done, &begin, hash);
	sp__blockdev_close(bd);
	sp__model_free(m);
}

static void run(const struct setting *s, size_t total)
{
	if (!strncmp(s->part, "cache", 5))
		blockdev(s, "ultrastar36lzx-like", total);
	else if (!strcmp(s->part, "blockdev"))
		blockdev(s, "atlas10k3-like", total);
	else
		machine(s, total);
}

int main(int argc, char **argv)
{
	static const char *const scheds[] = { "noop", "clook", "deadline" };
	static const unsigned depths[] = { 16, 32, 64 };
	static const struct setting parts[] = { { "machine", NULL, 0, 16 },
						{ "window64", NULL, 0, 64 },
						{ "blockdev", NULL, 0, 16 } };
	static const struct setting cached[] = { { "cache", "noop", 1, 0 },
						 { "cache-random", "noop", 64, 0 },
						 { "cache-deep", "noop", 4096, 4096 } };
	size_t total = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;

	for (size_t p = 0; p < 3; p++) {
		for (size_t k = 0; k < 9; k++) {
			struct setting s = parts[p];

			s.sched = scheds[k / 3];
			s.depth = depths[k % 3];
			if (argc < 3 || !strcmp(argv[2], s.part))
				run(&s, total);
		}
	}
	for (size_t p = 0; p < 3; p++)
		if (argc < 3 || !strcmp(argv[2], cached[p].part))
			run(&cached[p], total);
	return 0;
}
