/* SPDX-License-Identifier: MIT */
/*
 * Attaches the loop device, with direct I/O, so requests arrive unchanged.
 *
 * It is detached when its last descriptor is closed, ours or that of a mount, also if this program
 * is killed.
 */
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "vdisk.h"

#define ATTEMPTS 16 /* another process can take a free device first */

/* Sets a property that the system reports; errors do not matter. */
static void set_rotational(int number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/block/loop%d/queue/rotational", number);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1", 1) < 0)
		msg_sys(errno, "%s", path);
	close(fd);
}

static int attach_free(int control, const struct loop_config *config, int *number, char *name,
		       size_t bytes)
{
	int fd, saved;

	*number = ioctl(control, LOOP_CTL_GET_FREE);
	if (*number < 0)
		die_sys(errno, "no free loop device");
	snprintf(name, bytes, "/dev/loop%d", *number);
	fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die_sys(errno, "%s", name);
	if (ioctl(fd, LOOP_CONFIGURE, config) == 0)
		return fd;
	saved = errno;
	close(fd);
	if (saved != EBUSY)
		die_sys(saved, "%s", name);
	return -1;
}

int loop_attach(const char *path, uint32_t block_bytes, bool rotating, const char **name)
{
	static char device[32];
	struct loop_config config = { .block_size = block_bytes };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), fd = -1, number;

	if (control < 0)
		die_sys(errno, "/dev/loop-control");
	config.fd = (uint32_t)open(path, O_RDWR | O_CLOEXEC);
	if ((int)config.fd < 0)
		die_sys(errno, "%s", quote_file(path));
	config.info.lo_flags = LO_FLAGS_DIRECT_IO | LO_FLAGS_AUTOCLEAR;
	snprintf((char *)config.info.lo_file_name, sizeof(config.info.lo_file_name), "%s", path);
	for (int i = 0; fd < 0 && i < ATTEMPTS; i++)
		fd = attach_free(control, &config, &number, device, sizeof(device));
	if (fd < 0)
		die_sys(EBUSY, "%s", device);
	close((int)config.fd);
	close(control);
	if (rotating)
		set_rotational(number);
	*name = device;
	return fd;
}
