/* SPDX-License-Identifier: MIT */
/*
 * Parses the specification of a simulated machine: the model, then KEY=VALUE, separated by commas.
 * The table has a line per key, with its values.
 */
#include <string.h>
#include <spindle/size.h>
#include "base/err.h"
#include "base/keyval.h"
#include "dev/model.h"
#include "sim/fsmap.h"
#include "sim/machine.h"
#include "sim/sched.h"

#define DAY_NS (UINT64_C(86400) * 1000000000)
#define MERGE_BYTES (1u << 20)

static const struct sp__unit tail_share[] = { { "%", 10000000 }, { NULL, 0 } };
static const struct sp_enum_value file_systems[] = {
	{ "none", SP__FS_NONE }, { "group", SP__FS_GROUP }, { "extent", SP__FS_EXTENT }, { NULL, 0 }
};
static const struct sp_enum_value policies[] = { { "lru", SP__PCACHE_LRU },
						 { "opt", SP__PCACHE_OPT },
						 { NULL, 0 } };
static const struct sp_enum_value windows[] = { { "fifo", SP__WINDOW_FIFO },
						{ "sptf", SP__WINDOW_SPTF },
						{ NULL, 0 } };
static const struct sp_enum_value answers[] = { { "no", false }, { "yes", true }, { NULL, 0 } };
static const struct sp_enum_value files[] = { { "none", SP__SIM_FILES_NONE },
					      { "in", SP__SIM_FILES_IN },
					      { "out", SP__SIM_FILES_OUT },
					      { "both", SP__SIM_FILES_BOTH },
					      { NULL, 0 } };

static bool take_time(const char **value, uint64_t *ns)
{
	return sp__number_take(value, sp__unit_time, ns) && *ns <= DAY_NS;
}

static bool set_fs(void *machine, const char *value)
{
	struct sp__machine_spec *spec = machine;
	uint64_t pages = 0;

	if (!sp__word_take(&value, ":", file_systems, &spec->fs))
		return false;
	if (*value && (spec->fs == SP__FS_NONE ||
		       !sp__number_parse(value + 1, sp__unit_none, 1, 1 << 20, &pages)))
		return false;
	spec->group_pages = spec->fs == SP__FS_GROUP ? (unsigned)pages : 0;
	spec->extent_pages = spec->fs == SP__FS_EXTENT ? (unsigned)pages : 0;
	return true;
}

static bool set_flush(void *machine, const char *value)
{
	struct sp__machine_spec *spec = machine;
	uint64_t percent[3], age;

	spec->cache.flush_on_evict = !strcmp(value, "evict");
	if (spec->cache.flush_on_evict)
		return true;
	for (int i = 0; i < 3; i++)
		if (!sp__number_take(&value, sp__unit_none, &percent[i]) || percent[i] > 100 ||
		    *value++ != '/')
			return false;
	if (!take_time(&value, &age) || percent[2] > percent[1])
		return false;
	spec->cache.sweep = !strcmp(value, "/sweep");
	if (*value && !spec->cache.sweep)
		return false;
	spec->cache.async_percent = (unsigned)percent[0];
	spec->cache.sync_percent = (unsigned)percent[1];
	spec->cache.down_percent = (unsigned)percent[2];
	spec->cache.age_ns = age;
	return true;
}

static bool set_array(void *machine, const char *value)
{
	return sp__raid_parse(&((struct sp__machine_spec *)machine)->array, value);
}

static bool set_window(void *machine, const char *value)
{
	struct sp__machine_spec *spec = machine;
	uint64_t n;

	if (!sp__number_take(&value, sp__unit_none, &n) || !n || n > 65536)
		return false;
	spec->device.window = (unsigned)n;
	spec->device.policy = -1;
	spec->device.age_ns = 0;
	if (!*value)
		return true;
	if (*value++ != '/' || !sp__word_take(&value, "/", windows, &spec->device.policy))
		return false;
	if (!*value)
		return true;
	value++;
	return spec->device.policy == SP__WINDOW_SPTF && take_time(&value, &spec->device.age_ns) &&
	       spec->device.age_ns && !*value;
}

static bool set_merge(void *machine, const char *value)
{
	struct sp__machine_spec *spec = machine;
	uint64_t bytes = MERGE_BYTES;
	int merge = true;

	if (!sp__word_take(&value, "", answers, &merge) &&
	    (strchr(value, '%') || sp_size_parse(value, 1, &bytes) || bytes < 512 ||
	     bytes > 1 << 30))
		return false;
	spec->device.merge = merge;
	spec->merge_bytes = (uint32_t)bytes;
	return true;
}

static bool set_noise(void *machine, const char *value)
{
	struct sp__noise noise = { .tail_mean_ns = 1000000 };
	uint64_t tail; /* in billionths */

	if (!take_time(&value, &noise.sd_ns))
		return false;
	if (*value == '/') {
		value++;
		if (!sp__number_take(&value, tail_share, &tail) || tail > 1000000000)
			return false;
		noise.tail = (double)tail / 1e9;
	}
	if (*value == '/') {
		value++;
		if (!take_time(&value, &noise.tail_mean_ns))
			return false;
	}
	((struct sp__machine_spec *)machine)->noise = noise;
	return !*value;
}

#define AT(member) SP__KEY_AT(struct sp__machine_spec, member)
static const struct sp__setting keys[] = {
	{ "fs", "none, group, group:N, extent, or extent:N (N pages, at most 1048576)",
	  .set = set_fs },
	{ "cache", "a size such as 64M, at most 16T; 0 for none", SP__KEY_SIZE, AT(cache_bytes), 0,
	  UINT64_C(1) << 44 },
	{ "policy", "lru or opt", SP__KEY_WORD, AT(cache.policy), .words = policies },
	{ "future", "the name of a trace, without commas, at most 255 bytes", SP__KEY_TEXT,
	  AT(future) },
	{ "page", "a power of 2 from 512 to 1M", SP__KEY_SIZE, AT(page_bytes), 512, 1 << 20 },
	{ "flush",
	  "evict, or A/B/C/AGE[/sweep]: percentages above which pages are written in the "
	  "background, above which a writer waits, and down to which (C <= B), and an age such as "
	  "3s",
	  .set = set_flush },
	{ "readahead", "a size such as 128K, at most 1G; 0 for none", SP__KEY_SIZE,
	  AT(readahead_bytes), 0, 1 << 30 },
	{ "sched", "a scheduler and its parameters, at most 127 bytes", SP__KEY_TEXT, AT(sched) },
	{ "requests", "a number, at most 65536; 0 for no limit", SP__KEY_NUMBER,
	  AT(device.requests_max), 0, 65536 },
	{ "array", sp__raid_form, .set = set_array },
	{ "window",
	  "N, N/fifo, N/sptf, or N/sptf/AGE, with N from 1 to 65536 and an age such as 100ms",
	  .set = set_window },
	{ "merge", "yes, no, or a size from 512 to 1G", .set = set_merge },
	{ "writeback", "a number of pages, at most 1048576", SP__KEY_NUMBER, AT(writeback_pages), 1,
	  1 << 20 },
	{ "files", "none, in, out, or both", SP__KEY_WORD, AT(files), .words = files },
	{ "noise", "SD, SD/TAIL%, or SD/TAIL%/MEAN, such as 20us/2%/1ms", .set = set_noise },
	{ "seed", "a number", SP__KEY_NUMBER, AT(seed) },
	{ NULL },
};

static int refuse(struct sp_errinfo *err, const char *reason)
{
	return sp__errf(err, SP_ESYNTAX, "parse", "", -1, "sim: %s", reason);
}

/* Refuses contradictory keys. */
static int check(const struct sp__machine_spec *spec, struct sp_errinfo *err)
{
	const struct sp__sched_ops *ops;
	struct sp__sched_params params = { 0 };

	uint64_t pages = spec->cache_bytes / spec->page_bytes;

	if (spec->page_bytes & (spec->page_bytes - 1))
		return refuse(err, "page is a power of 2 from 512 to 1M");
	if (spec->cache_bytes && !pages)
		return refuse(err, "cache: it is less than a page");
	if (pages > SP__PCACHE_PAGES_MAX)
		return refuse(err, "cache: it is more than 2^30 pages");
	if (spec->cache_bytes && spec->cache.policy == SP__PCACHE_OPT && !*spec->future)
		return refuse(err,
			      "policy=opt: it needs future=FILE, a trace of the same requests");
	return sp__sched_parse(spec->sched, &ops, &params, err);
}

int sp__machine_words_parse(struct sp__machine_spec *spec, const char *text, const char *only,
			    struct sp_errinfo *err)
{
	struct sp__machine_spec s = {
		.sched = "noop",
		.fs = SP__FS_NONE,
		.page_bytes = 4096,
		.cache = { .async_percent = 30,
			   .sync_percent = 60,
			   .down_percent = 20,
			   .age_ns = UINT64_C(3) * 1000000000,
			   .keep_written = true },
		.readahead_bytes = 128 << 10,
		.device = { .policy = -1, .merge = true },
		.merge_bytes = MERGE_BYTES,
		.writeback_pages = 1024,
	};
	size_t len = strcspn(text, ",");
	int rc = 0;

	if (!len)
		return refuse(err, "the name of a model is missing");
	if (len >= sizeof(s.model))
		return refuse(err, "the name of a model has at most 255 bytes");
	memcpy(s.model, text, len);
	if (text[len])
		rc = sp__keyval_parse(&(struct sp__keytext){ "sim", ",", keys, only }, &s,
				      text + len + 1, err);
	if (rc == 0)
		rc = check(&s, err);
	if (rc == 0)
		*spec = s;
	return rc;
}

int sp__machine_spec_parse(struct sp__machine_spec *spec, const char *text, struct sp_errinfo *err)
{
	return sp__machine_words_parse(spec, text, NULL, err);
}

int sp__machine_spec_model(struct sp__model **m, const struct sp__machine_spec *spec,
			   struct sp_errinfo *err)
{
	int rc = sp__model_load(m, spec->model, err);

	if (rc == 0 && spec->array.level != SP__RAID_NONE)
		rc = sp__raid_make(m, &spec->array, err);
	if (rc) {
		sp__model_free(*m);
		*m = NULL;
	}
	return rc;
}
