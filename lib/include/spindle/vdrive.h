/* SPDX-License-Identifier: MIT */
/*
 * A virtual drive: a device model behind an I/O scheduler, which determines when each request
 * completes.  It moves no data.  The caller stores the data and advances virtual time (vdisk(1)
 * maps it to real time).
 *
 * Times are virtual nanoseconds since the drive was opened; at time 0 the platter is at angle 0.
 * The drive decides nothing for a time to which the caller has not advanced, so a request can be
 * submitted at any time that is not past.  The same calls give the same times on every machine.
 *
 * Hosts split large requests.  A read or write of 64 KiB or more is taken as a continuation of an
 * outstanding request if it is adjacent to it (one of the two so large) and was submitted less than
 * 100 us after it.  A continuation has no overhead of its own, and both are merged.
 *
 * Thread rule: one thread at a time uses a drive.
 */
#ifndef SPINDLE_VDRIVE_H
#define SPINDLE_VDRIVE_H

#include <spindle/error.h>

#define SP_VDRIVE_NEVER UINT64_MAX

struct sp_vdrive;

enum sp_vdrive_op {
	SP_VDRIVE_READ,
	SP_VDRIVE_WRITE,
	/* Completes when all previous requests are complete and on the medium. */
	SP_VDRIVE_FLUSH,
};

/*
 * Opens a drive.  Close it with sp_vdrive_close().
 * spec: MODEL[,sched=NAME[:PARAMETERS]][,window=N[/fifo|/sptf]][,merge=yes|no], as in
 * --volume=sim:..., of which these settings belong to a drive.
 * Returns 0 or an error, with *v NULL:
 *   SP_ESYNTAX: a setting is wrong; err->text names it
 *   -ENOENT: the model is unknown; err->text lists the known ones
 *   SP_EFORMAT: the model file is wrong
 *   -errno: the model file could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_vdrive_open(struct sp_vdrive **v, const char *spec,
					struct sp_errinfo *err);

/* Closes a drive and drops its outstanding requests; NULL is accepted. */
SP_API void sp_vdrive_close(struct sp_vdrive *v);

/* Facts about a drive, which owns the texts. */
struct sp_vdrive_info {
	const char *model;
	const char *about; /* one line */
	const char *kind;  /* "rotating", "linear", "flash", "mems" */
	uint64_t bytes;
	uint32_t block_bytes;
};

/* Fills in the facts about a drive.  Texts are valid while the drive lives. */
SP_API void sp_vdrive_info(const struct sp_vdrive *v, struct sp_vdrive_info *info);

/*
 * Submits a request at now_ns, or at the time to which the drive has advanced if that is later.
 * Requests are rounded outward to blocks.
 * offset, bytes: ignored for a flush.
 * cookie: returned with the completion.
 * Returns 0; -ERANGE if the request exceeds the end of the drive; -EINVAL if it has 0 bytes, or
 * 2^31 or more; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_vdrive_submit(struct sp_vdrive *v, uint64_t now_ns,
					  enum sp_vdrive_op op, uint64_t offset, uint64_t bytes,
					  void *cookie);

/*
 * Returns the time of the next event of the drive, a completion or a decision before it, or
 * SP_VDRIVE_NEVER.
 */
SP_API uint64_t sp_vdrive_next_ns(const struct sp_vdrive *v);

/* A completion. */
struct sp_vdrive_done {
	void *cookie;
	enum sp_vdrive_op op;
	bool hit; /* answered by the drive's cache */
	uint64_t submit_ns, done_ns;
};

/*
 * Advances virtual time to until_ns and collects completions in order of time.  If more than max
 * requests have completed, sp_vdrive_next_ns() is not in the future, and the next call returns the
 * others.  Completions of one time are returned before the drive decides anything at that time, so
 * a request submitted then can still be chosen.
 * done: array of the caller of max elements.
 * Returns the number of elements in done.
 */
SP_API size_t sp_vdrive_advance(struct sp_vdrive *v, uint64_t until_ns, struct sp_vdrive_done *done,
				size_t max);

/* Counters since the drive was opened. */
struct sp_vdrive_stats {
	uint64_t now_ns;			  /* time to which the drive has advanced */
	uint64_t reads, writes, flushes;	  /* requests submitted */
	uint64_t read_bytes, write_bytes;	  /* bytes submitted */
	uint64_t outstanding;			  /* submitted, and not returned as complete */
	uint64_t continuations;			  /* requests taken as continuations */
	uint64_t merges;			  /* by the scheduler, continuations included */
	uint64_t dispatched;			  /* requests dispatched to the device */
	uint64_t seeks;				  /* dispatched requests not at the previous end */
	uint64_t hits;				  /* dispatched requests answered by the cache */
	uint64_t busy_ns;			  /* time with a request in service */
	uint64_t seek_ns, rotate_ns, transfer_ns; /* times of the mechanics */
	uint64_t completed;			  /* completed reads and writes */
	/* Time from submission to completion of these: sum and maximum. */
	uint64_t response_ns, longest_response_ns;
};

/* Reports the counters of a drive. */
SP_API void sp_vdrive_stats(const struct sp_vdrive *v, struct sp_vdrive_stats *stats);

#endif
