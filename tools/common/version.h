/* SPDX-License-Identifier: MIT */
#pragma once

/* Prints the version and the features of the library, and ends the program. */
_Noreturn void version_print(void);
