/* SPDX-License-Identifier: MIT */
/*
 * Where temporary data goes, as a tool was told: files in directories, a block
 * device, or a simulated machine; and how it is placed there.
 */
#ifndef SP__SPILL_WHERE_H
#define SP__SPILL_WHERE_H

#include <spindle/geometry.h>
#include <spindle/sort.h>
#include "sim/machine.h"

struct sp__where {
	const char *volume; /* NULL: files; "sim:SPEC"; "block:DEVICE" */
	bool overwrite;	    /* all that is on the device may be lost */
	enum sp_placement placement;
	const struct sp_geometry *geometry; /* NULL: not known */
};

/* SP_ESYNTAX, -EPERM or SP_EUNSUP, told in err: that cannot be. */
SP_MUST_CHECK int sp__where_check(const struct sp__where *w, struct sp_errinfo *err);
bool sp__where_simulated(const char *volume);
/*
 * The machine of a simulated volume; *m is left alone where it is none.  SP_EUNSUP: the
 * geometry (or NULL) is that of another device.
 */
SP_MUST_CHECK int sp__where_machine(const char *volume, const struct sp_geometry *geometry,
				    struct sp__machine **m, struct sp_errinfo *err);
/* The device of "block:DEVICE"; NULL where it is none. */
const char *sp__where_block(const char *volume);

#endif
