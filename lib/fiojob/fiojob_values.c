/* SPDX-License-Identifier: MIT */
/*
 * Reads the keys of a job and their values by fio's rules.
 *
 * Units: "k", "ki" and "kb" are kb_base, which is 1024 by default, and "kib" is the other one of
 * 1024 and 1000.  A time without a unit is in seconds.  fio ignores decimals ("1.5g" is 1 byte),
 * so they are refused.
 */
#include <string.h>
#include "base/keyval.h"
#include "fiojob/fiojob.h"

const struct sp__fiovalues sp__fiojob_defaults = {
	.rw = SP_BENCH_OP_READ,
	.mix = 0.5,
	.bytes = 4096,
	.iodepth = 1,
	.numjobs = 1,
	.loops = 1,
	.create = true,
	.engine = SP__FIO_SYNC,
	.invalidate = true,
	.batch_submit = 1,
	.seed = 1,
	.kb_base = 1024,
	.cmdprio_class = SP_BENCH_RT,
};

#define KIB UINT64_C(1024)
#define KB UINT64_C(1000)
#define SECOND UINT64_C(1000000000)
#define PREFIX(name, base, other)                                                                  \
	{ name, base }, { name "i", base }, { name "b", base },                                    \
	{                                                                                          \
		name "ib", other                                                                   \
	}
#define SIZES(b, o)                                                                                \
	{                                                                                          \
		{ "", 1 }, { "b", 1 }, PREFIX("k", b, o), PREFIX("m", b *b, o *o),                 \
			PREFIX("g", b *b *b, o *o *o), PREFIX("t", b *b *b *b, o *o *o *o),        \
			PREFIX("p", b *b *b *b *b, o *o *o *o *o),                                 \
		{                                                                                  \
			NULL, 0                                                                    \
		}                                                                                  \
	}

static const struct sp__unit sizes_1024[] = SIZES(KIB, KB), sizes_1000[] = SIZES(KB, KIB);
static const struct sp__unit times[] = { { "", SECOND },	  { "s", SECOND },
					 { "ms", 1000000 },	  { "us", 1000 },
					 { "msec", 1000000 },	  { "usec", 1000 },
					 { "m", 60 * SECOND },	  { "h", 3600 * SECOND },
					 { "d", 86400 * SECOND }, { NULL, 0 } };
static const struct sp_enum_value engines[] = { { "io_uring", SP__FIO_URING },
						{ "libaio", SP__FIO_AIO },
						{ "sync", SP__FIO_SYNC },
						{ "psync", SP__FIO_SYNC },
						{ "pread", SP__FIO_SYNC },
						{ "null", SP__FIO_NULL },
						{ NULL, 0 } };

const char *sp__fiojob_engine(const struct sp__fiovalues *v)
{
	return sp_enum_name(engines, v->engine);
}

static bool set_rw(void *values, const char *text)
{
	return sp__word_take(&text, "", sp_bench_rw_values(),
			     &((struct sp__fiovalues *)values)->rw);
}

static bool set_path(char *path, size_t bytes, const char *text)
{
	if (!*text || strpbrk(text, ":\\") || strlen(text) >= bytes)
		return false;
	strcpy(path, text);
	return true;
}

static bool set_filename(void *values, const char *text)
{
	struct sp__fiovalues *v = values;

	return set_path(v->filename, sizeof(v->filename), text);
}

static bool set_directory(void *values, const char *text)
{
	struct sp__fiovalues *v = values;

	return set_path(v->directory, sizeof(v->directory), text);
}

/* Sets the name; a longer one is truncated, as the name of a section is. */
static bool set_name(void *values, const char *text)
{
	struct sp__fiovalues *v = values;

	memcpy(v->name, text, strnlen(text, sizeof(v->name) - 1) + 1);
	v->name[sizeof(v->name) - 1] = '\0';
	return *text;
}

/* Parses a whole number of bytes or of something else in units of kb_base. */
static bool whole(struct sp__fiovalues *v, const char *text, uint64_t min, uint64_t max,
		  uint64_t *n)
{
	v->scaled = true;
	return !strchr(text, '.') &&
	       sp__number_parse(text, v->kb_base == 1000 ? sizes_1000 : sizes_1024, min, max, n);
}

static bool set_size(void *values, const char *text)
{
	struct sp__fiovalues *v = values;
	uint64_t n;

	if (strchr(text, '%')) {
		if (strchr(text, '.') ||
		    !sp__number_parse(text, sp__unit_percent, 10000000, 1000000000, &n))
			return false;
		v->size = 0;
		v->size_share = (double)n / 1e9;
		return true;
	}
	if (!whole(v, text, 0, INT64_MAX, &n))
		return false;
	v->size = n;
	v->size_share = 0;
	return true;
}

static bool set_io_size(void *values, const char *text)
{
	struct sp__fiovalues *v = values;

	return whole(v, text, 0, INT64_MAX, &v->io_size);
}

static bool set_offset(void *values, const char *text)
{
	struct sp__fiovalues *v = values;

	uint64_t n;

	if (!strchr(text, '%')) {
		v->offset_percent = 0;
		return whole(v, text, 0, INT64_MAX, &v->offset);
	}
	if (strchr(text, '.') || !sp__number_parse(text, sp__unit_percent, 0, 990000000, &n))
		return false;
	v->offset = 0;
	v->offset_percent = (unsigned)(n / 10000000);
	return true;
}

static bool set_block(void *values, const char *text)
{
	struct sp__fiovalues *v = values;
	uint64_t n;

	if (!whole(v, text, 1, 1 << 30, &n))
		return false;
	v->bytes = (uint32_t)n;
	return true;
}

/* Parses a range of sizes whose ends are equal. */
static bool set_block_range(void *values, const char *text)
{
	size_t n = strcspn(text, "-");
	char first[32];

	if (!text[n] || n >= sizeof(first) || strncmp(text, text + n + 1, n) != 0 ||
	    text[n + 1 + n])
		return false;
	memcpy(first, text, n);
	first[n] = '\0';
	return set_block(values, first);
}

static bool set_filesize(void *values, const char *text)
{
	struct sp__fiovalues *v = values;

	return whole(v, text, 1, INT64_MAX, &v->filesize);
}

static bool set_byte_rate(void *values, const char *text)
{
	struct sp__fiovalues *v = values;
	uint64_t n;

	if (!whole(v, text, 0, INT64_MAX, &n))
		return false;
	v->byte_rate = (double)n;
	return true;
}

static bool set_rate(void *values, const char *text)
{
	struct sp__fiovalues *v = values;
	uint64_t n;

	if (!whole(v, text, 0, SECOND, &n))
		return false;
	v->rate = (double)n;
	return true;
}

/* fio applies kb_base to all lines of its section, this parser to those after it. */
static bool set_kb_base(void *values, const char *text)
{
	struct sp__fiovalues *v = values;
	uint64_t n;

	if (!sp__number_parse(text, sp__unit_none, 1000, 1024, &n) || (n != 1000 && n != 1024) ||
	    (v->scaled && n != v->kb_base))
		return false;
	v->kb_base = (uint32_t)n;
	return true;
}

static bool set_time(const char *text, uint64_t *ns)
{
	return !strchr(text, '.') && sp__number_parse(text, times, 0, INT64_MAX, ns);
}

static bool set_runtime(void *values, const char *text)
{
	return set_time(text, &((struct sp__fiovalues *)values)->runtime_ns);
}

static bool set_ramp(void *values, const char *text)
{
	return set_time(text, &((struct sp__fiovalues *)values)->ramp_ns);
}

static bool set_buffered(void *values, const char *text)
{
	uint64_t buffered = 1; /* value of a key without one */

	if (text && !sp__number_parse(text, sp__unit_none, 0, 1, &buffered))
		return false;
	((struct sp__fiovalues *)values)->direct = !buffered;
	return true;
}

static bool set_off(void *values, const char *text)
{
	(void)values;
	return !strcmp(text, "0") || !strcmp(text, "none");
}

static bool set_generator(void *values, const char *text)
{
	(void)values;
	return !strcmp(text, "tausworthe") || !strcmp(text, "tausworthe64");
}

static bool set_inline(void *values, const char *text)
{
	(void)values;
	return !strcmp(text, "inline");
}

static bool set_process(void *values, const char *text)
{
	((struct sp__fiovalues *)values)->poisson = !strcmp(text, "poisson");
	return !strcmp(text, "poisson") || !strcmp(text, "linear");
}

static bool set_one(void *values, const char *text)
{
	(void)values;
	return !strcmp(text, "1");
}

static bool set_distribution(void *values, const char *text)
{
	struct sp_bench_class c = { .theta = 0 };

	if (sp_bench_class_pattern(&c, text) ||
	    (c.pattern != SP_BENCH_RANDOM && c.pattern != SP_BENCH_ZIPF))
		return false;
	((struct sp__fiovalues *)values)->theta = c.theta;
	return true;
}

static bool set_mix_write(void *values, const char *text)
{
	uint64_t n;

	if (!sp__number_parse(text, sp__unit_none, 0, 100, &n))
		return false;
	((struct sp__fiovalues *)values)->mix = 1 - (double)n / 100;
	return true;
}

static bool set_prio(void *values, const char *text)
{
	struct sp__fiovalues *v = values;
	uint64_t level;

	if (!sp__number_parse(text, sp__unit_none, 0, 7, &level))
		return false;
	v->prio = (uint32_t)level;
	/* a level without a class is of best effort */
	if (!v->prioclass)
		v->prioclass = SP_BENCH_BE;
	return true;
}

#define AT(member) SP__KEY_AT(struct sp__fiovalues, member)
#define RW "read, write, rw, randread, randwrite or randrw"
#define BLOCK "one size up to 1g, without decimals", .set = set_block
#define SIZE "a size in bytes, without decimals"
#define NUMBER "a number from 0 to 2^64 - 1", SP__KEY_NUMBER
#define TIME "a time without decimals"
#define PERCENT "a percentage", SP__KEY_REAL
#define OFF "0 or none: others are not supported"
#define FLAG "0 or 1", SP__KEY_FLAG
static const struct sp__setting keys[] = {
	{ "rw", RW, .set = set_rw },
	{ "readwrite", RW, .set = set_rw },
	{ "bs", BLOCK },
	{ "blocksize", BLOCK },
	{ "bsrange", "one size twice, as 4k-4k: others are not supported", .set = set_block_range },
	{ "filesize", "one size in bytes, without decimals", .set = set_filesize },
	{ "allow_file_create", FLAG, AT(create) },
	{ "size", "a size in bytes or a percentage, without decimals", .set = set_size },
	{ "io_size", SIZE, .set = set_io_size },
	{ "io_limit", SIZE, .set = set_io_size },
	{ "offset", "a size in bytes or a percentage up to 99%, without decimals",
	  .set = set_offset },
	{ "kb_base", "1000 or 1024, before the first size of its section", .set = set_kb_base },
	{ "filename", "one file, without : and \\", .set = set_filename },
	{ "directory", "one folder, without : and \\", .set = set_directory },
	{ "name", "a name", .set = set_name },
	{ "stonewall", FLAG, AT(stonewall) },
	{ "wait_for_previous", FLAG, AT(stonewall) },
	{ "invalidate", FLAG, AT(invalidate) },
	{ "buffered", "0 or 1", .set = set_buffered, .alone = true },
	{ "iodepth", NUMBER, AT(iodepth), 1, SP_BENCH_DEPTH_MAX },
	{ "numjobs", NUMBER, AT(numjobs), 1, SP_BENCH_CLASSES_MAX },
	{ "ioengine", "io_uring, libaio, sync, psync, pread or null", SP__KEY_WORD, AT(engine),
	  .words = engines },
	{ "direct", FLAG, AT(direct) },
	{ "runtime", TIME, .set = set_runtime },
	{ "timeout", TIME, .set = set_runtime },
	{ "time_based", FLAG, AT(time_based) },
	{ "norandommap", FLAG, AT(norandommap) },
	{ "group_reporting", FLAG, AT(group_reporting) },
	{ "ramp_time", TIME, .set = set_ramp },
	{ "rwmixread", PERCENT, AT(mix), 0, 1000000000, sp__unit_percent },
	{ "rwmixwrite", PERCENT, .set = set_mix_write },
	{ "random_distribution", "random or zipf:THETA", .set = set_distribution },
	{ "randseed", NUMBER, AT(seed) },
	{ "rate_iops", "a number up to 1000000000, without decimals", .set = set_rate },
	{ "rate", "one number of bytes per second, without decimals", .set = set_byte_rate },
	{ "rate_process", "linear or poisson", .set = set_process },
	{ "random_generator", "tausworthe or tausworthe64: others are not supported",
	  .set = set_generator },
	{ "io_submit_mode", "inline: others are not supported", .set = set_inline },
	{ "new_group", FLAG, AT(new_group) },
	{ "exitall", FLAG, AT(exitall) },
	{ "prioclass", NUMBER, AT(prioclass), 0, SP_BENCH_IDLE },
	{ "prio", NUMBER, .set = set_prio },
	{ "cmdprio_percentage", PERCENT, AT(cmdprio_share), 0, 1000000000, sp__unit_percent },
	{ "cmdprio_class", NUMBER, AT(cmdprio_class), 1, SP_BENCH_IDLE },
	{ "cmdprio", NUMBER, AT(cmdprio), 0, 7 },
	{ "iodepth_batch", NUMBER, AT(batch_submit), 0, SP_BENCH_DEPTH_MAX },
	{ "iodepth_batch_submit", NUMBER, AT(batch_submit), 0, SP_BENCH_DEPTH_MAX },
	{ "iodepth_batch_complete", NUMBER, AT(batch_min), 0, SP_BENCH_DEPTH_MAX },
	{ "iodepth_batch_complete_min", NUMBER, AT(batch_min), 0, SP_BENCH_DEPTH_MAX },
	{ "iodepth_batch_complete_max", NUMBER, AT(batch_max), 0, SP_BENCH_DEPTH_MAX },
	{ "fixedbufs", FLAG, AT(fixed_buffers) },
	{ "registerfiles", FLAG, AT(register_files) },
	{ "verify", OFF, .set = set_off },
	{ "do_verify", OFF, .set = set_off },
	{ "fsync", OFF, .set = set_off },
	{ "fdatasync", OFF, .set = set_off },
	{ "end_fsync", OFF, .set = set_off },
	{ "fsync_on_close", OFF, .set = set_off },
	{ "thinktime", OFF, .set = set_off },
	{ "startdelay", OFF, .set = set_off },
	{ "zonemode", OFF, .set = set_off },
	{ "loops", "a number from 1 to 1000000000", SP__KEY_NUMBER, AT(loops), 1, 1000000000 },
	{ "nrfiles", "1, the only supported number", .set = set_one },
	{ NULL },
};

/* Keys without effect in this program. */
static const char ignored[] =
	"thread threads description randrepeat allrandrepeat refill_buffers scramble_buffers "
	"disable_lat disable_clat disable_slat disable_bw_measurement gtod_reduce clocksource "
	"create_serialize create_fsync create_on_open softrandommap error_dump "
	"exitall_on_error allow_mounted_write";

/* Keys that describe output of fio that this program does not write. */
static const char output[] =
	"write_bw_log write_lat_log write_iops_log write_hist_log write_iolog log_avg_msec "
	"log_hist_msec log_hist_coarseness log_max_value log_offset log_compression "
	"log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch "
	"log_alternate_epoch_clock_id log_entries per_job_logs bwavgtime iopsavgtime "
	"lat_percentiles clat_percentiles slat_percentiles percentile_list significant_figures "
	"unified_rw_reporting unit_base stats";

const struct sp__setting *sp__fiojob_key(const char *name, size_t len)
{
	return sp__keyval_find(&(struct sp__keytext){ .keys = keys }, name, len);
}

bool sp__fiojob_ignored(const char *name, size_t len)
{
	return sp__word_among(name, len, ignored);
}

bool sp__fiojob_output(const char *name, size_t len)
{
	return sp__word_among(name, len, output);
}
