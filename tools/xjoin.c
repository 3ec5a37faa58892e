/* SPDX-License-Identifier: MIT */
/*
 * xjoin: joins the lines of two files on a common field; replaces GNU join.
 */
#include <locale.h>
#include <string.h>
#include "msg.h"
#include "signals.h"
#include "stdio_end.h"
#include "xjoin/xjoin.h"

int main(int argc, char **argv)
{
	static struct settings set = {
		.separator = -1,
		.common.run = &set.opts.run,
		.opts = SP_JOIN_OPTS_INIT,
	};

	msg_init(argv);
	msg_set_failure_status(1);
	setlocale(LC_ALL, "");
	(void)stdio_guard();
	signals_catch();
	set.plain_join = !strcmp(msg_program(), "join");
	options_parse(&set, argc, argv);
	files_check(&set);
	return join_run(&set);
}
