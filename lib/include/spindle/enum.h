/* SPDX-License-Identifier: MIT */
/*
 * Names of enum values, as options, reports and messages use them.
 *
 * SP_ENUM(sp_x) in a header declares three functions for the values of one option or enum:
 *
 *	sp_x_values()		  returns the constant table;
 *	sp_x_name(value)	  returns the name, or NULL if the value has no name;
 *	sp_x_parse(text, &value)  finds the value of a name: see sp_enum_parse().
 *
 * Thread rule: any thread.
 */
#ifndef SPINDLE_ENUM_H
#define SPINDLE_ENUM_H

#include <spindle/api.h>

/*
 * A row of a table.  A table ends with a NULL name.  If adjacent rows have the same value, the
 * first has its name, the others are synonyms.
 */
struct sp_enum_value {
	const char *name;
	int value;
};

/*
 * Returns the name of a value, or NULL if the table does not have the value.  The table owns the
 * name.
 */
SP_API const char *sp_enum_name(const struct sp_enum_value *values, int value);

/*
 * Finds the value of a name, which may be abbreviated to a unique beginning.
 * value: written on success only.
 * Returns 0; -EINVAL if no name begins with the text; -ENOTUNIQ if the text is the beginning of
 * names with different values.
 */
SP_API SP_MUST_CHECK int sp_enum_parse(const struct sp_enum_value *values, const char *text,
				       int *value);

/*
 * Returns the name that is nearest to a misspelt one, for a message; NULL if more than a third of
 * the text differs from each name.  The table owns the name.
 */
SP_API const char *sp_enum_nearest(const struct sp_enum_value *values, const char *text);

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

SP_ENUM(sp_engine) /* I/O engines; the values only distinguish them */
SP_ENUM(sp_direct) /* use of direct I/O: auto (-1), never (0), always (1) */

#endif
