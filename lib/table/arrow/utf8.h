/* SPDX-License-Identifier: MIT */
/* Checks texts of Arrow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True if all of the text is valid UTF-8. */
bool sp__is_utf8(const char *text, size_t n);
