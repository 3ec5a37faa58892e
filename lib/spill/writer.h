/* SPDX-License-Identifier: MIT */
/*
 * Writes one run: records are put in order, pages are written asynchronously.
 *
 * The memory is divided into chunks of whole pages.  Records are copied into the current chunk; a
 * full one is sent while the next one fills (writer.c).
 */
#pragma once

#include <string.h>
#include <sys/types.h>
#include "base/few.h"
#include "base/minmax.h"
#include "base/task.h"
#include "spill/store.h"

/*
 * Writes and reads runs through a compression program (--compress-program).
 *
 * Such a run is one unnamed temporary file.  PROG writes it from a pipe that the library fills;
 * PROG -d reads it into a pipe that the library empties.  It can only be read from beginning to
 * end, so there is no read-ahead and no recycling, and PROG defines the format of the file.  But
 * the pages of the run are described as if they were stored raw, and verified when read back.  So a
 * program that loses data is detected.
 *
 * Between writing and reading a run takes one descriptor and no process.  While it is read, it
 * takes a process and still one descriptor, since the process has the file then.  All descriptors
 * are close-on-exec: a process that inherited another's pipe would keep it from ending.
 */

/*
 * A compression program that runs as a child process: PROG packs its standard input to its standard
 * output, PROG -d unpacks, as for sort --compress-program.  The child gets two descriptors as 0 and
 * 1 and inherits standard error (base/child.h).
 */
struct sp__filter {
	pid_t pid;	     /* 0: not running */
	const char *program; /* borrowed */
	bool unpack;
};

/*
 * Starts program, found along PATH.  The caller keeps both descriptors and closes them.  Returns 0;
 * or -errno with the program in err->path if it could not be executed (no child is left).
 */
SP_MUST_CHECK int sp__filter_start(struct sp__filter *filter, const char *program, bool unpack,
				   int in_fd, int out_fd, struct sp_errinfo *err);
/*
 * Waits until the child ends, and leaves no zombie.  Returns 0, immediately if it is not running;
 * SP_ECHILD if it exited with a status other than 0 or died by a signal (err->path: the program;
 * err->text: the rest of GNU sort's message).
 */
SP_MUST_CHECK int sp__filter_wait(struct sp__filter *filter, struct sp_errinfo *err);
/* Ends the child (SIGTERM) and reaps it, ignoring its status; for cleaning up. */
void sp__filter_stop(struct sp__filter *filter);

/* The writing side: a running PROG; zero: none. */
struct sp__packer {
	struct sp__filter child;
	int fd;		 /* PROG's input; valid while it runs */
	const char *dir; /* not NULL: PROG could not be run; fd is the run's file */
};

/*
 * Creates the run's file in dir and starts the store's program.  If that cannot be run, the run is
 * written uncompressed, and the store keeps the error.
 */
SP_MUST_CHECK int sp__packer_open(struct sp__packer *p, struct sp__spill *spill,
				  struct sp__run *run, const char *dir);
/* Writes bytes to PROG.  If PROG closes the pipe early, PROG has failed. */
SP_MUST_CHECK int sp__packer_write(struct sp__packer *p, struct sp__spill *spill, const void *data,
				   size_t bytes);
/* Ends the run.  Returns 0 if PROG has ended successfully. */
SP_MUST_CHECK int sp__packer_finish(struct sp__packer *p, struct sp__spill *spill,
				    const struct sp__run *run);
/* Ends PROG if it is still running. */
void sp__packer_close(struct sp__packer *p);

/* The reading side: all runs of one merge. */
struct sp__unpackers;

/* Opens the runs of a merge; mem: one page per run.  They can be read only once, by one reader. */
SP_MUST_CHECK int sp__unpackers_open(struct sp__unpackers **u, struct sp__spill *spill,
				     struct sp__run *const *runs, unsigned n, void *mem);
/*
 * Returns the run's next page: SP_READY with its payload, valid until the next call for that run;
 * SP_END, after PROG -d has ended successfully; or an error.  Waits for the program.
 */
SP_MUST_CHECK int sp__unpackers_get(struct sp__unpackers *u, size_t run, const char **data,
				    size_t *bytes);
/* Ends running programs, ignoring their status; accepts NULL. */
void sp__unpackers_close(struct sp__unpackers *u);

#define SP__WRITER_CHUNKS 3
#define SP__WRITER_PACKED_CHUNKS 2

struct sp__codec;
struct sp__chunk;

/* Finds the last key of a record, as bytes.  Returns 0 or an error. */
typedef int sp__lastkey_fn(void *ctx, const char *rec, size_t bytes, const void **key,
			   size_t *key_bytes);

struct sp__runwriter {
	struct sp__spill *spill;
	struct sp__run *run;
	struct sp__chunk *chunks;
	unsigned nchunks, now;
	char *at;	/* position of the next byte */
	char *page_end; /* end of the page that at is in */
	char *chunk_end;
	const char *prev; /* the record put before; its owner keeps it until the next put */
	size_t prev_bytes;
	bool prev_here;		 /* it ended in the current page */
	sp__lastkey_fn *lastkey; /* NULL: no last keys */
	void *lastkey_ctx;
	uint64_t records;
	uint64_t described; /* records that ended in earlier pages */
	struct sp__codec *codec;
	struct sp__task packing;
	struct sp__chunk *packed; /* packed or being packed, and not yet submitted */
	struct sp__packer packer; /* the store's program, if it has one */
	bool ended;
	int error;
	struct sp__io_owner owner;
};

/* Opens a writer.  mem: memory for the chunks, whole pages: at least one, under compression two. */
int sp__runwriter_open(struct sp__runwriter *w, struct sp__spill *spill, struct sp__run *run,
		       void *mem, size_t mem_bytes, sp__lastkey_fn *lastkey, void *ctx);
/* Returns the number of pages of a chunk. */
size_t sp__runwriter_chunk(const struct sp__runwriter *w);
/* Appends bytes without data, to a hollow store.  Returns 0 or an error. */
int sp__runwriter_skip(struct sp__runwriter *w, uint64_t bytes);
int sp__runwriter_put_slow(struct sp__runwriter *w, const char *rec, size_t bytes);
/*
 * Submits the rest without waiting; nothing more can be put.  End all of several writers before
 * finishing the first.
 */
int sp__runwriter_end(struct sp__runwriter *w);
/* Ends the run if necessary, and waits for all its writes. */
int sp__runwriter_finish(struct sp__runwriter *w);
/* Frees the writer; the run is kept as far as it was written. */
void sp__runwriter_close(struct sp__runwriter *w);

/*
 * Appends a record, terminator included.  reach: the bytes that can be read from rec on.  rec must
 * stay unchanged until the next put or finish returns.  Returns 0 or an error.
 */
static inline int sp__runwriter_put_near(struct sp__runwriter *w, const char *rec, size_t bytes,
					 size_t reach)
{
	size_t room = (size_t)(w->page_end - w->at);

	if (__builtin_expect(bytes >= room, 0))
		return sp__runwriter_put_slow(w, rec, bytes);
	sp__copy_near(w->at, rec, bytes, sp__min(reach, room));
	w->at += bytes;
	w->records++;
	w->prev = rec;
	w->prev_bytes = bytes;
	w->prev_here = true;
	return 0;
}

/* Appends a record of which no further bytes can be read. */
static inline int sp__runwriter_put(struct sp__runwriter *w, const char *rec, size_t bytes)
{
	return sp__runwriter_put_near(w, rec, bytes, bytes);
}

/* Appends bytes in which the given number of records begin; the last can be incomplete. */
static inline int sp__runwriter_put_part(struct sp__runwriter *w, const char *data, size_t bytes,
					 unsigned records)
{
	int rc = sp__runwriter_put(w, data, bytes);

	w->records += records;
	w->records--;
	return rc;
}
