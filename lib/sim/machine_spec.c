/* SPDX-License-Identifier: MIT */
/*
 * The specification of a simulated machine: words separated by commas, the first the model, the
 * others KEY=VALUE.  The table at the end has a line for each key, with the values it takes.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/size.h>
#include "base/err.h"
#include "sim/fsmap.h"
#include "sim/machine.h"
#include "sim/sched.h"

#define WORD_MAX 320
#define DAY_NS (UINT64_C(86400) * 1000000000)

static bool parse_size(const char *value, uint64_t least, uint64_t most, uint64_t *bytes)
{
	uint64_t v;

	/* A share of this computer's memory would not be the same elsewhere. */
	if (strchr(value, '%') || sp_size_parse(value, 1, &v) < 0 || v < least || v > most)
		return false;
	*bytes = v;
	return true;
}

/* Digits up to anything else; at most max. */
static bool take_number(const char **p, uint64_t max, uint64_t *n)
{
	uint64_t v = 0;

	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); ++*p) {
		unsigned digit = (unsigned)(**p - '0');

		if (v > (max - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*n = v;
	return true;
}

static bool parse_number(const char *value, uint64_t max, uint64_t *n)
{
	return take_number(&value, max, n) && !*value;
}

/* A decimal number times scale, which is a power of ten; finer digits are refused. */
static bool take_decimal(const char **p, uint64_t max, uint64_t scale, uint64_t *n)
{
	uint64_t v = 0;

	if (!take_number(p, max / scale, &v))
		return false;
	v *= scale;
	if (**p == '.') {
		if (!isdigit((unsigned char)*++*p))
			return false;
		for (; isdigit((unsigned char)**p); ++*p) {
			scale /= 10;
			if (!scale && **p != '0')
				return false;
			v += scale * (unsigned)(**p - '0');
		}
	}
	*n = v;
	return v <= max;
}

/* A time up to anything that does not belong to it, in nanoseconds. */
static bool take_time(const char **p, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	const char *unit = *p + strspn(*p, "0123456789.");
	uint64_t scale = 1000000000;
	size_t len = strspn(unit, "abcdefghijklmnopqrstuvwxyz");

	if (len) {
		size_t i = 0;

		while (i < 4 && (strlen(units[i].name) != len || memcmp(units[i].name, unit, len)))
			i++;
		if (i == 4)
			return false;
		scale = units[i].ns;
	}
	if (!take_decimal(p, DAY_NS, scale, ns) || *p != unit)
		return false;
	*p += len;
	return true;
}

/* One of the words; its number. */
static bool parse_word(const char *value, const char *const *words, int *n)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(value, words[i])) {
			*n = i;
			return true;
		}
	return false;
}

static bool set_fs(struct sp__machine_spec *spec, const char *value)
{
	static const char *const names[] = { "none", "group", "extent", NULL };
	const char *colon = strchr(value, ':');
	size_t len = colon ? (size_t)(colon - value) : strlen(value);
	uint64_t pages = 0;
	char name[16];

	if (len >= sizeof(name))
		return false;
	memcpy(name, value, len);
	name[len] = '\0';
	if (!parse_word(name, names, &spec->fs))
		return false;
	if (colon &&
	    (spec->fs == SP__FS_NONE || !parse_number(colon + 1, 1 << 20, &pages) || !pages))
		return false;
	spec->group_pages = spec->fs == SP__FS_GROUP ? (unsigned)pages : 0;
	spec->extent_pages = spec->fs == SP__FS_EXTENT ? (unsigned)pages : 0;
	return true;
}

static bool set_cache(struct sp__machine_spec *spec, const char *value)
{
	return parse_size(value, 0, UINT64_C(1) << 44, &spec->cache_bytes);
}

static bool set_policy(struct sp__machine_spec *spec, const char *value)
{
	static const char *const names[] = { "lru", "opt", NULL };
	int n;

	if (!parse_word(value, names, &n))
		return false;
	spec->policy = (enum sp__pcache_policy)n;
	return true;
}

static bool set_future(struct sp__machine_spec *spec, const char *value)
{
	return *value && snprintf(spec->future, sizeof(spec->future), "%s", value) <
				 (int)sizeof(spec->future);
}

static bool set_page(struct sp__machine_spec *spec, const char *value)
{
	uint64_t bytes;

	if (!parse_size(value, 512, 1 << 20, &bytes) || (bytes & (bytes - 1)))
		return false;
	spec->page_bytes = (uint32_t)bytes;
	return true;
}

static bool set_flush(struct sp__machine_spec *spec, const char *value)
{
	uint64_t percent[3], age;

	spec->flush_on_evict = !strcmp(value, "evict");
	if (spec->flush_on_evict)
		return true;
	for (int i = 0; i < 3; i++)
		if (!take_number(&value, 100, &percent[i]) || *value++ != '/')
			return false;
	if (!take_time(&value, &age) || percent[2] > percent[1])
		return false;
	spec->sweep = !strcmp(value, "/sweep");
	if (*value && !spec->sweep)
		return false;
	spec->async_percent = (unsigned)percent[0];
	spec->sync_percent = (unsigned)percent[1];
	spec->down_percent = (unsigned)percent[2];
	spec->age_ns = age;
	return true;
}

static bool set_readahead(struct sp__machine_spec *spec, const char *value)
{
	return parse_size(value, 0, 1 << 30, &spec->readahead_bytes);
}

static bool set_sched(struct sp__machine_spec *spec, const char *value)
{
	return *value &&
	       snprintf(spec->sched, sizeof(spec->sched), "%s", value) < (int)sizeof(spec->sched);
}

static bool set_requests(struct sp__machine_spec *spec, const char *value)
{
	uint64_t n;

	if (!parse_number(value, 65536, &n))
		return false;
	spec->requests_max = (unsigned)n;
	return true;
}

static bool set_window(struct sp__machine_spec *spec, const char *value)
{
	static const char *const names[] = { "/fifo", "/sptf", NULL };
	uint64_t n;

	spec->window_policy = -1;
	if (!take_number(&value, 65536, &n) || !n)
		return false;
	spec->window = (unsigned)n;
	return !*value || parse_word(value, names, &spec->window_policy);
}

static bool set_merge(struct sp__machine_spec *spec, const char *value)
{
	static const char *const names[] = { "no", "yes", NULL };
	int n;

	if (!parse_word(value, names, &n))
		return false;
	spec->merge = n;
	return true;
}

static bool set_files(struct sp__machine_spec *spec, const char *value)
{
	static const char *const names[] = { "none", "in", "out", "both", NULL };
	int n;

	if (!parse_word(value, names, &n))
		return false;
	spec->files = (enum sp__sim_files)n;
	return true;
}

static bool set_noise(struct sp__machine_spec *spec, const char *value)
{
	struct sp__noise noise = { .tail_mean_ns = 1000000 };
	uint64_t tail; /* in 1e-6 percent */

	if (!take_time(&value, &noise.sd_ns))
		return false;
	if (*value == '/') {
		value++;
		if (!take_decimal(&value, 100000000, 1000000, &tail) || *value++ != '%')
			return false;
		noise.tail = (double)tail / 1e8;
	}
	if (*value == '/') {
		value++;
		if (!take_time(&value, &noise.tail_mean_ns))
			return false;
	}
	spec->noise = noise;
	return !*value;
}

static bool set_seed(struct sp__machine_spec *spec, const char *value)
{
	return parse_number(value, UINT64_MAX, &spec->seed);
}

static const struct key {
	const char *name;
	bool (*set)(struct sp__machine_spec *spec, const char *value);
	const char *form;
} keys[] = {
	{ "fs", set_fs, "none, group, group:N, extent, or extent:N (N pages, at most 1048576)" },
	{ "cache", set_cache, "a size such as 64M, at most 16T; 0 for none" },
	{ "policy", set_policy, "lru or opt" },
	{ "future", set_future, "the name of a trace, without commas, at most 255 bytes" },
	{ "page", set_page, "a power of 2 from 512 to 1M" },
	{ "flush", set_flush,
	  "evict, or A/B/C/AGE: percentages above which pages are written in the background, "
	  "above which a writer waits, and down to which (C <= B), and an age such as 3s; or the "
	  "same and /sweep" },
	{ "readahead", set_readahead, "a size such as 128K, at most 1G; 0 for none" },
	{ "sched", set_sched, "a scheduler and its parameters, at most 127 bytes" },
	{ "requests", set_requests, "a number, at most 65536; 0 for no limit" },
	{ "window", set_window, "N, N/fifo, or N/sptf, with N from 1 to 65536" },
	{ "merge", set_merge, "yes or no" },
	{ "files", set_files, "none, in, out, or both" },
	{ "noise", set_noise, "SD, SD/TAIL%, or SD/TAIL%/MEAN, such as 20us/2%/1ms" },
	{ "seed", set_seed, "a number" },
};

static int refuse(struct sp_errinfo *err, const char *word, const char *why)
{
	return sp__errf(err, SP_ESYNTAX, "sim", "", -1, "'%.40s': %s", word, why);
}

static int refuse_key(struct sp_errinfo *err, const char *word)
{
	char known[160];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i ? ", " : "",
				      keys[i].name);
	return sp__errf(err, SP_ESYNTAX, "sim", "", -1, "'%.40s' is not known; known are %s", word,
			known);
}

static int set_word(struct sp__machine_spec *spec, const char *word, struct sp_errinfo *err)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct key *k = &keys[i];

		if (strlen(k->name) != len || memcmp(k->name, word, len))
			continue;
		if (!equals || !k->set(spec, equals + 1))
			return sp__errf(err, SP_ESYNTAX, "sim", "", -1, "'%.40s': %s is %s", word,
					k->name, k->form);
		return 0;
	}
	return refuse_key(err, word);
}

/* Contradictions between words. */
static int check(const struct sp__machine_spec *spec, struct sp_errinfo *err)
{
	const struct sp__sched_ops *ops;
	struct sp__sched_params params = { 0 };

	if (spec->cache_bytes && spec->cache_bytes / spec->page_bytes == 0)
		return sp__errf(err, SP_ESYNTAX, "sim", "", -1, "cache: it is less than a page");
	if (spec->cache_bytes / spec->page_bytes > SP__PCACHE_PAGES_MAX)
		return sp__errf(err, SP_ESYNTAX, "sim", "", -1,
				"cache: it is more than 2^30 pages of %u bytes", spec->page_bytes);
	if (spec->cache_bytes && spec->policy == SP__PCACHE_OPT && !*spec->future)
		return sp__errf(err, SP_ESYNTAX, "sim", "", -1,
				"policy=opt: it needs future=FILE, a trace of the same requests");
	return sp__sched_parse(spec->sched, &ops, &params, err);
}

int sp__machine_spec_parse(struct sp__machine_spec *spec, const char *text, struct sp_errinfo *err)
{
	struct sp__machine_spec s = {
		.sched = "noop",
		.fs = SP__FS_NONE,
		.page_bytes = 4096,
		.async_percent = 30,
		.sync_percent = 60,
		.down_percent = 20,
		.age_ns = UINT64_C(3) * 1000000000,
		.readahead_bytes = 128 << 10,
		.window_policy = -1,
		.merge = true,
	};
	size_t len = strcspn(text, ",");
	char word[WORD_MAX];
	int rc;

	if (!len)
		return refuse(err, text, "the name of a model is missing");
	if (len >= sizeof(s.model))
		return refuse(err, text, "the name of a model has at most 255 bytes");
	memcpy(s.model, text, len);
	while (*(text += len)) {
		len = strcspn(++text, ",");
		if (len >= sizeof(word))
			return refuse(err, text, "this is too long");
		memcpy(word, text, len);
		word[len] = '\0';
		rc = set_word(&s, word, err);
		if (rc < 0)
			return rc;
	}
	rc = check(&s, err);
	if (rc == 0)
		*spec = s;
	return rc;
}
