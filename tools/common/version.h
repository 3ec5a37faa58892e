/* SPDX-License-Identifier: MIT */
#ifndef VERSION_H
#define VERSION_H

/* What --version says. */
void version_print(void);

#endif
