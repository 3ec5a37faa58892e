/* SPDX-License-Identifier: MIT */
/*
 * Keys whose hashes are all equal, as those of data that are made for that: sorts, joins, groups
 * and tables of keys still compare a number of keys that grows like n log n, and give the same
 * results.
 *
 * The linker puts a constant in place of the hash functions, except of the strong one, and counts
 * comparisons (--wrap; the Makefile lists the functions).
 */
#define TAP_THREADS

#include <string.h>
#include <unistd.h>
#include <spindle/call.h>
#include "base/keyhash.h"
#include "flowplan.h"
#include "seqtrace.h"
#include "table/change/keyset.h"
#include "tap.h"

#define LINES 20000
/* Half of the comparisons of a table in which each search passes all keys is 10,000 per key. */
#define MANY ((uint64_t)LINES * 600)

static bool equal;
static _Atomic uint64_t compared;

uint64_t __real_sp__key_hash(const char *key, size_t bytes, uint64_t seed);
uint64_t __wrap_sp__key_hash(const char *key, size_t bytes, uint64_t seed);
uint64_t __wrap_sp__key_hash(const char *key, size_t bytes, uint64_t seed)
{
	return equal ? 7 : __real_sp__key_hash(key, bytes, seed);
}

uint64_t __real_sp__key_hash_secret(const char *key, size_t bytes,
				    const struct sp__key_secret *secret);
uint64_t __wrap_sp__key_hash_secret(const char *key, size_t bytes,
				    const struct sp__key_secret *secret);
uint64_t __wrap_sp__key_hash_secret(const char *key, size_t bytes,
				    const struct sp__key_secret *secret)
{
	return equal ? 7 : __real_sp__key_hash_secret(key, bytes, secret);
}

int __real_memcmp(const void *a, const void *b, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n)
{
	compared++;
	return __real_memcmp(a, b, n);
}

int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b)
{
	compared++;
	return __real_strcmp(a, b);
}

static char file[3][32], out[2][32];

/* Lines of different keys, in an order like a random one; each key has a line in each file. */
static void make_files(void)
{
	for (int i = 0; i < 2; i++) {
		FILE *f;

		strcpy(file[i], "/tmp/sp-equal.XXXXXX");
		f = fdopen(mkstemp(file[i]), "w");
		for (uint64_t k = 0; f && k < LINES; k++)
			fprintf(f, "key-%05d of file %d %080d\n",
				(int)(k * (i ? 7919 : 10007) % LINES), i, i);
		if (!f || fclose(f))
			abort();
		strcpy(out[i], "/tmp/sp-equal.XXXXXX");
		close(mkstemp(out[i]));
	}
}

static void remove_files(void)
{
	for (int i = 0; i < 2; i++) {
		unlink(file[i]);
		unlink(out[i]);
	}
}

/* Reads a result; its lines are sorted if their order is not specified. */
static char *result(const char *path)
{
	static const char *const all[] = { "-S", "16M" };
	struct sp_call *call;
	char *text = NULL;
	size_t n = 0;
	FILE *f;

	equal = false;
	if (sp_call_sort(&call, all, 2, &err) ||
	    sp_call_sort_files(call, &path, 1, false, path, NULL, &err))
		abort();
	sp_call_free(call);
	f = fopen(path, "r");
	if (!f || getdelim(&text, &n, 0, f) < 0)
		abort();
	fclose(f);
	return text;
}

static bool same_result(bool sorted)
{
	char *a = sorted ? result(out[0]) : NULL, *b = sorted ? result(out[1]) : NULL;
	char command[128];
	bool same;

	snprintf(command, sizeof(command), "cmp -s %s %s", out[0], out[1]);
	same = sorted ? !strcmp(a, b) : system(command) == 0;
	free(a);
	free(b);
	return same;
}

static void check_sort(const char *name, const char *const *args, size_t nargs)
{
	static const char *const inputs[] = { file[0], file[1], file[0] };
	uint64_t took = 0;
	bool done = true;

	for (int i = 0; i < 2; i++) {
		struct sp_call *call;

		err = (struct sp_errinfo)SP_ERRINFO_INIT;
		if (sp_call_sort(&call, args, nargs, &err))
			abort();
		equal = i;
		compared = 0;
		done &= !sp_call_sort_files(call, inputs, 3, false, out[i], NULL, &err);
		took = compared - took;
		sp_call_free(call);
	}
	equal = false;
	ok(done && took < MANY && same_result(false), "%s (%llu%s%s)", name,
	   (unsigned long long)took, *err.text ? ": " : "", err.text);
}

static void check_join(const char *name, const char *const *args, size_t nargs)
{
	uint64_t took = 0;
	bool done = true;

	for (int i = 0; i < 2; i++) {
		struct sp_call_join *call;

		err = (struct sp_errinfo)SP_ERRINFO_INIT;
		if (sp_call_join(&call, args, nargs, &err)) {
			diag("%s", err.text);
			abort();
		}
		equal = i;
		compared = 0;
		done &= !sp_call_join_files(call, file[0], file[1], NULL, out[i], NULL, &err);
		took = compared;
		sp_call_join_free(call);
	}
	equal = false;
	ok(done && took < MANY && same_result(true), "%s (%llu%s%s)", name,
	   (unsigned long long)took, *err.text ? ": " : "", err.text);
}

/* Groups in the order of their first rows. */
static void check_groups(void)
{
	static const struct sp_flow_value count = { .function = SP_FLOW_COUNT };
	static const size_t group[] = { 0 };
	char name[] = "/tmp/sp-equal.XXXXXX";
	const char *input = name;
	FILE *f = fdopen(mkstemp(name), "w");
	struct sp_flow *flow;
	struct sp_operator *op;
	struct sp_batch batch;
	uint64_t groups = 0;
	int rc;

	for (int i = 0; f && i < 4000; i++)
		fprintf(f, "%04d\n", i % 2000 * 7 % 2000);
	if (!f || fclose(f))
		abort();
	flow = open_flow();
	op = scan_file(flow, &input);
	equal = true;
	compared = 0;
	if (sp_flow_group(&op, op, group, 1, &count, 1))
		abort();
	while ((rc = sp_flow_get(op, &batch)) == SP_READY)
		for (size_t at = 0; at < batch.bytes; at += 7, groups++)
			if (strncmp(batch.data + at + 4, " 2", 2) != 0 ||
			    atoi(batch.data + at) != (int)(groups * 7 % 2000))
				groups += 10000;
	equal = false;
	ok(rc == SP_END && groups == 2000 && compared < 2000 * 200,
	   "groups come in the order of their first rows (%llu, %llu)", (unsigned long long)groups,
	   (unsigned long long)compared);
	sp_flow_close(flow);
	unlink(name);
}

static void check_keys(void)
{
	struct sp__column column = { .name = (char[]){ "c" }, .type = { .kind = 't' } };
	struct sp__budget budget;
	struct sp__key_set keys;
	uint32_t number;
	bool good = true;
	char text[32];

	sp__budget_init(&budget, 64 << 20);
	sp__key_set_open(&keys, &column, &budget);
	equal = true;
	compared = 0;
	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < LINES; i++)
			good = good &&
			       sp__key_set_add(&keys, text,
					       (size_t)snprintf(text, sizeof(text), "key %u", i),
					       &number, &err) == again &&
			       number == i;
	equal = false;
	ok(good && compared < MANY, "keys that choose records of a table (%llu)",
	   (unsigned long long)compared);
	sp__key_set_close(&keys);
}

static void check_words(void)
{
	struct sp__dictionary d = { 0 };
	bool good = true;
	char word[64];
	uint32_t code;

	equal = true;
	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < LINES; i++) {
			size_t n =
				(size_t)snprintf(word, sizeof(word), "a long word, %u", i + 10000);

			good = good && !sp__dictionary_add(&d, word, n, SP__DICT16_WORDS, &code) &&
			       code == i + 1;
		}
	equal = false;
	ok(good && d.strong, "words of a dictionary are hashed by the strong hash");
	sp__dictionary_free(&d);
}

static void check_volumes(void)
{
	struct sp_sequence *seq = NULL;
	FILE *f;

	seqtrace_begin();
	f = fopen(seqtrace_path, "w");
	for (int again = 0; f && again < 2; again++)
		for (int i = 0; i < 3000; i++)
			fprintf(f, "R volume-%d 0 4096 0 1 2 4096\n", i);
	if (!f || fclose(f))
		abort();
	equal = true;
	compared = 0;
	(void)!sp_sequence_load(&seq, seqtrace_path, NULL, &err);
	equal = false;
	ok(seq && seq->nvolumes == 3000 && compared < 3000 * 300,
	   "names of volumes in a trace (%llu%s)", (unsigned long long)compared, err.text);
	sp_sequence_free(seq);
	seqtrace_end();
}

int main(void)
{
	make_files();
	check_sort("-u", (const char *const[]){ "-u", "--parallel=1" }, 2);
	check_sort("-u of little memory", (const char *const[]){ "-u", "-S", "1M", "--parallel=1" },
		   4);
	check_sort("-u of a field", (const char *const[]){ "-u", "-k1,1", "-s", "--parallel=2" },
		   4);
	check_sort("-u -c", (const char *const[]){ "-u", "--count" }, 2);
	check_sort("--keep-order", (const char *const[]){ "-u", "--keep-order" }, 2);
	check_sort("--keep-order of little memory",
		   (const char *const[]){ "-u", "--keep-order", "-S", "1M" }, 4);
	check_join("a join", (const char *const[]){ "--parallel=1" }, 1);
	check_join("a join by threads", (const char *const[]){ "--parallel=3", "-S", "64M" }, 3);
	check_join("unpaired lines", (const char *const[]){ "-a", "1", "-a", "2", "-S", "16M" }, 6);
	check_join("a join of little memory", (const char *const[]){ "-S", "2M", "--parallel=1" },
		   3);
	check_join("unpaired lines, little memory",
		   (const char *const[]){ "-S", "2M", "-a", "1", "-a", "2" }, 6);
	remove_files();
	check_groups();
	check_keys();
	check_words();
	check_volumes();
	return done();
}
