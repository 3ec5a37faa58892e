/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/rng.h"
#include "flow/scan.h"
#include "rec/recfmt.h"
#include "tap.h"

static char dir[] = "/tmp/sp-scan.XXXXXX";
static struct sp_errinfo err;
static char got[1 << 20];
static size_t got_bytes, header_bytes;
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
				   .stream = { .chunk_bytes = 4096, .depth = 2 } };
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

static const struct sp_recfmt lines = { SP_REC_LINE, '\n', 0, 0 };
static const struct sp_recfmt csv = { SP_REC_CSV, '\n', ',', 0 };

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
	const struct sp_recfmt f = { SP_REC_FIXED, 0, 0, 3 };
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

static void sizes(void)
{
	const char *const files[] = { "a", "b" }, *const odd[] = { "a", "/dev/null" };
	bool all;

	ok(sp__inputs_bytes(files, 2, &all) == 6 && all, "the bytes of regular files are known");
	ok(sp__inputs_bytes(odd, 2, &all) == 3 && !all, "those of others are not");
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
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) ? 2 : done();
}
