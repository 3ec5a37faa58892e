/* SPDX-License-Identifier: MIT */
/*
 * Defines the table that SP_ENUM(sp_x) declares: SP__ENUM_TABLE(sp_x, { "name", VALUE }, ...).
 */
#pragma once

#include <spindle/enum.h>

#define SP__ENUM_TABLE(name, ...)                                                                  \
	const struct sp_enum_value *name##_values(void)                                            \
	{                                                                                          \
		static const struct sp_enum_value values[] = { __VA_ARGS__, { NULL, 0 } };         \
                                                                                                   \
		return values;                                                                     \
	}
