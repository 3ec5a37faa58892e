/* SPDX-License-Identifier: MIT */
/*
 * xjoin: joins the lines of files on a common field; replaces GNU join.
 */
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "outputs.h"
#include "packedwarn.h"
#include "signals.h"
#include "xjoin/xjoin.h"

/* Opens an input for a test, except a FIFO, whose writer would lose its reader. */
static void try_input(const char *name)
{
	struct stat st;
	int fd;

	if (!strcmp(name, "-"))
		return;
	if (stat(name, &st) == 0 && S_ISFIFO(st.st_mode))
		return;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die_sys(errno, "%s", quote_file(name));
	close(fd);
}

/* Refuses an output that is another output or an input; only the result may be an input. */
static void spare_files(const struct settings *set)
{
	struct sp_output_set out = { 0 };

	outputs_common(&out, &set->common, set->output);
	outputs_add(&out, set->timeline, "--timeline", false);
	for (int i = 0; i < 2; i++) {
		outputs_check_input(&out, set->inputs[i]);
		outputs_check_input(&out, set->opts.index[i]);
	}
	for (size_t i = 0; i < set->opts.nthen; i++) {
		outputs_check_input(&out, set->then[i].input);
		outputs_check_input(&out, set->then[i].index);
	}
}

static void warn_packed(const struct settings *set)
{
	bool warned = set->opts.run.decompress != SP_PACKED_NONE;

	for (int i = 0; i < 2 && !warned; i++)
		warned = packedwarn_input(set->inputs[i], "--decompress");
	for (size_t i = 0; i < set->opts.nthen && !warned; i++)
		warned = packedwarn_input(set->then[i].input, NULL);
	if (set->opts.run.compress_output == SP_PACKED_NONE)
		packedwarn_output(set->output, "--compress-output compresses it");
}

static void files_check(const struct settings *set)
{
	try_input(set->inputs[0]);
	try_input(set->inputs[1]);
	if (!strcmp(set->inputs[0], "-") && !strcmp(set->inputs[1], "-"))
		die("both files cannot be standard input");
	spare_files(set);
	if (!set->form.plain)
		warn_packed(set);
}

int main(int argc, char **argv)
{
	static struct settings set = {
		.common.run = &set.opts.run,
		.opts = SP_JOIN_OPTS_INIT,
	};

	msg_init(argv);
	msg_set_failure_status(1);
	setlocale(LC_ALL, "");
	(void)stdio_guard();
	signals_catch();
	set.form.plain = !strcmp(msg_program(), "join");
	options_parse(&set, argc, argv);
	runplot_begin(&set.common);
	files_check(&set);
	return join_run(&set);
}
