/* SPDX-License-Identifier: MIT */
/*
 * mmap-cube: stores and reads multidimensional datasets.
 */
#include "signals.h"
#include "mmap-cube/mmap-cube.h"

struct sp_cube *open_cube(struct config *c, bool write)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube *cube;
	int rc;

	c->open.write = write;
	rc = sp_cube_open(&cube, c->operands.text[0], &c->open, &err);
	if (rc) {
		die_next(&err, -ENOENT, c->operands.text[0], "create makes a cube");
		die_of(rc, &err);
	}
	sp_cube_info(cube, &c->info);
	if (c->info.alone)
		msg("%s: one of the two superblocks is not valid: the last change may be missing",
		    c->operands.text[0]);
	return c->cube = cube;
}

void check_cube(struct sp_cube *cube, int rc, const struct sp_errinfo *err)
{
	if (!rc)
		return;
	(void)sp_cube_close(cube);
	die_of(rc, err);
}

void close_cube(const struct config *c, struct sp_cube *cube)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp_cube_close(cube);

	if (!rc)
		return;
	snprintf(err.path, sizeof(err.path), "%s",
		 c->run.trace_path ? c->run.trace_path : c->operands.text[0]);
	runplot_name(&c->common, &err);
	die_of(rc, &err);
}

int main(int argc, char **argv)
{
	static struct config c;
	const struct command *command;
	int status;

	msg_init(argv);
	stdio_guard();
	signals_catch();
	command = options_parse(&c, argc, argv);
	status = commands_run(command, &c, &c.stats, c.common.stats, NULL);
	runplot_finish(&c.common, (const char *const[]){ command->name, c.operands.text[0] }, 2);
	return status;
}
