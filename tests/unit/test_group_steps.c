/* SPDX-License-Identifier: MIT */
/*
 * Groupings in two steps: the same bytes as in one, and damaged partial totals.
 */
#define TAP_THREADS

#include <string.h>
#include <unistd.h>
#include <spindle/group.h>
#include "base/rng.h"
#include "tap.h"

#define RECORDS 3000
#define PIECES 4
#define DAMAGED 300
#define AGGREGATES                                                                                 \
	"count(), sum(x), mean(x), min(x), max(x), first(x), last(n), distinct(x), median(x), "    \
	"p99(n), var(x), stddev(n), mode(x), list(n), corr(n, x), slope(n, x)"

static char folder[] = "/tmp/sp-group-steps-XXXXXX", paths[PIECES + 3][64];
static const char *const keys[] = { "k:f" };
static struct sp_errinfo err;

enum { WHOLE = PIECES, BAD, OUT };

static struct sp_group_opts options(void)
{
	struct sp_group_opts o = SP_GROUP_OPTS_INIT;
	static const char *const temporary[] = { folder };

	o.format = (struct sp_recfmt){ .kind = SP_REC_CSV, .eol = '\n', .separator = ',' };
	o.header = true;
	o.keys = keys;
	o.nkeys = 1;
	o.aggregates = AGGREGATES;
	o.run.memory_bytes = (uint64_t)1 << 20;
	o.run.tmpdirs = temporary;
	o.run.ntmpdirs = 1;
	return o;
}

static void put(const char *path, const char *data, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, n, f) != n || fclose(f))
		abort();
}

static char *get(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	char *data = malloc((size_t)1 << 20);

	if (!f || !data)
		abort();
	*n = fread(data, 1, (size_t)1 << 20, f);
	fclose(f);
	return data;
}

static int run(const struct sp_group_opts *o, enum sp_group_step step, unsigned first, unsigned n,
	       uint64_t position)
{
	const char *inputs[PIECES];
	struct sp_group_io io = { .step = step,
				  .position = position,
				  .header = { "k,n,x\n", 6 },
				  .inputs = inputs,
				  .ninputs = n,
				  .output = paths[OUT] };

	for (unsigned i = 0; i < n; i++)
		inputs[i] = paths[first + i];
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp_group_run(o, &io, NULL, &err);
}

/* Writes random records as a whole and in pieces; returns where the pieces begin. */
static void make_records(size_t begin[PIECES])
{
	static const char *const values[] = { "", "1.25", "-3", "1e-12", "7e30", "0.1", "99" };
	char *text = malloc((size_t)1 << 20), *to = text + sprintf(text, "k,n,x\n"), *from = to;
	struct sp__rng rng = { 5 };

	if (!text)
		abort();
	for (unsigned i = 0; i < RECORDS; i++) {
		to += sprintf(to, "%c%d,%d,%s\n", "aAbB"[sp__rng_next(&rng) % 4],
			      (int)(sp__rng_next(&rng) % 9), (int)(sp__rng_next(&rng) % 50),
			      values[sp__rng_next(&rng) % 7]);
		if ((i + 1) % (RECORDS / PIECES))
			continue;
		/* A piece begins with the header. */
		begin[i / (RECORDS / PIECES)] = (size_t)(from - text);
		memcpy(text + ((size_t)1 << 19), "k,n,x\n", 6);
		memcpy(text + ((size_t)1 << 19) + 6, from, (size_t)(to - from));
		put(paths[i / (RECORDS / PIECES)], text + ((size_t)1 << 19),
		    (size_t)(to - from) + 6);
		from = to;
	}
	put(paths[WHOLE], text, (size_t)(to - text));
	free(text);
}

static void two_steps_are_one(const struct sp_group_opts *o)
{
	size_t begin[PIECES], nwant = 0, ngot = 0, n;
	char *want = NULL, *got = NULL, *data;
	int rc;

	make_records(begin);
	rc = run(o, SP_GROUP_BOTH_STEPS, WHOLE, 1, 0);
	if (!rc)
		want = get(paths[OUT], &nwant);
	for (unsigned i = 0; !rc && i < PIECES; i++) {
		rc = run(o, SP_GROUP_FIRST_STEP, i, 1, begin[i]);
		if (rc)
			break;
		data = get(paths[OUT], &n);
		put(paths[i], data, n);
		free(data);
	}
	if (!rc)
		rc = run(o, SP_GROUP_SECOND_STEP, 0, PIECES, 0);
	if (!rc)
		got = get(paths[OUT], &ngot);
	ok(!rc && nwant > 1000 && nwant == ngot && !memcmp(want, got, nwant),
	   "two steps have the bytes of one: %d %s", rc, err.text);
	free(want);
	free(got);
}

static void damage_is_no_crash(const struct sp_group_opts *o)
{
	struct sp__rng rng = { 9 };
	unsigned refused = 0, other = 0;
	size_t n;
	char *good = get(paths[0], &n), *bad = malloc(n + 1);

	for (unsigned i = 0; bad && i < DAMAGED; i++) {
		const size_t at = sp__rng_next(&rng) % n;
		const size_t left = sp__rng_next(&rng) % 8 ? n : at + 1;
		int rc;

		memcpy(bad, good, n);
		bad[at] = (char)(sp__rng_next(&rng) % 4 ? sp__rng_next(&rng)
							: sp__rng_next(&rng) % 6);
		put(paths[BAD], bad, left);
		rc = run(o, SP_GROUP_SECOND_STEP, BAD, 1, 0);
		refused += rc == SP_ECORRUPT;
		other += rc && rc != SP_ECORRUPT;
	}
	ok(refused > DAMAGED / 20 && !other,
	   "damaged partial totals are an error or other totals: %u, %u", refused, other);
	free(good);
	free(bad);
}

static void another_order_is_refused(struct sp_group_opts o)
{
	o.order = "first";
	ok(run(&o, SP_GROUP_FIRST_STEP, WHOLE, 1, 0) == -EINVAL &&
		   run(&o, SP_GROUP_SECOND_STEP, 0, 1, 0) == -EINVAL,
	   "another order is refused: %s", err.text);
}

int main(void)
{
	const struct sp_group_opts o = options();

	if (!mkdtemp(folder))
		return 1;
	for (unsigned i = 0; i < PIECES + 3; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%u", folder, i);
	two_steps_are_one(&o);
	damage_is_no_crash(&o);
	another_order_is_refused(o);
	for (unsigned i = 0; i < PIECES + 3; i++)
		unlink(paths[i]);
	rmdir(folder);
	return done();
}
