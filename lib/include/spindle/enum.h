/* SPDX-License-Identifier: MIT */
/*
 * Names of enum values: in options, in reports, in messages.
 *
 * SP_ENUM(sp_x) in a header declares, for the values of one option or enum,
 *
 *	sp_x_values()		the table, which is constant;
 *	sp_x_name(value)	the name, or NULL for a value without one;
 *	sp_x_parse(text, &value) the reverse, as sp_enum_parse().
 *
 * All of it is thread-safe.
 */
#ifndef SPINDLE_ENUM_H
#define SPINDLE_ENUM_H

#include <stddef.h>
#include <spindle/api.h>

/* A table ends with a NULL.  Of neighbours with one value the first is the name. */
struct sp_enum_value {
	const char *name;
	int value;
};

/* Returns the name of value, or NULL. */
SP_API const char *sp_enum_name(const struct sp_enum_value *values, int value);

/*
 * Finds the value of a name, which may be abbreviated while it is unique.  Returns 0, -EINVAL
 * (no such name) or -ENOTUNIQ (ambiguous); *value is written on success alone.
 */
SP_API SP_MUST_CHECK int sp_enum_parse(const struct sp_enum_value *values, const char *text,
				       int *value);

#define SP_ENUM(name)                                                                              \
	SP_API const struct sp_enum_value *name##_values(void);                                    \
	static inline const char *name##_name(int value)                                           \
	{                                                                                          \
		return sp_enum_name(name##_values(), value);                                       \
	}                                                                                          \
	static inline SP_MUST_CHECK int name##_parse(const char *text, int *value)                 \
	{                                                                                          \
		return sp_enum_parse(name##_values(), text, value);                                \
	}

SP_ENUM(sp_engine) /* I/O engines; the values number them, in no particular way */
SP_ENUM(sp_direct) /* direct I/O: auto (-1), never (0), always (1) */

#endif
