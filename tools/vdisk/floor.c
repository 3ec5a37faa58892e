/* SPDX-License-Identifier: MIT */
/*
 * Measures the floor: the time that a request takes from the program to the drive and back, without
 * the drive's own time.
 *
 * It is measured by reads of the drive itself, as programs will use it, since a processor that has
 * slept for milliseconds wakes up slower than one that has not.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "vdisk.h"

#define READS 64
#define READS_MIN 8
#define READ_BYTES 4096
#define TIME_NS 1000000000 /* limit for the reads after READS_MIN */

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t last_service(struct pace *p)
{
	uint64_t ns;

	pthread_mutex_lock(&p->lock);
	ns = p->last_service_ns;
	pthread_mutex_unlock(&p->lock);
	return ns;
}

uint64_t floor_measure(struct server *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	uint64_t places = s->bytes / READ_BYTES, begin = clock_now_ns(), t;
	int64_t over[READS];
	unsigned n = 0;
	void *buf;

	if (fd < 0)
		die_sys(errno, "%s", quote_file(path));
	if (posix_memalign(&buf, READ_BYTES, READ_BYTES) != 0)
		die("memory exhausted");
	while (places && n < READS && (n < READS_MIN || clock_now_ns() - begin < TIME_NS)) {
		/* far apart, so the drive's cache holds none of them */
		uint64_t place = n * UINT64_C(0x9e3779b97f4a7c15) % places;

		t = clock_now_ns();
		if (pread(fd, buf, READ_BYTES, (off_t)(place * READ_BYTES)) < 0)
			die_sys(errno, "%s", quote_file(path));
		over[n++] = (int64_t)(clock_now_ns() - t) - (int64_t)last_service(&s->pace);
	}
	free(buf);
	close(fd);
	qsort(over, n, sizeof(*over), by_size);
	return n && over[n / 2] > 0 ? (uint64_t)over[n / 2] : 0;
}
