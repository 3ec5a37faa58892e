/* SPDX-License-Identifier: MIT */
/*
 * Records of JSON: the reader agrees with jansson, values that are found lie inside the record, and
 * keys have the order of direct comparison.  The input is a path, a newline and records.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "rec/keyset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

/* True if jansson could refuse a number that is too large for its types. */
static bool long_number(const char *rec, size_t n)
{
	size_t digits = 0, most = 0;
	bool exponent = false;

	for (size_t i = 0; i < n; i++) {
		digits = rec[i] >= '0' && rec[i] <= '9' ? digits + 1 : 0;
		most = digits > most ? digits : most;
		exponent |= rec[i] == 'e' || rec[i] == 'E';
	}
	return most > 18 || exponent;
}

static void agree(const char *rec, size_t n, bool good)
{
	json_t *other = json_loadb(rec, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	/* jansson ends at a NUL, and counts the last level of the depth in another way. */
	if (good != (other != NULL) && n < SP__JSON_DEPTH && (!n || !memchr(rec, 0, n)))
		require(good && long_number(rec, n));
	json_decref(other);
}

/* Requires that a reader of records of the same shapes finds the same. */
static void same_by_shape(struct sp__json_reader *reader, const char *rec, size_t n)
{
	struct sp__json_value v = { 0 }, w = { 0 };
	struct sp__json_error e = { 0 }, f = { 0 };
	const int rc = sp__json_find(reader->paths, rec, n, reader->check, &v, &e);

	require(rc == sp__json_find_next(reader, rec, n, n, &w, &f));
	require(rc ? e.at == f.at && e.wanted == f.wanted : v.p == w.p || (!v.kind && !w.kind));
	require(rc || (v.kind == w.kind && v.n == w.n));
}

static void one_record(const struct sp__json_paths *paths, const char *from, size_t n)
{
	struct sp__json_value v = { 0 };
	struct sp__json_error e;
	char *rec = malloc(n + !n), *text;

	require(rec != NULL);
	memcpy(rec, from, n);
	agree(rec, n, !sp__json_find(NULL, rec, n, SP__JSON_CHECK_ALL, NULL, &e));
	if (sp__json_find(paths, rec, n, SP__JSON_CHECK_FOUND, &v, &e)) {
		require(e.at <= n && e.wanted);
	} else if (v.kind) {
		require(v.p >= rec && v.p + v.n <= rec + n);
		text = malloc(v.n);
		require(text &&
			(v.kind != SP__JSON_TEXT || sp__json_text(&v, text, v.n) <= v.n - 2));
		free(text);
	}
	free(rec);
}

static void compare(const struct sp_keyset *ks, const char *a, size_t an, const char *b, size_t bn)
{
	struct sp__keybuf ka = { 0 }, kb = { 0 };
	int slow, fast;

	if (!sp__key_encode(ks, a, an, &ka) && !sp__key_encode(ks, b, bn, &kb)) {
		slow = sp_keyset_compare(ks, a, an, b, bn);
		fast = sp__order_bytes(ka.data, ka.bytes, kb.data, kb.bytes);
		require((slow > 0) - (slow < 0) == (fast > 0) - (fast < 0));
	}
	sp__keybuf_release(&ka);
	sp__keybuf_release(&kb);
}

static void records(const char *path, const struct sp__json_paths *paths, const char *at,
		    const char *end)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n', .json = true },
				    .keys = &key,
				    .nkeys = 1,
				    .separator = -1,
				    .stable = true };
	struct sp__json_reader reader = { .paths = paths, .check = SP__JSON_CHECK_ALL };
	const char *last = at, *stop;
	struct sp_keyset *ks;
	size_t last_n = 0;

	key.path = path;
	require(!sp_keyset_new(&ks, &o, NULL));
	for (; at < end; at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		one_record(paths, at, (size_t)(stop - at));
		same_by_shape(&reader, at, (size_t)(stop - at));
		compare(ks, last, last_n, at, (size_t)(stop - at));
		last = at;
		last_n = (size_t)(stop - at);
		if (stop == end)
			break;
	}
	sp_keyset_free(ks);
	sp__json_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *s = (const char *)data, *line = bytes ? memchr(s, '\n', bytes) : NULL, *rest;
	struct sp__json_paths *paths;
	char path[64] = "";
	size_t number;

	if (!line || (size_t)(line - s) >= sizeof(path))
		return 0;
	memcpy(path, s, (size_t)(line - s));
	require(!sp__json_paths_new(&paths));
	if (!sp__json_paths_add(paths, path, ":", &number, &rest, NULL) && !*rest)
		records(path, paths, line + 1, s + bytes);
	sp__json_paths_free(paths);
	return 0;
}
