/* SPDX-License-Identifier: MIT */
/*
 * The files of vdisk.
 *
 *   options.c   the command line
 *   backing.c   where the bytes are
 *   pace.c      virtual time on the real clock: the thread that answers; how late it was
 *   serve.c     the file system: the thread that reads requests
 *   status.c    the text of MOUNT/status
 *   floor.c     the time from a program to the drive and back
 *   loop.c      the loop device
 *   moved.c     a mount whose folder was renamed
 *
 * Threads: the main one sets up and waits for signals; the reader takes requests from the kernel
 * and moves their bytes; the pacer answers them when they are due.
 */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <spindle/vdrive.h>
#include "msg.h"

#define DISK_NAME "disk"
#define STATUS_NAME "status"

struct fuse_req;
struct fuse_session;

struct options {
	const char *spec, *mount, *backing; /* backing NULL: memory */
	uint64_t size;			    /* bytes; 0: as the model */
	uint64_t dilation;
	uint64_t floor_us;
	bool floor_given; /* otherwise the floor is measured */
	bool size_given, loop;
};

void parse_options(int argc, char **argv, struct options *o);

/*
 * Returns a descriptor of memory or of the file, of this number of bytes.  The file must not be
 * inside the folder to mount on.  Failure ends the program.
 */
int backing_open(const char *path, uint64_t bytes, const char *folder);
/* Reads or writes a range; holes read as zeros.  Returns 0 or -errno. */
int backing_read(int fd, char *buf, size_t bytes, uint64_t offset);
int backing_write(int fd, const char *buf, size_t bytes, uint64_t offset);

/*
 * Counts late answers by size, in classes of 1/16 of a power of two; a quantile is at most 6 % too
 * large.
 */
#define LATENESS_CLASSES 1024
struct lateness {
	uint64_t n, max_ns;
	uint64_t count[LATENESS_CLASSES];
};
void lateness_add(struct lateness *l, uint64_t ns);
uint64_t lateness_quantile(const struct lateness *l, double share);

/* A request of the kernel, answered by the pacer. */
struct job {
	struct fuse_req *req;
	enum sp_vdrive_op op;
	size_t bytes;
	char *data; /* owned; of a read */
};

/*
 * Virtual time 0 is begin_ns of the monotonic clock; a virtual nanosecond takes `dilation` real
 * ones.  The lock protects all members except those marked constant.
 */
struct pace {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct sp_vdrive *drive;
	const char *spec; /* constant */
	uint64_t dilation;
	uint64_t begin_ns;
	uint64_t floor_ns; /* subtracted from the time of arrival */
	bool stop;
	atomic_uint submissions; /* ends the polling */
	struct lateness late;
	uint64_t last_service_ns; /* virtual time of the last answered request */
};
void pace_start(struct pace *p, const char *spec, uint64_t dilation);
void pace_stop(struct pace *p); /* outstanding requests are not answered */
/* Restarts when nothing is outstanding: time 0 is now, and counters are 0. */
void pace_restart(struct pace *p, uint64_t dilation, uint64_t floor_ns);
/*
 * Takes over the job; arrived_ns: monotonic clock.  Returns 0 or -errno (the caller keeps the job).
 */
int pace_submit(struct pace *p, const struct job *job, uint64_t offset, uint64_t arrived_ns);
uint64_t clock_now_ns(void);

struct opened;

struct server {
	struct pace pace;
	const struct options *options;
	struct fuse_session *session;
	pthread_t thread, main;
	uint64_t bytes;
	int backing;
	int stop_fd;	       /* an event ends the reader */
	int folder;	       /* the folder under the mount */
	struct opened *opened; /* files that are open; used by the reader */
	/* Set while the file system is being served. */
	const char *_Atomic loop;  /* name of the loop device; NULL: none */
	_Atomic uint64_t floor_ns; /* measured or given */
	atomic_int opens;	   /* number of times that the disk is open */
	atomic_bool over;	   /* unmounted */
};

/* Sent to the main thread when the session has ended, or the disk is no longer open. */
#define SIGNAL_CHANGE SIGUSR1

/* Mounts; options->mount is absolute.  Failure ends the program. */
void serve_start(struct server *s);
/* Unmounts; outstanding requests fail.  Returns 0, or -1 after a message. */
int serve_stop(struct server *s);
/*
 * Unmounts from the folder, an O_PATH descriptor, by its present name.  Returns 0, or -1 after a
 * message.
 */
int unmount_moved(int folder);
/* Finds the present name of an open file or folder.  False: it has none. */
bool name_of(int fd, char name[PATH_MAX]);

/* Returns the text, for free(); NULL: out of memory. */
char *status_text(struct server *s);

/* Returns the median time by which reads of the device at path exceed the model. */
uint64_t floor_measure(struct server *s, const char *path);

/* Attaches the file; *name is static.  Returns a descriptor that keeps the device attached. */
int loop_attach(const char *path, uint32_t block_bytes, bool rotating, const char **name);
