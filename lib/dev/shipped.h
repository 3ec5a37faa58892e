/* SPDX-License-Identifier: MIT */
/*
 * Declares the models that are part of the library, in the order of their names, except that the
 * default comes first.  An entry without a name ends the table.  The build makes the table from
 * lib/dev/models (scripts/embed-models).
 */
#pragma once

struct sp__shipped {
	const char *name;
	const char *about;
	const char *text; /* the file */
};

extern const struct sp__shipped sp__shipped_models[];
