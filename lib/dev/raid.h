/* SPDX-License-Identifier: MIT */
/*
 * Arrays of equal drives as one device: the text that asks for one, and the
 * model that is made of the model of a drive.
 *
 *   linear:N           one drive after the other
 *   raid0:N[/STRIPE]   stripes of this size go round the drives
 *   raid10:N[/STRIPE]  they go round mirrored pairs, whose drives have the same blocks
 *
 * Blocks that do not fill a stripe at the end of the drives are not used.  STRIPE "track": each
 * track of a drive is a stripe, so that the array has tracks too (Shao 2008, sections 2.4, 4.5).
 */
#ifndef SP__DEV_RAID_H
#define SP__DEV_RAID_H

#include <stdbool.h>
#include <stdint.h>
#include "dev/model.h"

#define SP__RAID_DRIVES_MAX 64

enum sp__raid_level { SP__RAID_NONE, SP__RAID_LINEAR, SP__RAID_0, SP__RAID_10 };

struct sp__raid_spec {
	int level;	       /* enum sp__raid_level */
	unsigned drives;       /* 1 to SP__RAID_DRIVES_MAX; raid10: even */
	uint64_t stripe_bytes; /* 0: a track */
};

/* What the text is, to complete a message. */
extern const char sp__raid_form[];
/* False: it is none of these; *spec is unchanged. */
SP_MUST_CHECK bool sp__raid_parse(struct sp__raid_spec *spec, const char *text);
/*
 * Makes *m, the model of a drive with one lane, that of an array, which owns it.
 * SP_ESYNTAX with the reason if that is impossible, or -ENOMEM: *m is as before.
 */
SP_MUST_CHECK int sp__raid_make(struct sp__model **m, const struct sp__raid_spec *spec,
				struct sp_errinfo *err);
/*
 * The drive of which an array is made, how many transfer side by side, and whether their tracks
 * are the stripes; NULL: no array.
 */
const struct sp__model *sp__raid_drive(const struct sp__model *m, unsigned *stripe_drives,
				       bool *tracks);

#endif
