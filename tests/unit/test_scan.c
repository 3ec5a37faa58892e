/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/rng.h"
#include "flow/scan.h"
#include "io/volume.h"
#include "rec/recfmt.h"
#include "tap.h"

static char dir[] = "/tmp/sp-scan.XXXXXX";
static struct sp_errinfo err;
static char got[1 << 20];
static size_t got_bytes, header_bytes;
static struct sp__rstream_opts reading = { .chunk_bytes = 4096, .depth = 2 };
static bool any;
static int again; /* what the scan gave when it was asked after its end */

static void make(const char *name, const char *text, size_t bytes)
{
	FILE *f = fopen(name, "w");

	if (!f || fwrite(text, 1, bytes, f) != bytes || fclose(f))
		abort();
}

/* All records, concatenated; every batch must consist of whole records. */
static int scan(const struct sp_recfmt *format, const char *const *inputs, size_t n,
		uint64_t header)
{
	struct sp__waits waits = { 0 };
	struct sp__scan_opts o = { .format = *format,
				   .inputs = inputs,
				   .ninputs = n,
				   .header_records = header,
				   .waits = &waits,
				   .err = &err,
				   .any_order = any,
				   .stream = reading };
	struct sp__scan *s;
	struct sp__iter it = { NULL, sp__scan_next };
	struct sp_batch b;
	int rc;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	got_bytes = 0;
	rc = sp__scan_open(&s, &o);
	if (rc)
		return rc;
	it.operator= s;
	while ((rc = sp__iter_next(&it, &waits, &b)) == SP_READY) {
		const char *p = b.data, *end = p + b.bytes;

		while (p && p < end)
			p = sp__rec_end(format, p, (size_t)(end - p));
		if (p != end || !b.bytes)
			rc = -EPROTO;
		if (rc < 0)
			break;
		memcpy(got + got_bytes, b.data, b.bytes);
		got_bytes += b.bytes;
	}
	again = sp__iter_next(&it, &waits, &b);
	sp__scan_header(s, &b);
	header_bytes = b.bytes;
	if (b.bytes) {
		memmove(got + b.bytes, got, got_bytes);
		memcpy(got, b.data, b.bytes);
		got_bytes += b.bytes;
	}
	sp__scan_close(s);
	return rc;
}

static bool gives(const char *want)
{
	return got_bytes == strlen(want) && !memcmp(got, want, got_bytes);
}

static const struct sp_recfmt lines = { .kind = SP_REC_LINE, .eol = '\n' };
static const struct sp_recfmt csv = { .kind = SP_REC_CSV, .eol = '\n', .separator = ',' };

static void small_files(void)
{
	const char *const two[] = { "a", "b" }, *const miss[] = { "a", "missing" };
	const char *const empty[] = { "empty", "a", "empty" };

	make("a", "1\n2", 3);
	make("b", "3\n\n", 3);
	make("empty", "", 0);
	ok(scan(&lines, two, 2, 0) == SP_END && gives("1\n2\n3\n\n"),
	   "inputs follow each other; a last line without newline gets one");
	ok(scan(&lines, empty, 3, 0) == SP_END && gives("1\n2\n"), "empty inputs give nothing");
	ok(scan(&lines, two, 0, 0) == SP_END && got_bytes == 0, "as does no input at all");
	ok(scan(&lines, miss, 2, 0) == -ENOENT && !strcmp(err.path, "missing"),
	   "a missing input is reported by name");
}

static void headers(void)
{
	const char *const in[] = { "h1", "empty", "h2", "h3" };

	make("h1", "name\n1\n", 7);
	make("h2", "name\n2\n", 7);
	make("h3", "nam\n3\n", 6);
	ok(scan(&lines, in, 3, 1) == SP_END && header_bytes == 5 && gives("name\n1\n2\n"),
	   "a header is kept aside; what repeats it in further inputs is dropped");
	ok(scan(&lines, in, 4, 1) == SP_EFORMAT && !strcmp(err.path, "h3") &&
		   strstr(err.text, "h1"),
	   "a header that differs is an error that names both inputs");
	ok(again == SP_EFORMAT, "and so it is when the scan is asked again");
	ok(scan(&lines, in, 1, 9) == SP_END && header_bytes == 7 && gives("name\n1\n"),
	   "a file of headers alone is possible");
}

static void fixed(void)
{
	const struct sp_recfmt f = { .kind = SP_REC_FIXED, .fixed_bytes = 3 };
	const char *const in[] = { "f" };

	make("f", "aaabbb", 6);
	ok(scan(&f, in, 1, 0) == SP_END && gives("aaabbb"), "fixed records need no terminator");
	make("f", "aaabbbc", 7);
	ok(scan(&f, in, 1, 0) == SP_EFORMAT && !strcmp(err.path, "f"),
	   "a file of another length than a multiple of the record is refused");
}

/* Records of all lengths, so that they cross reads in every way. */
static void crossing(const struct sp_recfmt *format, const char *name)
{
	static char text[1 << 19];
	const char *const in[] = { "big" };
	struct sp__rng rng = { 8 };
	bool good = true;

	for (int round = 0; round < 6; round++) {
		size_t n = 0;

		while (n < sizeof(text) - 30000) {
			size_t len = sp__rng_below(&rng, sp__rng_below(&rng, 10) ? 200 : 20000);

			if (format->kind == SP_REC_CSV) {
				text[n++] = '"';
				for (; len; len--)
					text[n++] = sp__rng_below(&rng, 9) ? 'x' : '\n';
				text[n++] = '"';
			} else {
				memset(text + n, 'x', len);
				n += len;
			}
			text[n++] = '\n';
		}
		make("big", text, n);
		good &= scan(format, in, 1, 0) == SP_END && got_bytes == n && !memcmp(got, text, n);
	}
	ok(good, "%s that cross reads in every way come out whole", name);
}

static void pipes(void)
{
	const char *const in[] = { "-" };
	int fds[2], saved = dup(0);

	if (pipe(fds) || write(fds[1], "x\ny", 3) != 3)
		abort();
	close(fds[1]);
	dup2(fds[0], 0);
	ok(scan(&lines, in, 1, 0) == SP_END && gives("x\ny\n"), "standard input is \"-\"");
	dup2(saved, 0);
	close(fds[0]);
	close(saved);
}

/* In any order. */

/* By content. */
static int by_record(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The records of a text, each ended by 0, in the order of their bytes; NULL ends them. */
static char **records_of(char *all, size_t bytes)
{
	char **r = calloc(bytes + 1, sizeof(*r));
	size_t n = 0;

	for (char *at = all, *end; at < all + bytes; at = end + 1) {
		end = memchr(at, '\n', (size_t)(all + bytes - at));
		*end = 0;
		r[n++] = at;
	}
	qsort(r, n, sizeof(*r), by_record);
	return r;
}

/* Has the scan given the same records as the text, which ends with a newline? */
static bool same_records(const char *text, size_t bytes)
{
	char *mine = memcpy(malloc(bytes + 1), text, bytes);
	char **want = records_of(mine, bytes), **have;
	bool same = got_bytes == bytes;

	if (same) {
		have = records_of(got, got_bytes);
		for (size_t i = 0; same && (want[i] || have[i]); i++)
			same = want[i] && have[i] && !strcmp(want[i], have[i]);
		free(have);
	}
	free(want);
	free(mine);
	return same;
}

/* Numbered lines of random lengths, or of 40 bytes. */
static size_t numbered(char *text, size_t max, bool fixed, struct sp__rng *rng)
{
	size_t n = 0;

	for (unsigned i = 0; n < max - 20000; i++) {
		uint64_t pad = sp__rng_below(rng, sp__rng_below(rng, 50) ? 120 : 12000);

		n += (size_t)sprintf(text + n, "%07u%*s\n", i, fixed ? 32 : (int)pad, "");
	}
	return n;
}

static void any_order(const char *engine, enum sp__direct direct, unsigned depth)
{
	static const struct sp_recfmt forty = { .kind = SP_REC_FIXED, .fixed_bytes = 40 };
	static char text[1 << 18];
	const char *const in[] = { "big", "a", "big" };
	struct sp__rng rng = { depth };
	bool good = true, out_of_order = false;

	reading = (struct sp__rstream_opts){
		.engine = engine, .direct = direct, .chunk_bytes = 4096, .depth = depth
	};
	for (int round = 0; round < 4; round++) {
		const struct sp_recfmt *f = round & 1 ? &forty : &lines;
		size_t n = numbered(text, sizeof(text), round & 1, &rng);

		make("big", text, round == 2 ? n - 1 : n);
		good &= scan(f, in, 1, 0) == SP_END;
		out_of_order |= memcmp(got, text, n) != 0;
		good &= same_records(text, n);
		if (round & 1)
			continue;
		/* A header stays the first; inputs follow each other. */
		good &= scan(f, in, 1, 300) == SP_END && !memcmp(got, text, header_bytes) &&
			header_bytes > 2400 && same_records(text, n);
		memcpy(text + n, "1\n2\n", 4);
		make("a", "1\n2", 3);
		good &= scan(f, in, 2, 0) == SP_END && !memcmp(got + n, "1\n2\n", 4) &&
			same_records(text, n + 4);
	}
	ok(good, "in any order each record comes once (%s, direct %d, depth %u)",
	   engine ? engine : "auto", (int)direct, depth);
	if (engine && strstr(engine, "REORDER") && direct == SP__DIRECT_ALWAYS && depth > 2)
		ok(out_of_order, "and the order is another");
}

static void any_order_errors(void)
{
	static const struct sp_recfmt forty = { .kind = SP_REC_FIXED, .fixed_bytes = 40 };
	static char text[100001];
	const char *const in[] = { "big" };
	char spec[64];
	int rc = -EIO, n = 0;

	memset(text, 'x', sizeof(text));
	make("big", text, sizeof(text));
	reading.engine = spec;
	reading.depth = 4;
	while (rc == -EIO && n++ < 1000) {
		snprintf(spec, sizeof(spec), "fault:NTH=%d,ERROR=EIO,REORDER:sync", n);
		rc = scan(&forty, in, 1, 0);
	}
	ok(rc == SP_EFORMAT && n == 26 && strstr(err.text, "multiple"),
	   "any read that fails is the scan's error (%d), as is a part of a record", n - 1);
	strcpy(spec, "fault:NTH=3,ERROR=EINVAL:sync");
	reading.direct = SP__DIRECT_ALWAYS;
	make("big", text, 100000);
	ok(scan(&forty, in, 1, 0) == SP_END && got_bytes == 100000,
	   "a file system that refuses direct reads late is read buffered");
	reading.direct = SP__DIRECT_NEVER;
	text[99999] = '\n';
	make("big", text, 100000);
	strcpy(spec, "fault:REORDER:sync");
	ok(scan(&lines, in, 1, 0) == SP_END && got_bytes == 100000 && !memcmp(got, text, 100000),
	   "a record longer than many chunks comes whole");
}

/* Only the second half of the file is in the page cache; false: the system does not forget it. */
static bool half_cached(const char *name, size_t bytes)
{
	static char half[1 << 18];
	int fd = open(name, O_RDWR);
	struct sp__volume *v;
	bool is;

	if (fd < 0 || fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) ||
	    pread(fd, half, bytes / 2, (off_t)bytes / 2) < 0 ||
	    sp__volume_adopt(&v, fd, true, name, NULL))
		abort();
	is = !sp__volume_cached(v, 0, 4096) && sp__volume_cached(v, bytes / 2 + 16384, 16384);
	sp__volume_close(v);
	return is;
}

static void cached_first(void)
{
	static char text[1 << 18];
	const char *const in[] = { "big" };
	struct sp__rng rng = { 4 };
	size_t n = numbered(text, sizeof(text), false, &rng), first;

	reading = (struct sp__rstream_opts){ .engine = "fault:DELAY=1000000,NTH=1,COUNT=1:auto",
					     .direct = SP__DIRECT_AUTO,
					     .chunk_bytes = 4096,
					     .depth = 3 };
	make("big", text, n);
	if (!half_cached("big", n)) {
		skip("what is cached comes first", "the file system does not forget pages");
		return;
	}
	ok(scan(&lines, in, 1, 0) == SP_END, "a file of which half is cached is read");
	first = (size_t)atoi(got);
	ok(same_records(text, n) && first > 100, "cached chunks come first (record %zu)", first);
}

static void check_any_order(void)
{
	static const char *const engines[] = { NULL,
					       "sync",
					       "fault:REORDER=3,DELAY=3000,COUNT=6:auto",
					       "fault:REORDER=9,DELAY=3000,COUNT=6:sync",
					       "fault:DELAY=50,COUNT=0:auto",
					       "fault:ERROR=SHORT,COUNT=0:auto" };

	any = true;
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		for (unsigned depth = 1; depth <= 8; depth = depth < 3 ? depth + 1 : depth + 5)
			for (int d = SP__DIRECT_AUTO; d <= SP__DIRECT_ALWAYS; d++)
				any_order(engines[i], (enum sp__direct)d, depth);
	any_order_errors();
	cached_first();
	crossing(&csv, "CSV records, in their order,");
	any = false;
}

static void sizes(void)
{
	const char *const files[] = { "a", "b" }, *const odd[] = { "a", "/dev/null" };
	bool all;

	ok(sp__inputs_bytes(files, 2, SP_PACKED_NONE, &all) == 6 && all,
	   "the bytes of regular files are known");
	ok(sp__inputs_bytes(odd, 2, SP_PACKED_NONE, &all) == 3 && !all,
	   "the size of a device is not");
}

int main(void)
{
	char cmd[64];

	if (!mkdtemp(dir) || chdir(dir))
		abort();
	small_files();
	headers();
	fixed();
	crossing(&lines, "lines");
	crossing(&csv, "CSV records");
	pipes();
	sizes();
	check_any_order();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) ? 2 : done();
}
