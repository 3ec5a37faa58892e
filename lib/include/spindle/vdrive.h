/* SPDX-License-Identifier: MIT */
/*
 * A virtual drive: a device model behind an I/O scheduler, which says when
 * each request completes.  It moves no data; whoever emulates a drive keeps
 * the data and lets virtual time come as fast as it likes (vdisk(1) maps it to
 * real time).
 *
 * Times are virtual nanoseconds since the drive was opened; at time 0 the
 * platter is at angle 0.  Nothing is decided for a moment that the caller has
 * not let come, so a request can be submitted at any time that is not past.
 * The same calls give the same times on every machine.
 *
 * Hosts split large requests.  A read or write of 64 KB or more that continues
 * what was submitted less than 100 us before and is still outstanding (behind
 * or before it, one of the two so large) is taken to be a piece of the same
 * request: it has no overhead of its own, and both are merged.
 *
 * Thread rule: one thread at a time for each drive.
 */
#ifndef SPINDLE_VDRIVE_H
#define SPINDLE_VDRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>

#define SP_VDRIVE_NEVER UINT64_MAX

struct sp_vdrive;

enum sp_vdrive_op {
	SP_VDRIVE_READ,
	SP_VDRIVE_WRITE,
	/* When all that was submitted before is done and is on the medium. */
	SP_VDRIVE_FLUSH,
};

/*
 * spec: MODEL[,sched=NAME[:PARAMETERS]][,window=N[/fifo|/sptf]][,merge=yes|no]
 * as in --volume sim:..., of which these words belong to a drive.  SP_ESYNTAX
 * with the word that is wrong; -ENOENT with the known models for an unknown
 * one; SP_EFORMAT and -errno for a model file; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_vdrive_open(struct sp_vdrive **v, const char *spec,
					struct sp_errinfo *err);
/* Accepts NULL.  What is outstanding is forgotten. */
SP_API void sp_vdrive_close(struct sp_vdrive *v);

/* Strings live as long as the drive. */
struct sp_vdrive_info {
	const char *model;
	const char *about; /* one line */
	const char *kind;  /* "rotating", "linear", "flash" */
	uint64_t bytes;
	uint32_t block_bytes;
};
SP_API void sp_vdrive_info(const struct sp_vdrive *v, struct sp_vdrive_info *info);

/*
 * Submits at now_ns; a time before what was last let come counts as that.
 * Requests are rounded outward to blocks.  -ERANGE: beyond the end; -EINVAL:
 * no byte, or 2^31 or more (a flush has neither place nor size); -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_vdrive_submit(struct sp_vdrive *v, uint64_t now_ns,
					  enum sp_vdrive_op op, uint64_t offset, uint64_t bytes,
					  void *cookie);
/*
 * The moment of the next thing that happens inside, a completion or a decision
 * before one; SP_VDRIVE_NEVER if nothing will.
 */
SP_API uint64_t sp_vdrive_next_ns(const struct sp_vdrive *v);

struct sp_vdrive_done {
	void *cookie;
	enum sp_vdrive_op op;
	bool hit; /* answered by the drive's cache */
	uint64_t submit_ns, done_ns;
};
/*
 * Lets time come to until_ns.  Returns how many completed requests it has put
 * into done, in order of time, at most max; if there are more,
 * sp_vdrive_next_ns() is not in the future, and the next call has them.
 */
SP_API size_t sp_vdrive_advance(struct sp_vdrive *v, uint64_t until_ns, struct sp_vdrive_done *done,
				size_t max);

struct sp_vdrive_stats {
	uint64_t now_ns;			  /* how far time has come */
	uint64_t reads, writes, flushes;	  /* as submitted */
	uint64_t read_bytes, write_bytes;	  /* the same */
	uint64_t outstanding;			  /* submitted and not handed out */
	uint64_t pieces;			  /* taken to belong to the one before */
	uint64_t merges;			  /* by the scheduler, with pieces */
	uint64_t dispatched;			  /* requests as the device got them */
	uint64_t seeks;				  /* of them: not where the one before ended */
	uint64_t hits;				  /* of them: answered by the drive's cache */
	uint64_t busy_ns;			  /* time with something in service */
	uint64_t seek_ns, rotate_ns, transfer_ns; /* of the mechanics */
	uint64_t completed;			  /* reads and writes */
	uint64_t response_ns,
		longest_response_ns; /* of these, submission to completion: sum, most */
};
SP_API void sp_vdrive_stats(const struct sp_vdrive *v, struct sp_vdrive_stats *stats);

#endif
