/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sim/sequence.h"
#include "sim/sequence_parse.h"
#include "tap.h"

static char path[4096];

static struct sp_sequence *load_as(const char *text, enum sp_sequence_order order)
{
	struct sp_sequence *seq = NULL;
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) == EOF || fclose(f))
		exit(1);
	if (sp_sequence_load(&seq, path, order, NULL) < 0)
		exit(1);
	return seq;
}

static struct sp_sequence *load(const char *text)
{
	return load_as(text, SP_SEQUENCE_SUBMIT);
}

/* Why a trace cannot be read; NULL if it can. */
static const char *refusal(const char *text)
{
	static struct sp_errinfo err;
	struct sp_sequence *seq = NULL;
	FILE *f = fopen(path, "w");
	int rc;

	memset(&err, 0, sizeof(err));
	if (!f || fputs(text, f) == EOF || fclose(f))
		exit(1);
	rc = sp_sequence_load(&seq, path, SP_SEQUENCE_SUBMIT, &err);
	sp_sequence_free(seq);
	return rc == SP_EFORMAT && err.code == rc && !strcmp(err.path, path) ? err.text : NULL;
}

static void check_lines(void)
{
	struct sp_sequence *seq = load("# spindle-trace/1\n# anything\n\n"
				       "R a%20b%25 4096 8192 16387 10 30 100\n"
				       "W - 0 4096 0 -5 20 4096 a new field\n"
				       "R a%20b%25 0 4096 0 11 40 0\n"
				       "R a%20b%25 0 4096 0 11 40 -5");
	const struct sp__seqreq *r = seq->req;

	ok(seq->n == 2 && seq->nvolumes == 2, "a trace has its requests and volumes");
	ok(!strcmp(seq->volume[0].name, "a b%"), "names lose their escapes");
	ok(seq->volume[0].counts.failed == 1 && seq->volume[0].counts.empty == 1 &&
		   seq->volume[0].counts.requests == 3,
	   "requests that failed or moved nothing are counted apart");
	ok(r[0].write && r[0].line == 5 && r[0].submit_ns == -5 && r[0].volume == 1,
	   "requests stand in the order of submission");
	ok(!r[1].write && r[1].offset == 4096 && r[1].bytes == 100 && r[1].prio == 16387,
	   "a request is as long as what it moved");
	sp_sequence_free(seq);
	seq = load_as("R v 0 1 0 1 9 1\nR v 1 1 0 2 8 1\nR v 2 1 0 3 8 1\n", SP_SEQUENCE_DONE);
	ok(seq->req[0].offset == 1 && seq->req[1].offset == 2 && seq->req[2].offset == 0,
	   "or in that of completion, equal times in the order of lines");
	sp_sequence_free(seq);
	seq = load("");
	ok(seq->n == 0 && seq->nvolumes == 0, "an empty file is an empty sequence");
	sp_sequence_free(seq);
}

static void check_refusals(void)
{
	static const struct {
		const char *text, *why;
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
		{ "R v 0 1 0 1 2\n", "line 1: result is not a number" },
		{ "R v 0 1 0 3 2 1\n", "line 1: done_ns is before submit_ns" },
		{ "R v 0 1 0 1 2 2\n", "line 1: result is more than bytes" },
		{ "R v 9223372036854775807 1 0 1 2 1\n",
		  "line 1: the request ends beyond all offsets" },
	};
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sequence *seq = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *why = refusal(bad[i].text);

		if (!ok(why && !strcmp(why, bad[i].why), "refused: %s", bad[i].why))
			diag("%s", why ? why : "accepted");
	}
	ok(sp_sequence_load(&seq, "/nosuch/trace", SP_SEQUENCE_SUBMIT, &err) == -ENOENT &&
		   err.code == -ENOENT,
	   "a trace that is not there is an error");
	err.code = 0;
	ok(sp_sequence_load(&seq, "/", SP_SEQUENCE_SUBMIT, &err) == -EISDIR,
	   "so is one that cannot be read");
}

/* A trace of requests in a short notation: "R a 0 4096" and so on, in order. */
static struct sp_sequence *sequence(const char *const *requests)
{
	char text[8192];
	size_t n = 0;

	for (int i = 0; requests[i]; i++) {
		const char *bytes = strrchr(requests[i], ' ') + 1;

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s 0 %d %d %s\n", requests[i], i,
				      i, bytes);
	}
	text[n] = '\0';
	return load(text);
}

static void check_counts(void)
{
	static const char *const requests[] = { "R in 0 10",  "R in 10 10", "W t 0 10", "W t 10 10",
						"R in 20 10", "W t 30 10",  "R t 0 10", "W t 0 10",
						"R t 10 10",  "W t 5 10",   NULL };
	struct sp_sequence *seq = sequence(requests);
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

static int stop_at(void *arg, const struct sp__seqreq *req, uint64_t page)
{
	return page == *(uint64_t *)arg ? 7 + req->write : 0;
}

static void check_pages(void)
{
	static const char *const requests[] = { "R a 4095 2", "W b 8192 8193", "R a 0 1", NULL };
	static const uint64_t want[] = { 0, 1, 5, 6, 7, 0 };
	struct sp_sequence *seq = sequence(requests);
	struct sp__seqpages p;
	uint64_t stop = 3;

	ok(sp__sequence_pages(seq, 4096, &p) == 0 && p.n == 6 &&
		   !memcmp(p.pages, want, sizeof(want)) && p.base[0] == 0 && p.base[1] == 3,
	   "requests become pages, volumes lie one behind the other with a gap");
	sp__sequence_pages_release(&p);
	ok(sp__sequence_each_page(seq, 4096, stop_at, &stop) == 8, "who walks over pages can stop");
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
	seq = load(text);
	ok(seq->nvolumes == 1000 && seq->n == 3000 && seq->req[2999].volume == 999 &&
		   !strcmp(seq->volume[999].name, "f999"),
	   "a thousand volumes are told apart");
	sp_sequence_free(seq);
}

int main(void)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/sequenceXXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	check_lines();
	check_refusals();
	check_counts();
	check_pages();
	check_many_volumes();
	unlink(path);
	return done();
}
