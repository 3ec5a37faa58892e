/* SPDX-License-Identifier: MIT */
/*
 * Defines a volume, to which requests are addressed: a regular file or a block device, opened once,
 * with its properties that matter to I/O.
 *
 * A simulated volume is a regular file too, which holds the bytes.  A simulated device, a volume
 * without bytes, decides in virtual time when its requests complete.  Users of a volume or a device
 * see no more of the machine than this (sim/machine.h).
 *
 * Thread rule: immutable after opening, except size_bytes, which its owner maintains.
 */
#pragma once

#include <sys/types.h>
#include <spindle/error.h>
#include "sim/fwd.h"

struct sp__machine;
struct sp__trace;

enum sp__direct { SP__DIRECT_AUTO, SP__DIRECT_NEVER, SP__DIRECT_ALWAYS };

/* Converts the option of a sort or a join: negative, 0, positive. */
static inline enum sp__direct sp__direct_of(int direct)
{
	return direct < 0 ? SP__DIRECT_AUTO : direct ? SP__DIRECT_ALWAYS : SP__DIRECT_NEVER;
}

struct sp__volume {
	int fd;			     /* -1: a simulated device, or without bytes */
	bool owned;		     /* close fd, or the machine, with the volume */
	bool regular;		     /* a regular file (else a block device) */
	bool direct;		     /* fd has O_DIRECT: offset, length, address aligned */
	bool hollow;		     /* simulated: requests take time, and move no bytes */
	uint32_t align_bytes;	     /* unit of direct requests and of simulated files */
	uint32_t block_bytes;	     /* logical block of a device; 1 for a file */
	uint64_t size_bytes;	     /* at opening */
	char *name;		     /* for messages, and for traces ... */
	char *trace_name;	     /* ... if this is NULL; the volume's */
	struct sp__machine *machine; /* NULL: a real volume */
	unsigned sim_file;	     /* number of its file on the machine; the volume is the ... */
	uint64_t sim_begin;	     /* ... part of the file from this byte on */
};

/*
 * Takes over (owned) or borrows an open descriptor.  On an error it closes a descriptor that it
 * takes over.  SP_EUNSUP: fd is neither a file nor a block device.
 */
SP_MUST_CHECK int sp__volume_adopt(struct sp__volume **v, int fd, bool owned, const char *name,
				   struct sp_errinfo *err);

/*
 * Creates a nameless temporary file in dir (O_TMPFILE, else created and unlinked).
 * SP__DIRECT_AUTO: direct if the file system supports it; _ALWAYS: SP_EUNSUP if it does not.
 */
SP_MUST_CHECK int sp__volume_temp(struct sp__volume **v, const char *dir, enum sp__direct direct,
				  struct sp_errinfo *err);

/*
 * Opens a file of this name in a directory of the user's own, and creates it if it is missing.  The
 * file is kept.  direct: as above, but SP__DIRECT_ALWAYS is AUTO.
 */
struct sp__owndir;
SP_MUST_CHECK int sp__volume_named(struct sp__volume **v, const struct sp__owndir *dir,
				   const char *name, enum sp__direct direct,
				   struct sp_errinfo *err);

/*
 * Opens a whole block device for reading and writing, direct.  -EBUSY: it is in use (mounted, part
 * of another); -ENOTBLK: the path is not a block device.
 */
SP_MUST_CHECK int sp__volume_block(struct sp__volume **v, const char *path, struct sp_errinfo *err);

/* Returns the bytes that the device has, simulated or not; UINT64_MAX for a plain file. */
uint64_t sp__volume_capacity(const struct sp__volume *v);

/* Records a path that could not be opened, like sp__err(); explains "in use" for a device. */
int sp__volume_open_err(struct sp_errinfo *err, int code, const char *path);

/*
 * Creates a simulated device from its specification (sim/machine.h).  It owns the machine, so it is
 * closed after all volumes on it.
 */
SP_MUST_CHECK int sp__volume_device(struct sp__volume **device, const char *spec,
				    struct sp_errinfo *err);
/*
 * Adds a file of this many bytes (0: it grows) to an area of a device.  Returns its number, or
 * -ENOSPC, -ENOMEM.
 */
SP_MUST_CHECK int sp__volume_add_file(const struct sp__volume *device, enum sp__sim_area area,
				      uint64_t bytes);
/* Places the volume, which must not be direct, on the device, as the file of that number. */
void sp__volume_place(struct sp__volume *v, const struct sp__volume *device, unsigned file);
/* Places the volume as a new file; errors as in sp__volume_add_file(), recorded. */
SP_MUST_CHECK int sp__volume_simulate(struct sp__volume *v, const struct sp__volume *device,
				      enum sp__sim_area area, uint64_t bytes,
				      struct sp_errinfo *err);
/*
 * Places the volume as the file that has the whole device, and that all such volumes share.
 * Returns 0; -ENOSPC if another file has space on it; or -ENOMEM, recorded.
 */
SP_MUST_CHECK int sp__volume_cover(struct sp__volume *v, const struct sp__volume *device,
				   struct sp_errinfo *err);
/* Creates a volume without bytes, in a new file of the device; errors as above. */
SP_MUST_CHECK int sp__volume_hollow(struct sp__volume **v, const struct sp__volume *device,
				    enum sp__sim_area area, uint64_t bytes, struct sp_errinfo *err);
/* Finds the block of the device at which a simulated volume begins; 0 for a real one. */
SP_MUST_CHECK int sp__volume_begin_lbn(const struct sp__volume *v, uint64_t *lbn);
/* Frees all space of the volume on a simulated device. */
void sp__volume_discard(const struct sp__volume *v);

/*
 * Returns the simulated time of the volume's device; of a real volume, or NULL: the monotonic
 * clock.
 */
uint64_t sp__volume_now_ns(const struct sp__volume *v);
/* Makes a trace use the times of a simulated device.  Either argument can be NULL. */
void sp__volume_trace(const struct sp__volume *device, struct sp__trace *trace);

/*
 * Opens a second, direct descriptor on the file of fd, for reading (write: for writing), with a
 * file offset of its own.  SP_EUNSUP: impossible (pipes, old tmpfs, no /proc); -EMFILE, -ENFILE.
 */
SP_MUST_CHECK int sp__volume_reopen_direct(struct sp__volume **v, int fd, bool write,
					   const char *name);

/* Space reserved beyond the end of a file that grows, so that it is contiguous. */
struct sp__reserved {
	uint64_t to;	       /* offset up to which space is reserved */
	uint64_t expected_end; /* expected end of the file; UINT64_MAX: unknown */
	bool refused;	       /* none can be reserved */
};
/* Reserves space up to an offset, or further.  A refusal is no error: a write succeeds or fails. */
void sp__file_reserve(int fd, struct sp__reserved *r, uint64_t end);

/*
 * True if the limit on open files is so low that a second descriptor or a ring, which only improve
 * speed, should not be opened.
 */
bool sp__fds_scarce(void);

/* Counts the descriptors that can still be opened, up to enough. */
unsigned sp__fds_free(unsigned enough);

/* Records an error of the volume, like sp__err(); names the device if a simulated one is full. */
int sp__volume_err(struct sp_errinfo *err, const struct sp__volume *v, int code, const char *op,
		   long long offset);

/*
 * True if a sample shows most of the bytes from begin to end in the page cache.  Reads at most one
 * page per sample into it.
 */
bool sp__file_cached(int fd, uint64_t begin, uint64_t end);
/*
 * True if these bytes are best read in order by one thread: most are not in the page cache, and the
 * device turns.
 */
bool sp__file_turns(int fd, uint64_t begin, uint64_t end);
/*
 * True if all of these bytes of a volume that is not direct are in the page cache of the system, or
 * of the simulated machine.
 */
bool sp__volume_cached(const struct sp__volume *v, uint64_t offset, uint64_t bytes);

void sp__volume_close(struct sp__volume *v); /* accepts NULL */
