/* SPDX-License-Identifier: MIT */
/*
 * Sets, reads and restores the I/O priority of the calling thread.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "io/ioprio.h"

/* From linux/ioprio.h, which some systems lack. */
#define WHO_PROCESS 1
#define RT_4 (1 << 13 | 4)

int sp__ioprio_set(uint16_t prio)
{
	if (!prio)
		return 0;
	return syscall(SYS_ioprio_set, WHO_PROCESS, 0, (int)prio) < 0 ? -errno : 0;
}

long sp__ioprio_get(void)
{
	return syscall(SYS_ioprio_get, WHO_PROCESS, 0);
}

void sp__ioprio_restore(long before)
{
	/* A priority that was never set still reads as a class; 0 unsets it. */
	if (before >= 0 && syscall(SYS_ioprio_set, WHO_PROCESS, 0, (int)before) < 0)
		(void)!syscall(SYS_ioprio_set, WHO_PROCESS, 0, 0);
}

bool sp__ioprio_rt_allowed(void)
{
	long before = sp__ioprio_get();

	if (before < 0 || sp__ioprio_set(RT_4) < 0)
		return false;
	sp__ioprio_restore(before);
	return true;
}
