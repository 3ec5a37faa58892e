/* SPDX-License-Identifier: MIT */
/*
 * Reports what was read in parts (parts.h).
 */
#include <stdio.h>
#include "flow/parts.h"

void sp__parts_report(const struct sp__parts *p, const struct sp__scan *scan,
		      struct sp_run_stats *st)
{
	const char *engine = NULL;
	struct sp__io_counters c;

	if (p) {
		sp__parts_counters(p, &c);
		engine = sp__parts_engine(p);
	} else if (scan) {
		sp__scan_counters(scan, &c);
		engine = sp__scan_engine(scan);
	}
	if (!engine)
		return;
	sp__env_note_io(st, &c);
	snprintf(st->input_engine, sizeof(st->input_engine), "%s", engine);
}
