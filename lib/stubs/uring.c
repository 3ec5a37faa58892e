/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of liburing.
 */
#include <liburing.h>
#include "stubs/stubs.h"

#define LIST(S, S_FREE, S_OPTIONAL)                                                                \
	S(int, io_uring_queue_init_params,                                                         \
	  (unsigned entries, struct io_uring *ring, struct io_uring_params *p),                    \
	  (entries, ring, p))                                                                      \
	S(void, io_uring_queue_exit, (struct io_uring * ring), (ring))                             \
	S(struct io_uring_probe *, io_uring_get_probe_ring, (struct io_uring * ring), (ring))      \
	S(void, io_uring_free_probe, (struct io_uring_probe * probe), (probe))                     \
	S(int, io_uring_submit, (struct io_uring * ring), (ring))                                  \
	S(int, io_uring_submit_and_wait, (struct io_uring * ring, unsigned n), (ring, n))          \
	S(int, io_uring_submit_and_wait_timeout,                                                   \
	  (struct io_uring * ring, struct io_uring_cqe * *cqe, unsigned n,                         \
	   struct __kernel_timespec *timeout, sigset_t *mask),                                     \
	  (ring, cqe, n, timeout, mask))                                                           \
	S(int, io_uring_submit_and_get_events, (struct io_uring * ring), (ring))                   \
	S(int, io_uring_get_events, (struct io_uring * ring), (ring))                              \
	S(int, io_uring_register_buffers,                                                          \
	  (struct io_uring * ring, const struct iovec *v, unsigned n), (ring, v, n))               \
	S(int, io_uring_register_files, (struct io_uring * ring, const int *fds, unsigned n),      \
	  (ring, fds, n))                                                                          \
	S(int, io_uring_register_eventfd, (struct io_uring * ring, int fd), (ring, fd))            \
	S(int, __io_uring_get_cqe,                                                                 \
	  (struct io_uring * ring, struct io_uring_cqe * *cqe, unsigned submit, unsigned n,        \
	   sigset_t *mask),                                                                        \
	  (ring, cqe, submit, n, mask))

SP__STUBS(uring, "liburing2 (Debian) or liburing (Fedora)", LIST);
