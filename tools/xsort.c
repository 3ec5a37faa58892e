/* SPDX-License-Identifier: MIT */
/*
 * xsort: sorts, merges or checks records; replaces GNU sort.
 *
 * Assumptions: the order of steps is GNU's, because it determines which of several errors is
 * reported.
 */
#include <locale.h>
#include <string.h>
#include <sys/resource.h>
#include <spindle/size.h>
#include <spindle/sort.h>
#include "signals.h"
#include "xsort/xsort.h"

#define FLOOR_BYTES (512u << 10)
#define RUN_UNIT 4096u

static void cap(uint64_t *bytes, int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    *bytes > limit.rlim_cur / 2)
		*bytes = limit.rlim_cur / 2;
}

/* Limits the memory to the process's limits, beyond which the kernel would refuse it. */
static void cap_memory(struct sp_sort_opts *opts)
{
	uint64_t all;

	if (sp_size_parse("100%", 1, &all) == 0 && opts->run.memory_bytes > all)
		opts->run.memory_bytes = all;
	cap(&opts->run.memory_bytes, RLIMIT_AS);
	cap(&opts->run.memory_bytes, RLIMIT_DATA);
}

/*
 * Makes runs as small as -S with --compress-program, so the program runs with any -S, as with GNU
 * sort.  The library alone raises a small -S to its minimum.
 */
static void compress_small_runs(struct sp_sort_opts *opts)
{
	if (!opts->compress_program || opts->run_bytes || opts->run.memory_bytes > FLOOR_BYTES)
		return;
	opts->run_bytes = opts->run.memory_bytes / RUN_UNIT * RUN_UNIT;
	if (opts->run_bytes < RUN_UNIT)
		opts->run_bytes = RUN_UNIT;
}

/* Sets options of the library that depend on several command-line options. */
static void fill_options(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	set->opts.format = sp_order_format(&set->order);
	if (common_options_resources(&set->common, set->files, set->nfiles,
				     strcmp(msg_program(), "sort") != 0, &err) < 0)
		failure(set, &err, 0);
	cap_memory(&set->opts);
	compress_small_runs(&set->opts);
	set->opts.unique = set->order.unique;
	set->opts.keys = order_compile(set);
}

int main(int argc, char **argv)
{
	static struct settings set = {
		.order = SP_ORDER_INIT,
		.common.run = &set.opts.run,
		.opts = SP_SORT_OPTS_INIT,
	};

	msg_init(argv);
	msg_set_failure_status(XSORT_FAILURE);
	setlocale(LC_ALL, "");
	set.stdin_closed = stdio_guard();
	signals_catch();
	options_parse(&set, argc, argv);
	files_read_list(&set);
	if (!set.nfiles)
		set.files[set.nfiles++] = "-";
	files_choose_compression(&set);
	files_warn_packed(&set);
	infer_check(&set);
	names_resolve(&set);
	order_finish(&set);
	infer_types(&set);
	warn_about_keys(&set);
	options_check(&set);
	order_read_salt(&set);
	fill_options(&set);
	if (set.check)
		return check_run(&set);
	files_check_inputs(&set);
	split_read(&set);
	files_check_output(&set);
	if (set.splitters)
		return splitters_run(&set);
	return sort_run(&set);
}
