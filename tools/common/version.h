/* SPDX-License-Identifier: MIT */
#ifndef VERSION_H
#define VERSION_H

/* The text of --version. */
void version_print(void);

#endif
