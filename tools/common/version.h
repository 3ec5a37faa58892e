/* SPDX-License-Identifier: MIT */
#ifndef VERSION_H
#define VERSION_H

/* Prints the version and the features of the library, and ends the program. */
_Noreturn void version_print(void);

#endif
