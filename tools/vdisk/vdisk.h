/* SPDX-License-Identifier: MIT */
/*
 * The parts of vdisk.
 *
 *   options.c   the command line
 *   backing.c   where the bytes are
 *   pace.c      virtual time on the real clock: the thread that answers
 *   lateness.c  by how much answers were late
 *   serve.c     the file system: the thread that reads requests
 *   status.c    the text of MOUNT/status
 *   floor.c     what the way from program to drive and back takes
 *   loop.c      the loop device
 *
 * Three threads: the main one sets up and waits for signals, the reader takes
 * requests from the kernel and moves their bytes, the pacer answers them when
 * their time has come.
 */
#ifndef VDISK_H
#define VDISK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/vdrive.h>

#define DISK_NAME "disk"
#define STATUS_NAME "status"

struct fuse_req;
struct fuse_session;

struct options {
	const char *spec, *mount, *backing; /* backing NULL: memory */
	uint64_t size;			    /* bytes; 0: of the model */
	uint64_t dilation;
	uint64_t floor_us;
	bool floor_given; /* otherwise it is measured */
	bool size_given, loop;
};

void parse_options(int argc, char **argv, struct options *o);

/*
 * Memory, or the file, of this many bytes, which does not lie in the folder to mount on.  Ends the
 * program on failure.
 */
int backing_open(const char *path, uint64_t bytes, const char *folder);
/* What part of a range is left before an error: 0 or -errno; holes are zeros. */
int backing_read(int fd, char *buf, size_t bytes, uint64_t offset);
int backing_write(int fd, const char *buf, size_t bytes, uint64_t offset);

/*
 * Counts of late answers by size, in classes of 1/16 of a power of two: a
 * quantile is at most 6 % too large.
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
	char *data; /* of a read; owned */
};

/*
 * Virtual time 0 is begin_ns of the monotonic clock; dilation real nanoseconds
 * make a virtual one.  The lock protects all members except those marked constant.
 */
struct pace {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct sp_vdrive *drive;
	const char *spec; /* constant */
	uint64_t dilation;
	uint64_t begin_ns;
	uint64_t floor_ns; /* taken off the time of arrival */
	bool stop;
	atomic_uint submissions; /* ends the spinning */
	struct lateness late;
	uint64_t last_service_ns; /* virtual: submission to completion of the last answered */
};
void pace_start(struct pace *p, const char *spec, uint64_t dilation);
void pace_stop(struct pace *p); /* what is outstanding is not answered */
/* Begins anew when nothing is outstanding: time 0 is now, nothing has been counted. */
void pace_restart(struct pace *p, uint64_t dilation, uint64_t floor_ns);
/* Takes over the job; arrived_ns: of the monotonic clock. 0 or -errno (the job stays). */
int pace_submit(struct pace *p, const struct job *job, uint64_t offset, uint64_t arrived_ns);
uint64_t clock_now_ns(void);

struct server {
	struct pace pace;
	const struct options *options;
	struct fuse_session *session;
	pthread_t thread, main;
	uint64_t bytes;
	int backing;
	int stop_fd; /* an event ends the reader */
	int folder;  /* below the mount */
	/* Set while the file system is served already. */
	const char *_Atomic loop;  /* name of the device; NULL: none */
	_Atomic uint64_t floor_ns; /* as measured or given */
	atomic_int opens;	   /* of the disk */
	atomic_bool over;	   /* it has been unmounted */
};

/* Sent to the main thread when the session is over, or the disk not open any more. */
#define SIGNAL_CHANGE SIGUSR1

/* Mounts; options->mount is absolute. Ends the program if that cannot be. */
void serve_start(struct server *s);
/* Unmounts. Requests that are outstanding then fail.  0, or -1 after a message. */
int serve_stop(struct server *s);
/* What is still mounted on the folder, an O_PATH descriptor, under its present name: likewise. */
int unmount_moved(int folder);

/* The text, of malloc; NULL: no memory. */
char *status_text(struct server *s);

/* The median time by which reads of the device at path exceed the model. */
uint64_t floor_measure(struct server *s, const char *path);

/* Attaches the file; the name of the device is static. Returns a descriptor that keeps it. */
int loop_attach(const char *path, uint32_t block_bytes, bool rotating, const char **name);

#endif
