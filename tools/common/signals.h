/* SPDX-License-Identifier: MIT */
#ifndef SIGNALS_H
#define SIGNALS_H

/* No temporary file that the library has by name survives a signal from now on. */
void signals_catch(void);

#endif
