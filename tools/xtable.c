/* SPDX-License-Identifier: MIT */
/*
 * xtable: stores tables in a layout that suits the questions, and answers them.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include "signals.h"
#include "xtable/xtable.h"

void report(struct config *c, const char *command, const struct sp_table_stats *st)
{
	progress_wipe();
	say_no_effects(&st->run.no_effects);
	if (c->common.stats)
		statsfile_finish(&c->stats, sp_report_table(command, &c->info, &c->query, st));
}

void open_table(struct config *c, bool write, bool texts)
{
	struct sp_table_opts o = { .write = write,
				   .depth = c->load.depth,
				   .dsm_join = c->dsm_join,
				   .progress = c->load.progress,
				   .progress_arg = &c->progress };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	open_pool(c, 1);
	o.run = c->run;
	o.pool = c->pool;
	rc = sp_table_open(&c->table, c->operands.text[0], &o, &err);
	if (!rc)
		rc = sp_table_info(c->table, texts, &c->info, &err);
	if (rc) {
		die_next(&err, -ENOENT, c->operands.text[0], "load makes a table");
		die_of(rc, &err);
	}
	if (c->info.alone)
		msg("%s: one of the two superblocks is damaged; the other one is used",
		    quote_file(c->operands.text[0]));
}

void close_table(struct config *c)
{
	int rc = sp_table_close(c->table);

	sp_pool_close(c->pool);
	c->table = NULL;
	if (rc)
		die("%s: %s", c->run.trace_path ? c->run.trace_path : c->operands.text[0],
		    sp_strerror(rc));
}

int end_command(struct config *c, const char *command, const struct sp_table_stats *st)
{
	report(c, command, st);
	keys_close(&c->wanted);
	close_table(c);
	return c->absent ? NEGATIVE : 0;
}

int print_records(void *config, const char *data, size_t bytes)
{
	const struct config *c = config;

	if (!c->apart)
		progress_wipe();
	if (fwrite_unlocked(data, 1, bytes, stdout) == bytes)
		return 0;
	return errno ? -errno : -EIO;
}

void check_printed(int rc, const struct sp_errinfo *err)
{
	if (ferror(stdout))
		die_sys(-rc, "write error");
	if (rc)
		die_of(rc, err);
}

int main(int argc, char **argv)
{
	static struct config c;
	const struct command *command;

	msg_init(argv);
	setlocale(LC_ALL, "");
	stdio_guard();
	signals_catch();
	command = options_parse(&c, argc, argv);
	return commands_run(command, &c, &c.stats, c.common.stats, c.result);
}
