/* SPDX-License-Identifier: MIT */
/*
 * The version of the library and of all its tools.  The Makefile, the pkg-config file and the man
 * pages read it from here.  It declares no function: see sp_version() of spindle/call.h.
 */
#ifndef SPINDLE_VERSION_H
#define SPINDLE_VERSION_H

#define SP_VERSION "0.1.0"

#endif
