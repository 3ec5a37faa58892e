/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include "seqtrace.h"
#include "tap.h"

/* Returns the reason if a trace cannot be read; otherwise NULL. */
static const char *refusal(const char *text)
{
	static struct sp_errinfo err;
	struct sp_sequence *seq = NULL;
	int rc;

	memset(&err, 0, sizeof(err));
	seqtrace_write(text);
	rc = sp_sequence_load(&seq, seqtrace_path, NULL, &err);
	sp_sequence_free(seq);
	return rc == SP_EFORMAT && err.code == rc && !strcmp(err.path, seqtrace_path) ? err.text
										      : NULL;
}

static void check_lines(void)
{
	struct sp_sequence *seq = seqtrace_load("# spindle-trace/1\n# anything\n\n"
						"R a%20b%25 4096 8192 16387 10 30 100\n"
						"W - 0 4096 0 -5 20 4096 a new field\n"
						"R a%20b%25 0 4096 0 11 40 0\n"
						"R a%20b%25 0 4096 0 11 40 -5\n",
						SP_SEQUENCE_SUBMIT);
	const struct sp__seqreq *r = seq->req;
	struct sp_sequence_request request;

	ok(seq->n == 2 && seq->nvolumes == 2, "a trace has its requests and volumes");
	ok(!strcmp(seq->volume[0].name, "a b%"), "names lose their escapes");
	ok(seq->volume[0].counts.failed == 1 && seq->volume[0].counts.empty == 1 &&
		   seq->volume[0].counts.requests == 3,
	   "requests that failed or moved nothing are counted apart");
	ok(r[0].write && r[0].line == 5 && r[0].submit_ns == -5 && r[0].volume == 1,
	   "requests are in the order of submission");
	ok(!r[1].write && r[1].offset == 4096 && r[1].bytes == 100 && r[1].prio == 16387,
	   "a request is as long as what it moved");
	ok(sp_sequence_at(seq, 1, &request) == 0 && !strcmp(request.volume, "a b%") &&
		   request.number == 0 && request.submit_ns == 10 && request.done_ns == 30 &&
		   request.offset == 4096 && request.bytes == 100 && request.line == 4,
	   "a request is reported with its volume and times");
	ok(sp_sequence_at(seq, 2, &request) == -ERANGE, "up to the last one that moved data");
	sp_sequence_free(seq);
	seq = seqtrace_load("R v 0 1 0 1 9 1\nR v 1 1 0 2 8 1\nR v 2 1 0 3 8 1\n",
			    SP_SEQUENCE_DONE);
	ok(seq->req[0].offset == 1 && seq->req[1].offset == 2 && seq->req[2].offset == 0,
	   "or in that of completion, equal times in the order of lines");
	sp_sequence_free(seq);
	seq = seqtrace_load("", SP_SEQUENCE_SUBMIT);
	ok(seq->n == 0 && seq->nvolumes == 0, "an empty file is an empty sequence");
	sp_sequence_free(seq);
}

static void check_refusals(void)
{
	static const struct {
		const char *text, *reason;
	} bad[] = {
		{ "# spindle-trace/2\n", "line 1: a version of the format that is not known here" },
		{ "# spindle-trace/10\n",
		  "line 1: a version of the format that is not known here" },
		{ "# spindle-trace/1\nX v 0 1 0 1 2 1\n", "line 2: op is neither R nor W" },
		{ "RW v 0 1 0 1 2 1\n", "line 1: op is neither R nor W" },
		{ "R\n", "line 1: volume is missing" },
		{ "R v -1 1 0 1 2 1\n", "line 1: offset is not a number of bytes" },
		{ "R v 9223372036854775808 1 0 1 2 1\n",
		  "line 1: offset is not a number of bytes" },
		{ "R v 0 4294967296 0 1 2 1\n", "line 1: bytes is not a number of bytes" },
		{ "R v 0 4k 0 1 2 1\n", "line 1: bytes is not a number of bytes" },
		{ "R v 0 1 65536 1 2 1\n", "line 1: prio is not an I/O priority" },
		{ "R v 0 1 0 x 2 1\n", "line 1: submit_ns is not a time" },
		{ "R v 0 1 0 1\n", "line 1: done_ns is not a time" },
		{ "R v 0 1 0 1 2 1\nR v 0 4096 0 1 2 40",
		  "line 2: is cut off: there is no end of line" },
		{ "R v 0 1 0 1 2\n", "line 1: result is not a number" },
		{ "R v 0 1 0 3 2 1\n", "line 1: done_ns is before submit_ns" },
		{ "R v 0 1 0 1 2 2\n", "line 1: result is more than bytes" },
		{ "R v 9223372036854775807 1 0 1 2 1\n",
		  "line 1: the request ends beyond all offsets" },
	};
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sequence *seq = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *reason = refusal(bad[i].text);

		if (!ok(reason && !strcmp(reason, bad[i].reason), "refused: %s", bad[i].reason))
			diag("%s", reason ? reason : "accepted");
	}
	ok(sp_sequence_load(&seq, "/nosuch/trace", NULL, &err) == -ENOENT && err.code == -ENOENT,
	   "a trace that is not there is an error");
	err.code = 0;
	ok(sp_sequence_load(&seq, "/", NULL, &err) == -EISDIR, "so is one that cannot be read");
}

static void check_counts(void)
{
	static const char *const requests[] = { "R in 0 10",  "R in 10 10", "W t 0 10", "W t 10 10",
						"R in 20 10", "W t 30 10",  "R t 0 10", "W t 0 10",
						"R t 10 10",  "W t 5 10",   NULL };
	struct sp_sequence *seq = seqtrace(requests);
	struct sp_sequence_counts c;
	struct sp_sequence_stats s;
	const char *name;

	ok(sp_sequence_volume(seq, 0, &name, &c) == 0 && !strcmp(name, "in") && c.requests == 3 &&
		   c.read_requests == 3 && c.read_bytes == 30 && c.seeks == 1 && c.merges == 2 &&
		   c.cluster_reads == 1 && c.regions == 0,
	   "reads in sequence are one seek and one cluster, whatever happens elsewhere");
	ok(sp_sequence_volume(seq, 1, &name, &c) == 0 && !strcmp(name, "t") &&
		   c.write_requests == 5 && c.write_bytes == 50,
	   "writes are counted by volume");
	ok(c.seeks == 5 && c.merges == 1, "a seek begins elsewhere, a merge is of one kind");
	ok(c.cluster_reads == 1, "writes between do not end a cluster of reads");
	ok(c.regions == 2 && c.region_bytes == 30 && c.overwritten_bytes == 20,
	   "regions are joined where writes touch or overlap");
	ok(sp_sequence_volume(seq, 2, &name, &c) == -ERANGE, "there is no third volume");
	sp_sequence_stats(seq, &s);
	ok(s.volumes == 2 && s.total.requests == 10 && s.total.seeks == 6 && s.device_seeks == 7,
	   "the total is the sum; on one device other volumes are elsewhere");
	sp_sequence_free(seq);
}

static void check_pages(void)
{
	static const char *const requests[] = { "R a 4095 2", "W b 8192 8193", "R a 0 1", NULL };
	static const uint64_t want[] = {
		0, 1, 5 | SP__SEQPAGE_WRITE, 6 | SP__SEQPAGE_WRITE, 7 | SP__SEQPAGE_WRITE, 0
	};
	struct sp_sequence *seq = seqtrace(requests);
	struct sp__seqpages p;

	ok(sp__sequence_pages(seq, 4096, &p) == 0 && p.n == 6 &&
		   !memcmp(p.pages, want, sizeof(want)) && p.base[0] == 0 && p.base[1] == 3,
	   "requests become pages, volumes follow one another with a gap");
	sp__sequence_pages_release(&p);
	sp_sequence_free(seq);
}

static void check_many_volumes(void)
{
	static char text[200000];
	struct sp_sequence *seq;
	size_t n = 0;

	for (int i = 0; i < 3000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "R f%d %d 1 0 %d %d 1\n",
				      i % 1000, i, i, i);
	seq = seqtrace_load(text, SP_SEQUENCE_SUBMIT);
	ok(seq->nvolumes == 1000 && seq->n == 3000 && seq->req[2999].volume == 999 &&
		   !strcmp(seq->volume[999].name, "f999"),
	   "a thousand volumes are distinguished");
	sp_sequence_free(seq);
}

static enum sp_sequence_verdict compare(const char *const *a, const char *const *b,
					struct sp_sequence_comparison *c)
{
	struct sp_sequence *sa = seqtrace(a), *sb = seqtrace(b);

	if (sp_sequence_compare(sa, sb, c) < 0)
		exit(1);
	/* Names do not outlive their sequence. */
	c->first.volume = c->second.volume = NULL;
	sp_sequence_free(sa);
	sp_sequence_free(sb);
	return c->verdict;
}

static void check_orders(void)
{
	static const char *const a[] = { "W v 0 8", "W u 0 8", "R v 4 8", "R v 0 8",
					 "W v 8 8", "W v 0 4", NULL };
	static const char *const legal[] = { "W u 0 8", "W v 0 8", "R v 0 8", "R v 4 8",
					     "W v 0 4", "W v 8 8", NULL };
	static const char *const raw[] = { "R v 4 8", "W v 0 8", "W u 0 8", "R v 0 8",
					   "W v 8 8", "W v 0 4", NULL };
	static const char *const war[] = { "W v 0 8", "W u 0 8", "R v 0 8", "W v 8 8",
					   "R v 4 8", "W v 0 4", NULL };
	static const char *const waw[] = { "W v 0 4", "W u 0 8", "W v 0 8", "R v 4 8",
					   "R v 0 8", "W v 8 8", NULL };
	struct sp_sequence_comparison c;

	ok(compare(a, a, &c) == SP_SEQUENCE_LEGAL && !c.moved, "a sequence permutes itself");
	ok(compare(a, legal, &c) == SP_SEQUENCE_LEGAL && c.moved == 6,
	   "requests for different bytes, and reads, may change their order");
	ok(compare(a, raw, &c) == SP_SEQUENCE_READ_AFTER_WRITE && c.first.line == 1 &&
		   c.second.line == 3 && c.first_line_b == 2 && c.second_line_b == 1,
	   "a read that comes before its write is found, with the lines");
	ok(compare(a, war, &c) == SP_SEQUENCE_WRITE_AFTER_READ && c.first.line == 3 &&
		   !c.first.write && c.second.offset == 8,
	   "so is a write before a read of the old bytes");
	ok(compare(a, waw, &c) == SP_SEQUENCE_WRITE_AFTER_WRITE && c.second.bytes == 4,
	   "so are writes that change places where they overlap");
}

static void check_multisets(void)
{
	static const char *const a[] = { "W v 0 8", "R v 0 8", "R v 0 8", NULL };
	static const char *const fewer[] = { "W v 0 8", "R v 0 8", NULL };
	static const char *const other[] = { "W v 0 8", "R v 0 8", "R v 0 4", "R w 0 8", NULL };
	static const char *const split[] = { "W v 0 8", "R v 0 8", "R v 0 4", "R v 4 4", NULL };
	static const char *const none[] = { NULL };
	struct sp_sequence_comparison c;

	ok(compare(a, fewer, &c) == SP_SEQUENCE_MISSING && c.first.line == 3,
	   "a missing request is reported, the last of equal ones");
	ok(compare(fewer, a, &c) == SP_SEQUENCE_EXTRA && c.first.line == 3, "and one too many");
	ok(compare(fewer, other, &c) == SP_SEQUENCE_EXTRA && c.first.line == 3 &&
		   c.first.bytes == 4,
	   "the first of them in its sequence");
	ok(compare(a, split, &c) == SP_SEQUENCE_MISSING, "two halves are not the whole");
	ok(compare(none, none, &c) == SP_SEQUENCE_LEGAL, "nothing permutes nothing");
}

/* True if the order of b breaks a, by all pairs. */
static bool breaks(const struct sp_sequence *a, const size_t *order)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t j = i + 1; j < a->n; j++) {
			const struct sp__seqreq *x = &a->req[order[i]], *y = &a->req[order[j]];

			if (order[i] > order[j] && (x->write || y->write) &&
			    x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes)
				return true;
		}
	return false;
}

/* Random sequences with few changes of place: the quick answer is that of all pairs. */
static void check_random(void)
{
	int agree = 0, legal = 0, rounds = 2000;
	unsigned seed = 1;

	for (int r = 0; r < rounds; r++) {
		struct sp__seqvolume v = { .name = (char[]){ "v" } };
		struct sp__seqreq ra[12], rb[12];
		size_t order[12], n = 4 + (unsigned)rand_r(&seed) % 9;
		struct sp_sequence a = { .req = ra, .n = n, .volume = &v, .nvolumes = 1 };
		struct sp_sequence b = { .req = rb, .n = n, .volume = &v, .nvolumes = 1 };
		struct sp_sequence_comparison c;

		for (size_t i = 0; i < n; i++) {
			/* Different lengths: which request is which is then certain. */
			ra[i] = (struct sp__seqreq){ .offset = (unsigned)rand_r(&seed) % 200,
						     .bytes = 1 + (unsigned)i * 3,
						     .write = rand_r(&seed) % 3 == 0,
						     .line = i + 1 };
			order[i] = i;
		}
		for (int k = 0; k < 4; k++) {
			size_t i = (unsigned)rand_r(&seed) % (n - 1), t = order[i];

			order[i] = order[i + 1];
			order[i + 1] = t;
		}
		for (size_t i = 0; i < n; i++)
			rb[i] = ra[order[i]];
		if (sp_sequence_compare(&a, &b, &c) < 0)
			exit(1);
		agree += (c.verdict != SP_SEQUENCE_LEGAL) == breaks(&a, order);
		legal += c.verdict == SP_SEQUENCE_LEGAL;
	}
	ok(agree == rounds && legal > rounds / 10 && legal < rounds * 9 / 10,
	   "random permutations are judged as by looking at all pairs");
}

/* Random requests to three volumes, as a trace. */
static void random_trace(char *text, size_t size, unsigned *seed)
{
	size_t at = 0;

	for (int i = 0; i < 60; i++)
		at += (size_t)snprintf(text + at, size - at, "%c v%d %d %d 0 %d %d %d\n",
				       rand_r(seed) % 3 ? 'R' : 'W', rand_r(seed) % 3,
				       rand_r(seed) % 100, 1 + i, i, i, 1 + i);
}

/* Whatever is refined is a legal permutation, and a window of one leaves it as it is. */
static void check_refined(void)
{
	static char text[4096];
	bool legal = true, left = true;
	uint64_t moved = 0;
	unsigned seed = 5;

	for (int r = 0; r < 300; r++) {
		enum sp_sequence_refinement how = 1 + r % 3;
		size_t window = r % 5 ? 1 + (unsigned)rand_r(&seed) % 70 : 1;
		struct sp_sequence_comparison c;
		struct sp_sequence *a, *b;

		random_trace(text, sizeof(text), &seed);
		a = seqtrace_load(text, SP_SEQUENCE_SUBMIT);
		b = seqtrace_load(text, SP_SEQUENCE_SUBMIT);
		if (sp_sequence_refine(b, how, window) < 0 || sp_sequence_compare(a, b, &c) < 0)
			exit(1);
		legal &= c.verdict == SP_SEQUENCE_LEGAL;
		left &= window > 1 || c.moved == 0;
		moved += c.moved;
		sp_sequence_free(a);
		sp_sequence_free(b);
	}
	ok(legal && moved > 300, "a refined trace is a legal permutation: %d requests moved",
	   (int)moved);
	ok(left, "a window of one leaves a sequence as it is");
}

/* Writes change places if they only touch, and stay if they share a byte. */
static void check_refined_neighbours(void)
{
	for (unsigned shared = 0; shared < 2; shared++) {
		char text[128];
		struct sp_sequence *seq;

		snprintf(text, sizeof(text), "R a 0 4 0 1 1 4\nW a 8 4 0 2 2 4\nW a %u 4 0 3 3 4\n",
			 4 + shared);
		seq = seqtrace_load(text, SP_SEQUENCE_SUBMIT);
		ok(sp_sequence_refine(seq, SP_SEQUENCE_BY_OFFSET, 3) == 0 &&
			   seq->req[1].offset == (shared ? 8 : 4),
		   "a write %s",
		   shared ? "of the same byte waits for the one before it"
			  : "next to another is made before it");
		sp_sequence_free(seq);
	}
}

/* Counts are made again, those of requests that are not in the sequence stay. */
static void check_refined_counts(void)
{
	struct sp_sequence *seq = seqtrace_load("W a 0 1 0 1 1 1\nW b 0 1 0 2 2 1\n"
						"W a 1 1 0 3 3 1\nW b 1 1 0 4 4 -5\n",
						SP_SEQUENCE_SUBMIT);
	struct sp_sequence_stats s;
	int rc = sp_sequence_refine(seq, SP_SEQUENCE_BY_FILE, 2);

	sp_sequence_stats(seq, &s);
	ok(rc == 0 && s.device_seeks == 2 && s.total.requests == 4 && s.total.failed == 1 &&
		   s.total.regions == 2 && s.total.write_bytes == 3,
	   "a refined sequence is counted again");
	ok(s.refinement == SP_SEQUENCE_BY_FILE && s.window == 2, "and tells how it was refined");
	ok(sp_sequence_refine(seq, SP_SEQUENCE_BY_FILE, 0) == -EINVAL, "no window is refused");
	sp_sequence_free(seq);
}

int main(void)
{
	seqtrace_begin();
	check_lines();
	check_refusals();
	check_counts();
	check_pages();
	check_many_volumes();
	check_orders();
	check_multisets();
	check_random();
	check_refined();
	check_refined_neighbours();
	check_refined_counts();
	seqtrace_end();
	return done();
}
