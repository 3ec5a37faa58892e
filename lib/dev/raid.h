/* SPDX-License-Identifier: MIT */
/*
 * Declares arrays of equal drives as one device: their specification, and the model made of the
 * model of a drive.
 *
 *	linear:N           one drive after the other
 *	raid0:N[/STRIPE]   stripes of this size, round-robin over the drives
 *	raid10:N[/STRIPE]  stripes over mirrored pairs, whose drives have the same blocks
 *
 * Blocks at the end of the drives that do not fill a stripe are unused.  STRIPE "track": each track
 * of a drive is a stripe, so the array has tracks too (Shao 2008, sections 2.4, 4.5).
 */
#pragma once

#include "dev/model.h"

#define SP__RAID_DRIVES_MAX 64

enum sp__raid_level { SP__RAID_NONE, SP__RAID_LINEAR, SP__RAID_0, SP__RAID_10 };

struct sp__raid_spec {
	int level;	       /* enum sp__raid_level */
	unsigned drives;       /* 1 to SP__RAID_DRIVES_MAX; raid10: even */
	uint64_t stripe_bytes; /* 0: a track */
};

/* Describes the form of the text, to complete a message. */
extern const char sp__raid_form[];
/* Parses a specification.  Returns false, with *spec unchanged, if the text is not one. */
SP_MUST_CHECK bool sp__raid_parse(struct sp__raid_spec *spec, const char *text);
/*
 * Replaces *m, the model of a drive with one lane, by that of an array, which owns it.  Returns 0;
 * SP_ESYNTAX with the reason if that is impossible, or -ENOMEM: *m is unchanged.
 */
SP_MUST_CHECK int sp__raid_make(struct sp__model **m, const struct sp__raid_spec *spec,
				struct sp_errinfo *err);
/*
 * Returns the drive of an array, the number of drives that transfer concurrently, and whether
 * tracks are the stripes; NULL: not an array.
 */
const struct sp__model *sp__raid_drive(const struct sp__model *m, unsigned *stripe_drives,
				       bool *tracks);
