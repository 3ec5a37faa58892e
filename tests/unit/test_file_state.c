/* SPDX-License-Identifier: MIT */
/*
 * The state of a file: what makes it differ, and its time as one number, before 1970 too.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cells/source.h"
#include "tap.h"

static struct sp__file_state state_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		abort();
	return sp__file_state(&st);
}

static bool set_time(int fd, time_t s, long ns)
{
	const struct timespec t[2] = { { 0, UTIME_OMIT }, { s, ns } };

	return futimens(fd, t) == 0;
}

static bool differs(const struct sp__file_state *from, int fd)
{
	const struct sp__file_state now = state_of(fd);

	return !sp__file_state_same(from, &now);
}

int main(void)
{
	static const int64_t times[] = { 0,	      1,	   -1,	      999999999, 1000000000,
					 -1000000000, -1000000001, INT64_MAX, INT64_MIN };
	int a = memfd_create("a", MFD_CLOEXEC), b = memfd_create("b", MFD_CLOEXEC);
	struct sp__file_state s, now;
	bool right = true;

	if (a < 0 || b < 0 || !set_time(a, 5, 7) || !set_time(b, 5, 7))
		return 2;
	s = state_of(a);
	ok(!differs(&s, a), "a file has the state that it had");
	ok(differs(&s, b), "another one with the same size and time differs");
	ok(s.bytes == 0 && sp__file_state_time(&s) == 5000000007, "size and time are recorded");
	ok(set_time(a, 5, 8) && differs(&s, a), "a nanosecond counts");
	/* The clock of the file system has steps. */
	for (int i = 0; i < 1000 && set_time(a, 5, 7) && !differs(&s, a); i++)
		usleep(1000);
	ok(differs(&s, a), "a change is seen if the time is set back");
	now = state_of(a);
	ok(sp__file_state_moved(&s, &now), "which can come from another mode or name");
	ok(!ftruncate(a, 1) && set_time(a, 5, 7) && differs(&s, a), "and a byte");
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		sp__file_state_set_time(&s, times[i]);
		right &= s.mtime_ns < 1000000000 && sp__file_state_time(&s) == times[i];
	}
	ok(right, "a time before or after 1970 is one number and back");
	return done();
}
