/* SPDX-License-Identifier: MIT */
/*
 * vdisk: mounts a simulated drive as a file, and optionally a loop device.
 */
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "vdisk/vdisk.h"

#define SETTLE_NS 300000000 /* limit for the release of a loop device */

static struct server server;
static bool mounted;

/* Unmounts everything, however the program ends.  Returns 0, or -1 after a message. */
static int finish(void)
{
	bool was = mounted;

	mounted = false;
	return was ? serve_stop(&server) : 0;
}

static void clean_up(void)
{
	(void)finish();
}

/* Returns the path of the folder, which must be empty and not a mount; the caller frees. */
static char *check_folder(const char *path)
{
	char *real = realpath(path, NULL);
	DIR *dir = real ? opendir(real) : NULL;
	struct stat here, above;
	struct dirent *e;
	char *up;

	if (!dir || stat(real, &here) < 0)
		die_sys(errno, "%s", quote_file(path));
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			break;
	closedir(dir);
	if (!e)
		return real;
	if (asprintf(&up, "%s/..", real) < 0)
		die("memory exhausted");
	die_sys(stat(up, &above) == 0 && above.st_dev != here.st_dev ? EBUSY : ENOTEMPTY, "%s",
		quote_file(path));
}

static uint64_t disk_bytes(const struct options *o, const struct sp_vdrive_info *info)
{
	if (!o->size)
		return info->bytes;
	if (o->size > info->bytes)
		die("--size: the drive has only %" PRIu64 " bytes", info->bytes);
	if (o->size % info->block_bytes)
		die("--size: not a multiple of the drive's blocks of %" PRIu32 " bytes",
		    info->block_bytes);
	return o->size;
}

/* Blocks signals; only the main thread waits for them. */
static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGNAL_CHANGE);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	/* if the file size limit is exceeded, the error names the backing file */
	signal(SIGXFSZ, SIG_IGN);
}

/* Waits until the disk is unmounted, or a signal has come and the disk is not in use. */
static void wait_for_end(struct server *s, const sigset_t *set, const char *name, int loop)
{
	const struct timespec settle = { .tv_nsec = SETTLE_NS };
	bool ending = false;
	sigset_t change;

	sigemptyset(&change);
	sigaddset(&change, SIGNAL_CHANGE);
	for (;;) {
		int sig = sigwaitinfo(set, NULL);

		if (s->over || (sig != SIGNAL_CHANGE && sig > 0 && ending))
			return;
		if (sig != SIGNAL_CHANGE && sig > 0) {
			ending = true;
			if (loop >= 0)
				close(loop);
			if (s->opens > 0)
				sigtimedwait(&change, NULL, &settle);
			if (s->opens > 0)
				msg("%s is in use; waiting for its end, or for a second signal",
				    quote_file(name));
		}
		if (ending && s->opens == 0)
			return;
	}
}

/* Prints the name: for a script unquoted, for a terminal quoted for a shell. */
static void announce(const char *name)
{
	if (printf("%s\n", isatty(STDOUT_FILENO) ? quote_file(name) : name) < 0 ||
	    fflush(stdout) != 0)
		die_sys(errno, "write error");
}

static void run(struct server *s, const struct options *o, const sigset_t *set)
{
	const char *name;
	struct sp_vdrive_info info;
	char *disk;
	int loop = -1;

	if (asprintf(&disk, "%s/" DISK_NAME, o->mount) < 0)
		die("memory exhausted");
	name = disk;
	if (o->loop) {
		sp_vdrive_info(s->pace.drive, &info);
		loop = loop_attach(disk, info.block_bytes, !strcmp(info.kind, "rotating"), &name);
		s->loop = name;
	}
	s->floor_ns = o->floor_given ? o->floor_us * 1000 : floor_measure(s, name);
	pace_restart(&s->pace, o->dilation, s->floor_ns);
	announce(name);
	wait_for_end(s, set, name, loop);
	free(disk);
}

int main(int argc, char **argv)
{
	struct sp_vdrive_info info;
	struct options o;
	sigset_t set;
	char *folder;
	int status;

	msg_init(argv);
	stdio_guard();
	parse_options(argc, argv, &o);
	o.mount = folder = check_folder(o.mount);
	server.options = &o;
	block_signals(&set);
	pace_start(&server.pace, o.spec, 1);
	sp_vdrive_info(server.pace.drive, &info);
	server.bytes = disk_bytes(&o, &info);
	server.backing = backing_open(o.backing, server.bytes, folder);
	serve_start(&server);
	mounted = true;
	atexit(clean_up);
	run(&server, &o, &set);
	status = finish() < 0 ? 2 : 0;
	free(folder);
	return status;
}
