/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of libaio.
 */
#include <libaio.h>
#include "stubs/stubs.h"

#define LIST(S, S_FREE, S_OPTIONAL)                                                                \
	S(int, io_setup, (int max, io_context_t *context), (max, context))                         \
	S(int, io_destroy, (io_context_t context), (context))                                      \
	S(int, io_submit, (io_context_t context, long n, struct iocb *blocks[]),                   \
	  (context, n, blocks))                                                                    \
	S(int, io_getevents,                                                                       \
	  (io_context_t context, long min, long n, struct io_event *events,                        \
	   struct timespec *timeout),                                                              \
	  (context, min, n, events, timeout))

SP__STUBS(aio, "libaio1 (Debian) or libaio (Fedora)", LIST);
