/* SPDX-License-Identifier: MIT */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/buffers.h>
#include <spindle/call.h>
#include "base/rng.h"
#include "tap.h"

#define PIECES 5

static struct sp_errinfo err;

static struct sp_call *call_of(const char *const *words, size_t n)
{
	struct sp_call *call;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (sp_call_sort(&call, words, n, &err))
		diag("%s", err.text);
	return call;
}

#define CALL(...)                                                                                  \
	call_of((const char *const[]){ __VA_ARGS__ },                                              \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static struct sp_batch text(const char *s)
{
	return (struct sp_batch){ s, strlen(s) };
}

static bool same(const struct sp_tally *a, const struct sp_tally *b)
{
	return a->records == b->records && a->bytes == b->bytes && a->sum == b->sum;
}

/* Random lines, of which many have equal keys; the last one lacks its newline. */
static struct sp_batch lines(struct sp__rng *rng, unsigned n)
{
	size_t bytes = 0, capacity = (size_t)n * 64;
	char *p = malloc(capacity);

	for (unsigned i = 0; i < n; i++)
		bytes += (size_t)snprintf(
			p + bytes, capacity - bytes, "%u %.*s\n", (unsigned)sp__rng_below(rng, 50),
			(int)sp__rng_below(rng, 30), "abcdefghijklmnopqrstuvwxyzabcdef");
	return (struct sp_batch){ p, bytes - 1 };
}

static struct sp_batch sorted(const struct sp_sort_opts *o, const struct sp_batch *in, size_t n,
			      struct sp_tally *given)
{
	size_t capacity = n;
	struct sp_tally read;
	char *out;

	for (size_t i = 0; i < n; i++)
		capacity += in[i].bytes;
	out = malloc(capacity);
	if (sp_sort_buffer(o, in, n, out, capacity, &read, given, &err))
		diag("%s", err.text);
	return (struct sp_batch){ out, given->bytes };
}

/* Merges part `part` of the sorted buffers; appends to out. */
static void merge_part(const struct sp_sort_opts *o, const struct sp_batch *pieces,
		       size_t (*cuts)[4], unsigned part, char *out, size_t *bytes)
{
	struct sp_batch in[PIECES], block;
	struct sp_merge *m;
	int rc;

	for (unsigned i = 0; i < PIECES; i++) {
		size_t from = part ? cuts[i][part - 1] : 0;

		in[i] = (struct sp_batch){ pieces[i].data + from, cuts[i][part] - from };
	}
	rc = sp_merge_open(&m, o, in, PIECES, &err);
	while (!rc && (rc = sp_merge_next(m, &block)) == SP_READY) {
		memcpy(out + *bytes, block.data, block.bytes);
		*bytes += block.bytes;
		rc = 0;
	}
	sp_merge_close(m);
	ok(rc == SP_END, "part %u is merged", part);
}

#define PARTS 5
#define KEYS 97

/* Lines of a file of a join: something before the key, the key, and their number. */
static struct sp_batch numbered(const char *before)
{
	static char text[2][1 << 16];
	static unsigned file;
	char *p = text[file++ % 2];
	size_t bytes = 0;

	for (unsigned i = 0; i < 2000; i++)
		bytes += (size_t)snprintf(p + bytes, sizeof(text[0]) - bytes, "%s%u %u\n", before,
					  i * 31 % KEYS, i);
	return (struct sp_batch){ p, bytes };
}

/* Parts: of keys, set or compared.  Are lines in their order? */
static bool in_parts(struct sp_batch out, const size_t *at, const char *before, int *parts)
{
	const char *p = out.data, *end = p + out.bytes;
	unsigned key, number, last = 0;

	for (int part = 0; p < end; p = memchr(p, '\n', (size_t)(end - p)), p++) {
		while (part < PARTS - 1 && (size_t)(p - out.data) >= at[part])
			part++, last = 0;
		if (sscanf(p + strlen(before), "%u %u", &key, &number) != 2 || number < last)
			return false;
		last = number;
		if (parts[key] >= 0 && parts[key] != part)
			return false;
		parts[key] = part;
	}
	return true;
}

static void keys_have_parts(void)
{
	const char *const words[] = { "-1", "1n", "-2", "2n" };
	const char *const before[] = { "", "x 0" }; /* a key of other text and the same value */
	int parts[KEYS], first;
	struct sp_call_join *call;
	bool several = false;

	memset(parts, -1, sizeof(parts));
	ok(!sp_call_join(&call, words, 4, &err), "words of a join are read");
	for (int side = 0; side < 2; side++) {
		const struct sp_batch in = numbered(before[side]);
		const struct sp_recfmt lines = { .kind = SP_REC_LINE, .eol = '\n' };
		char *out = malloc(in.bytes);
		size_t at[PARTS - 1];
		struct sp_tally given, all;

		ok(!sp_join_partition(sp_call_join_opts(call), side, &in, PARTS, out, at, &given,
				      &err) &&
			   !sp_tally_buffer(&all, &lines, &in, &err) && same(&given, &all),
		   "file %d is distributed", side + 1);
		ok(!sp_tally_buffer(&all, &lines, &(struct sp_batch){ out, in.bytes }, &err) &&
			   same(&given, &all),
		   "... all of its records");
		ok(in_parts((struct sp_batch){ out, in.bytes }, at, before[side], parts),
		   "... by their keys, in their order");
		free(out);
	}
	first = parts[0];
	for (int i = 0; i < KEYS; i++)
		several |= parts[i] != first;
	ok(several, "keys have different parts");
	ok(sp_join_partition(sp_call_join_opts(call), 0, &(struct sp_batch){ "1", 1 }, PARTS, NULL,
			     NULL, NULL, &err) == SP_EFORMAT,
	   "a record that is not whole is an error");
	for (int side = -1; side <= 2; side++)
		ok(sp_join_partition(sp_call_join_opts(call), side, &(struct sp_batch){ "1\n", 2 },
				     side == 0 || side == 1 ? 0 : PARTS, NULL, NULL, NULL,
				     &err) == -EINVAL,
		   "file %d: what does not exist is an error", side);
	sp_call_join_free(call);
}

/* Sorted in parts, cut and merged: the same bytes as sorted whole. */
static void pieces_make_the_whole(const char *name, struct sp_call *call)
{
	const struct sp_sort_opts *o = sp_call_sort_opts(call);
	struct sp__rng rng = { 7 };
	struct sp_batch in[PIECES], pieces[PIECES], whole;
	struct sp_splitters *s;
	struct sp_tally all, given;
	size_t cuts[PIECES][4], bytes = 0;
	char *out;

	for (unsigned i = 0; i < PIECES; i++)
		in[i] = lines(&rng, 20000);
	whole = sorted(o, in, PIECES, &all);
	out = malloc(whole.bytes + 1);
	ok(!sp_splitters_read(&s, o, &(struct sp_batch){ "15\n30 x\n30 y\n", 13 }, &err),
	   "%s: splitters are read from memory", name);
	for (unsigned i = 0; i < PIECES; i++) {
		pieces[i] = sorted(o, &in[i], 1, &given);
		if (sp_split_buffer(s, &pieces[i], cuts[i], &err))
			diag("%s", err.text);
		cuts[i][3] = pieces[i].bytes;
	}
	for (unsigned part = 0; part < 4; part++)
		merge_part(o, pieces, cuts, part, out, &bytes);
	ok(bytes == whole.bytes && !memcmp(out, whole.data, bytes),
	   "%s: parts one after the other are the whole", name);
	ok(!sp_tally_buffer(&given, &o->format, &(struct sp_batch){ out, bytes }, &err) &&
		   same(&given, &all),
	   "%s: so says the tally", name);
	for (unsigned i = 0; i < PIECES; i++) {
		free((void *)(uintptr_t)in[i].data);
		free((void *)(uintptr_t)pieces[i].data);
	}
	free((void *)(uintptr_t)whole.data);
	free(out);
	sp_splitters_free(s);
	sp_call_free(call);
}

static void csv_is_cut_between_records(void)
{
	struct sp_call *call = CALL("--csv", "-k1,1");
	const struct sp_sort_opts *o = sp_call_sort_opts(call);
	struct sp_batch data = text("a,\"x\ny\"\nb,1\n\"c\nd\",2\n"),
			cut = text("b,0\n\"c\nd\",0\n");
	struct sp_splitters *s;
	size_t at[2];

	ok(!sp_splitters_read(&s, o, &cut, &err) && !sp_split_buffer(s, &data, at, &err) &&
		   at[0] == 8 && at[1] == 12,
	   "CSV is cut between records, not at quoted newlines");
	ok(sp_head_buffer(&o->format, &data, 1) == 8 && sp_head_buffer(&o->format, &data, 9) == 20,
	   "the first records of a buffer");
	sp_splitters_free(s);
	sp_call_free(call);
}

static int merged(const struct sp_sort_opts *o, const char *a, const char *b)
{
	const struct sp_batch in[2] = { text(a), text(b) };
	struct sp_batch block;
	struct sp_merge *m;
	int rc;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_merge_open(&m, o, in, 2, &err);
	while (rc >= 0 && (rc = sp_merge_next(m, &block)) == SP_READY)
		;
	sp_merge_close(m);
	return rc;
}

static void results_are_written(void)
{
	const struct sp_batch in[2] = { text("a\nc\n"), text("b\nc\n") }, head = text("head\n");
	struct sp_call *call = CALL("-u");
	char path[] = "/tmp/test_buffers.XXXXXX", got[32] = "";
	int fd = mkstemp(path), rc;
	struct sp_merge *m;

	rc = sp_merge_open(&m, sp_call_sort_opts(call), in, 2, &err);
	if (!rc)
		rc = sp_merge_write(m, path, &head);
	if (rc)
		diag("%s: %s: %s", err.op, err.path, err.text);
	sp_merge_close(m);
	close(fd);
	fd = open(path, O_RDONLY);
	ok(!rc && read(fd, got, sizeof(got)) == 11 && !strcmp(got, "head\na\nb\nc\n"),
	   "a header and a merge are written to a file");
	close(fd);
	unlink(path);
	rc = sp_merge_open(&m, sp_call_sort_opts(call), in, 2, &err);
	ok(!rc && sp_merge_write(m, "/no/such/folder", &head) == -ENOENT, "if it can be made");
	sp_merge_close(m);
	rc = sp_merge_open(&m, sp_call_sort_opts(call), in, 2, &err);
	ok(!rc && sp_merge_write(m, "/dev/full", &head) == -ENOSPC &&
		   sp_merge_write(m, path, &head) == -ENOSPC && access(path, F_OK) < 0,
	   "after a failure no other file gets the rest");
	sp_merge_close(m);
	sp_call_free(call);
}

static void faults_are_seen(void)
{
	struct sp_call *call = CALL("-k1,1"), *fixed = CALL("--record-size=4"), *none;
	struct sp_call *counted = CALL("-u", "--count");
	const struct sp_sort_opts *o = sp_call_sort_opts(call);
	struct sp_tally t;
	char out[8];

	ok(merged(o, "a\nc\n", "b\n") == SP_END, "sorted buffers are merged");
	ok(merged(o, "a\nc\nb\n", "b\n") == SP_EFORMAT, "disorder is an error");
	ok(merged(o, "a\nb", "b\n") == SP_EFORMAT, "so is half a record");
	ok(sp_sort_buffer(o, &(struct sp_batch){ "b\na\nc\n", 6 }, 1, out, 5, &t, &t, &err) ==
		   SP_EBUDGET,
	   "a result buffer that is too small");
	ok(sp_sort_buffer(sp_call_sort_opts(fixed), &(struct sp_batch){ "12345", 5 }, 1, out, 8, &t,
			  &t, NULL) == SP_EFORMAT,
	   "a binary record that is cut off");
	ok(sp_sort_buffer(sp_call_sort_opts(counted), &(struct sp_batch){ "a\n", 2 }, 1, out, 8, &t,
			  &t, NULL) == SP_EUNSUP,
	   "counts are not for buffers");
	ok(sp_call_sort(&none, (const char *const[]){ "-k" }, 1, NULL) == -EINVAL && !none,
	   "a call with wrong words is none");
	sp_call_free(call);
	sp_call_free(fixed);
	sp_call_free(counted);
}

int main(void)
{
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	pieces_make_the_whole("lines", CALL("-k1,1n", "-S64M"));
	pieces_make_the_whole("stable", CALL("-s", "-k1,1n", "--parallel=3"));
	pieces_make_the_whole("unique", CALL("-u", "-k1,1n", "-S", "1M", "-T", "/tmp"));
	pieces_make_the_whole("spilled", CALL("-k1,1n", "-S1M"));
	csv_is_cut_between_records();
	keys_have_parts();
	results_are_written();
	faults_are_seen();
	return done();
}
