/* SPDX-License-Identifier: MIT */
/*
 * Parts against one scan of the same inputs: the same records in the same order, for all formats.
 */
#define TAP_THREADS
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/rng.h"
#include "base/task.h"
#include "flow/parts.h"
#include "rec/recfmt.h"
#include "tap.h"

#define MAX_PARTS 256
#define READERS 3

static char dir[] = "/tmp/sp-parts.XXXXXX";
static const struct sp_recfmt lines = { .kind = SP_REC_LINE, .eol = '\n' };
static const struct sp_recfmt csv = { .kind = SP_REC_CSV, .eol = '\n', .separator = ',' };
static const struct sp_recfmt fixed = { .kind = SP_REC_FIXED, .fixed_bytes = 24 };
static struct sp_errinfo err;
static struct sp__waits waits;

static struct sp__scan_opts options(const struct sp_recfmt *f, const char *const *in, size_t n)
{
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return (struct sp__scan_opts){ .format = *f,
				       .inputs = in,
				       .ninputs = n,
				       .separator = ',',
				       .stream = { .chunk_bytes = 65536, .depth = 2 },
				       .waits = &waits,
				       .err = &err };
}

static void put(struct sp__bytes *to, const struct sp_batch *b)
{
	if (sp__bytes_append(to, b->data, b->bytes, NULL))
		abort();
}

/* The truth: the records of one scan, after its header. */
static uint64_t scan_all(const struct sp__scan_opts *o, struct sp__bytes *got,
			 struct sp__bytes *header)
{
	struct sp__scan *s;
	struct sp_batch b;
	uint64_t owed;
	int rc = sp__scan_open(&s, o);

	while (!rc && sp__iter_next(&(struct sp__iter){ s, sp__scan_next }, &waits, &b) == SP_READY)
		put(got, &b);
	sp__scan_header(s, &b);
	put(header, &b);
	owed = sp__scan_owed(s);
	sp__scan_close(s);
	return owed;
}

struct reader {
	struct sp__parts *parts;
	struct sp__bytes *got; /* by the number of the part */
	struct sp__task task;
	int rc;
	uint64_t bad; /* the part with an error */
};

static void read_parts(void *arg)
{
	struct reader *r = arg;
	struct sp__part part = { 0 };
	struct sp_batch b;

	while ((r->rc = sp__parts_next(r->parts, &part)) == SP_READY) {
		if (part.number >= MAX_PARTS)
			abort();
		while ((r->rc = sp__part_read(&part, &b)) == SP_READY)
			put(&r->got[part.number], &b);
		if (r->rc < 0)
			break;
	}
	r->bad = r->rc < 0 ? part.number : UINT64_MAX;
	sp__part_close(r->parts, &part);
}

/* The error of the first part that has one; SP_END if there is none. */
static int read_all(struct sp__parts *p, struct sp__bytes *got)
{
	static struct sp__bytes each[MAX_PARTS];
	struct reader r[READERS];
	uint64_t first = UINT64_MAX;
	int rc = SP_END;

	sp__tasks_open(READERS);
	for (unsigned i = 0; i < READERS; i++) {
		r[i] = (struct reader){ .parts = p, .got = each };
		sp__task_start(&r[i].task, read_parts, &r[i]);
	}
	for (unsigned i = 0; i < READERS; i++) {
		sp__task_join(&r[i].task);
		if (r[i].rc < 0 && r[i].bad < first) {
			first = r[i].bad;
			rc = r[i].rc;
		}
	}
	sp__tasks_close();
	for (unsigned i = 0; i < MAX_PARTS; i++) {
		put(got, &(struct sp_batch){ each[i].data, each[i].bytes });
		sp__bytes_release(&each[i], NULL);
	}
	return rc;
}

static bool equal(const struct sp__bytes *a, const struct sp__bytes *b)
{
	return a->bytes == b->bytes && (!a->bytes || !memcmp(a->data, b->data, a->bytes));
}

static void compare(const struct sp__scan_opts *o, const char *what)
{
	struct sp__bytes want = { 0 }, got = { 0 }, want_header = { 0 }, header = { 0 };
	struct sp__parts *p;
	struct sp_batch b;
	uint64_t owed = scan_all(o, &want, &want_header);
	int rc = sp__parts_open(&p, o, 1);

	ok(rc == 0, "%s: parts are opened (%d)", what, rc);
	if (rc)
		return;
	rc = read_all(p, &got);
	sp__parts_header(p, &b);
	put(&header, &b);
	ok(rc == SP_END && equal(&got, &want), "%s: the records of a scan, in order (%d, %zu, %zu)",
	   what, rc, got.bytes, want.bytes);
	ok(equal(&header, &want_header) && sp__parts_owed(p) == owed && sp__parts_end(p) == 0,
	   "%s: its header, and as many bytes owed", what);
	sp__parts_close(p);
	sp__bytes_release(&want, NULL);
	sp__bytes_release(&got, NULL);
	sp__bytes_release(&want_header, NULL);
	sp__bytes_release(&header, NULL);
}

static FILE *begin(const char *name)
{
	FILE *f = fopen(name, "w");

	if (!f)
		abort();
	return f;
}

/* Writes records of many lengths; some fields are quoted, with newlines and quotes in them. */
static void make_csv(const char *name, const char *before, size_t bytes, uint64_t seed,
		     const char *after)
{
	struct sp__rng rng = { sp__mix64(seed) };
	FILE *f = begin(name);

	fputs(before, f);
	while ((size_t)ftell(f) < bytes) {
		unsigned n = (unsigned)sp__rng_below(&rng, 300);

		fprintf(f, "%u,", n);
		if (n % 3 == 0)
			fprintf(f, "\"a \"\"word\"\",\n%*d\n\"", (int)n, 7);
		else
			fprintf(f, "%*d", (int)(n % 50), 7);
		fputs(n % 7 ? "\n" : ",x\n", f);
	}
	fputs(after, f);
	fclose(f);
}

static void make_fixed(const char *name, size_t records, size_t more)
{
	FILE *f = begin(name);

	for (size_t i = 0; i < records; i++)
		fprintf(f, "%024zu", i);
	for (; more; more--)
		fputc('x', f);
	fclose(f);
}

static void check_formats(void)
{
	const char *const in[] = { "a", "none", "small", "b" };
	const char *const numbers[] = { "f", "g" };
	struct sp__scan_opts o = options(&csv, in, 4);

	make_csv("a", "", 2 << 20, 1, "");
	make_csv("b", "", 1 << 20, 2, "last,without a newline");
	make_csv("small", "", 10, 3, "");
	make_csv("none", "", 0, 3, "");
	make_fixed("f", 100000, 0);
	make_fixed("g", 3, 0);
	compare(&o, "csv");
	o.remove_blank = true;
	compare(&o, "csv without blank lines");
	o = options(&lines, in, 4);
	compare(&o, "lines");
	o = options(&fixed, numbers, 2);
	compare(&o, "fixed");
}

static void check_headers(void)
{
	const char *const in[] = { "h", "i", "j" };
	struct sp__scan_opts o = options(&csv, in, 3);
	struct sp__parts *p;

	make_csv("h", "\xEF\xBB\xBFid,\"te\nxt\"\n", 1 << 20, 4, "\n\n1,2\n");
	make_csv("i", "id,\"te\nxt\"\n", 1 << 20, 5, "");
	make_csv("j", "id,\"te\nxt\"", 0, 6, "");
	o.header_records = 1;
	compare(&o, "csv with headers");
	o.header_first = true;
	compare(&o, "csv with one header");
	o.header_first = false;
	make_csv("j", "id,test\n", 1 << 20, 6, "");
	ok(sp__parts_open(&p, &o, 1) == SP_EFORMAT && !strcmp(err.path, "j"),
	   "a header that differs is reported with its input");
}

/* A field of text that looks like records: each cut in it is wrong. */
static void check_miscut(void)
{
	const char *const in[] = { "m" };
	struct sp__scan_opts o = options(&csv, in, 1);
	struct sp__bytes got = { 0 };
	struct sp__parts *p;
	FILE *f = begin("m");

	fputs("1,\"", f);
	while (ftell(f) < 2 << 20)
		fputs("2,b\n3,c\n", f);
	fputs("\"\n", f);
	fclose(f);
	ok(sp__parts_open(&p, &o, 1) == 0 && read_all(p, &got) == SP__MISCUT,
	   "a wrong cut is found by the part before it");
	sp__parts_close(p);
	sp__bytes_release(&got, NULL);
}

/* What is wrong with a record of CSV can come from a wrong cut, except in the first part. */
static void check_doubts(void)
{
	const struct sp__part first = { .csv = true }, later = { .csv = true, .number = 1 },
			      line = { .number = 1 };

	ok(sp__part_doubt(&first, -EMSGSIZE) == -EMSGSIZE, "the first part has its errors");
	ok(sp__part_doubt(&later, -EMSGSIZE) == SP__MISCUT, "those of later ones are doubted");
	ok(sp__part_doubt(&line, -EMSGSIZE) == -EMSGSIZE, "but not those of lines");
}

static void check_faults(void)
{
	const char *const in[] = { "a" }, *const part[] = { "p" }, *const quoted[] = { "q" };
	struct sp__scan_opts o = options(&csv, in, 1);
	struct sp__bytes got = { 0 };
	struct sp__parts *p;
	int fd;

	ok(sp__parts_open(&p, &o, 1) == 0 && read_all(p, &got) == SP_END, "a file is read");
	fd = open("a", O_WRONLY | O_APPEND);
	ok(write(fd, "1,2\n", 4) == 4 && close(fd) == 0 && !sp__parts_end(p), "a file can grow");
	sp__parts_close(p);
	ok(sp__parts_open(&p, &o, 1) == 0 && truncate("a", 1 << 20) == 0 &&
		   read_all(p, &got) == SP_EFORMAT,
	   "a file that is cut before it is read is an error");
	sp__parts_close(p);
	o = options(&fixed, part, 1);
	make_fixed("p", 100000, 5);
	ok(sp__parts_open(&p, &o, 1) == 0 && read_all(p, &got) == SP_EFORMAT,
	   "a partial last record is an error");
	sp__parts_close(p);
	o = options(&csv, quoted, 1);
	make_csv("q", "", 1 << 20, 8, "1,\"open\n");
	ok(sp__parts_open(&p, &o, 1) == 0 && read_all(p, &got) == SP__MISCUT,
	   "an unclosed quote can come from a wrong cut");
	sp__parts_close(p);
	sp__bytes_release(&got, NULL);
}

static void check_refused(void)
{
	const char *const pipe_in[] = { "pipe" }, *const missing[] = { "missing" };
	const char *const small[] = { "small" };
	struct sp__scan_opts o = options(&lines, pipe_in, 1);
	struct sp__parts *p;

	mkfifo("pipe", 0600);
	ok(sp__parts_open(&p, &o, 1) == SP_EUNSUP, "a pipe is read in order");
	o.inputs = missing;
	ok(sp__parts_open(&p, &o, 1) == SP_EUNSUP, "a missing input is left to the scan");
	o.inputs = small;
	ok(sp__parts_open(&p, &o, 1) == SP_EUNSUP, "so is a small one");
}

/* A part at the beginning of a file can have no records. */
static void check_nothing(void)
{
	const char *const in[] = { "a" };
	struct sp__scan_part part = { .fd = open("a", O_RDONLY) };
	struct sp__scan_opts o = options(&lines, in, 1);
	struct sp__bytes got = { 0 }, header = { 0 };

	o.part = &part;
	ok(scan_all(&o, &got, &header) == 0 && !got.bytes, "an empty part has no records");
	close(part.fd);
	sp__bytes_release(&got, NULL);
	sp__bytes_release(&header, NULL);
}

int main(void)
{
	char cmd[64];

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	check_formats();
	check_headers();
	check_miscut();
	check_doubts();
	check_faults();
	check_refused();
	check_nothing();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) ? 2 : done();
}
