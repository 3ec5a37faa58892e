/* SPDX-License-Identifier: MIT */
#ifndef SIGNALS_H
#define SIGNALS_H

/* No incomplete output survives a signal, or exit(), from now on. */
void signals_catch(void);

#endif
