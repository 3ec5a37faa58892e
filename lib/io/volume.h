/* SPDX-License-Identifier: MIT */
/*
 * A volume: what requests address.  A regular file or a block device, opened
 * once, with its properties that matter to I/O.
 *
 * A simulated volume is a regular file too, which holds the bytes; a simulated
 * machine (sim/machine.h) decides, in virtual time, when its requests complete.
 *
 * Thread rule: immutable after opening, except size_bytes, which its owner
 * maintains.
 */
#ifndef SP__IO_VOLUME_H
#define SP__IO_VOLUME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include "sim/fwd.h"

enum sp__direct { SP__DIRECT_AUTO, SP__DIRECT_NEVER, SP__DIRECT_ALWAYS };

/* From the option of a sort or a join: negative, 0, positive. */
static inline enum sp__direct sp__direct_of(int direct)
{
	return direct < 0 ? SP__DIRECT_AUTO : direct ? SP__DIRECT_ALWAYS : SP__DIRECT_NEVER;
}

struct sp__volume {
	int fd;
	bool owned;		     /* close fd with the volume */
	bool regular;		     /* a regular file (else a block device) */
	bool direct;		     /* fd has O_DIRECT: offset, length, address aligned */
	uint32_t align_bytes;	     /* what direct requests must be multiples of */
	uint32_t block_bytes;	     /* of a block device: its logical blocks; of a file 1 */
	uint64_t size_bytes;	     /* at opening */
	char *name;		     /* for messages, and for traces ... */
	char *trace_name;	     /* ... if this is NULL; the volume's */
	struct sp__machine *machine; /* NULL: a real volume */
	unsigned sim_file;	     /* its number on the machine */
};

/*
 * Takes over (owned) or borrows an open descriptor; if it fails, fd is still
 * the caller's.  SP_EUNSUP for what is neither file nor block device.
 */
SP_MUST_CHECK int sp__volume_adopt(struct sp__volume **v, int fd, bool owned, const char *name,
				   struct sp_errinfo *err);

/*
 * A nameless temporary file in dir (O_TMPFILE, else created and unlinked).
 * SP__DIRECT_AUTO: direct if the file system can; _ALWAYS: SP_EUNSUP if not.
 */
SP_MUST_CHECK int sp__volume_temp(struct sp__volume **v, const char *dir, enum sp__direct direct,
				  struct sp_errinfo *err);

/*
 * A whole block device for reading and writing, direct; -EBUSY if it is in
 * use (mounted, part of another), -ENOTBLK if it is none.
 */
SP_MUST_CHECK int sp__volume_block(struct sp__volume **v, const char *path, struct sp_errinfo *err);

/* sp__err() for a path that could not be opened; explains "in use" for a device. */
int sp__volume_open_err(struct sp_errinfo *err, int code, const char *path);

/*
 * Places the volume, which must not be direct, on the machine: an existing file
 * of this many bytes, in that area.  -ENOSPC, -ENOMEM.
 */
SP_MUST_CHECK int sp__volume_simulate(struct sp__volume *v, struct sp__machine *machine,
				      enum sp__sim_area area, uint64_t bytes,
				      struct sp_errinfo *err);

/*
 * A second, direct descriptor on the file of fd, opened for reading
 * (write: for writing) with a file offset of its own; SP_EUNSUP where there
 * is no such thing (pipes, tmpfs of old, no /proc), -EMFILE, -ENFILE.
 */
SP_MUST_CHECK int sp__volume_reopen_direct(struct sp__volume **v, int fd, bool write,
					   const char *name, struct sp_errinfo *err);

/*
 * True if the limit on open files is so low that a second descriptor or a
 * ring, which only improve speed, should not be opened.
 */
bool sp__fds_scarce(void);

/* Descriptors that can still be opened, counted up to enough. */
unsigned sp__fds_free(unsigned enough);

/* sp__err() for an error of the volume; names the device if a simulated one is full. */
int sp__volume_err(struct sp_errinfo *err, const struct sp__volume *v, int code, const char *op,
		   long long offset);

void sp__volume_close(struct sp__volume *v); /* accepts NULL */

#endif
