/* SPDX-License-Identifier: MIT */
/*
 * A pool of frames, which hold partial A-pages: the cells of some column groups of consecutive
 * A-pages (spindle/pool.h).
 *
 * In a frame the cells of each column group lie together, A-page by A-page, and column group by
 * column group.  So a column group is read by one request per strip, into its place.
 *
 * A user is an open table.  Users of the same table share its frames and its page schemas.
 *
 *	sp__clotho_begin() for each query, sp__clotho_end()
 *	sp__clotho_pin() until it returns SP_READY, then the cells stay until sp__clotho_unpin()
 *	sp__clotho_invalidate() after a change has been committed
 *
 * Invariants: a frame that is pinned, or for which requests are outstanding, is not reused.  A
 * lookup finds no A-page that a change has removed.  If a change removes an A-page while it is
 * read, its readers read it again.
 *
 * Owner: all users of a pool are in one thread; other threads may read the cells of pinned frames.
 */
#pragma once

#include <sys/queue.h>
#include <spindle/pool.h>
#include "base/mem.h"
#include "table/clotho/schemas.h"
#include "table/layout/layout.h"

struct sp__clotho_frame;
struct sp__clotho_user;
struct sp__requests;

/* A-page `first + i` of a frame, if this is element i of its entries. */
struct sp__clotho_entry {
	struct sp__clotho_entry *next;	/* next entry of the bucket */
	struct sp__clotho_frame *frame; /* NULL: it was removed */
};

struct sp__clotho_frame {
	TAILQ_ENTRY(sp__clotho_frame) link;
	struct sp__clotho_table *table; /* NULL: nothing was read */
	struct sp__clotho_user *reader; /* user whose requests read the frame */
	struct sp__groupset set, used;	/* column groups; those that lookups needed */
	uint64_t first, pages;		/* A-pages */
	uint64_t live;			/* entries that were not removed */
	uint64_t used_at;		/* lookups of the pool at its last use */
	struct sp__clotho_entry *entries;
	size_t capacity; /* capacity for entries */
	uint8_t *memory;
	unsigned pins, outstanding;
	int error;	  /* error of the requests */
	bool passing;	  /* only reads that pass have used it */
	uint64_t fetches; /* how often it got other A-pages */
	struct sp_pool *pool;
};

TAILQ_HEAD(sp__clotho_frames, sp__clotho_frame);

/* A table's file, in one state. */
struct sp__clotho_key {
	uint64_t device, inode, id;
	uint64_t number, state; /* of the superblock */
};

struct sp__clotho_table {
	LIST_ENTRY(sp__clotho_table) link;
	struct sp__clotho_key key;
	struct sp__schemas schemas;
	uint64_t serial; /* an address would make requests differ from run to run */
	unsigned users;
	uint32_t cell_bytes, ngroups;
	uint32_t cells[]; /* cells of an A-page, by column group */
};

struct sp_pool {
	struct sp_pool_opts opts;
	struct sp__budget budget; /* its limit is opts.bytes */
	struct sp__clotho_frame *frames;
	struct sp__clotho_frames order; /* all, the one used last first */
	struct sp__clotho_entry **buckets;
	uint64_t nbuckets; /* a power of two */
	struct sp__clotho_demands demands;
	LIST_HEAD(, sp__clotho_table) tables;
	uint64_t serial; /* serial of the last table */
	struct sp_pool_counters counters;
	/* Called for a frame before it gets other A-pages; NULL: not called. */
	void (*leaves)(void *arg, const struct sp__clotho_frame *frame);
	void *leaves_arg;
};

/* Set by its owner, except table; it does not move while it is attached. */
struct sp__clotho_user {
	struct sp_pool *pool;
	const struct sp__table_layout *layout;
	const uint64_t *records; /* records of the table */
	/*
	 * Begins to read A-pages [page, page + pages) of a column group, which lie in one strip if
	 * there are several column groups, into memory.  Each request is counted in
	 * frame->outstanding, and ends with sp__clotho_completed().  Returns 0 or an error.
	 */
	int (*fetch)(struct sp__clotho_user *u, struct sp__clotho_frame *frame, uint32_t group,
		     uint64_t page, uint64_t pages, uint8_t *memory);
	struct sp__requests *requests; /* in which fetch() makes them; NULL: in none */
	struct sp__clotho_table *table;
};

/* All zero: nothing is pinned. */
struct sp__clotho_pin {
	struct sp__clotho_frame *frame;
	uint64_t page;
	bool ready;
	bool passes; /* set by the user: the read needs more frames than there are */
};

/*
 * Attaches a user.  Users with the same key share frames; frames of another state of the table are
 * emptied.  Returns 0; SP_EUNSUP if an A-page exceeds a frame; or -ENOMEM, recorded in err.
 */
SP_MUST_CHECK int sp__clotho_attach(struct sp__clotho_user *u, const struct sp__clotho_key *key,
				    const char *path, struct sp_errinfo *err);
/* Detaches a user without pins, outstanding requests and queries; all zero is accepted. */
void sp__clotho_detach(struct sp__clotho_user *u);

/*
 * Enclose a query of these column groups; one that changes records needs all of them.  Begin
 * returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__clotho_begin(struct sp__clotho_user *u, const struct sp__groupset *query);
void sp__clotho_end(struct sp__clotho_user *u, const struct sp__groupset *query);

/*
 * Pins a frame with these column groups of an A-page.  p: pinned for another A-page, it is released
 * first.  Returns SP_READY; SP_LATER while requests of p->frame->reader are outstanding, and then
 * it is to be called again; SP_END if all frames are pinned; or an error of the requests.
 */
SP_MUST_CHECK int sp__clotho_pin(struct sp__clotho_user *u, const struct sp__groupset *set,
				 uint64_t page, struct sp__clotho_pin *p);
/*
 * Pins a frame for a read of few records, which would read `bytes` of the A-page itself; p: nothing
 * is pinned.  After a miss a frame is read only when such reads have read as many bytes as it has,
 * since the frame that it replaces was used.  Returns as sp__clotho_pin(); SP_END: they read
 * themselves.  bytes: 0: a frame is not read.
 */
SP_MUST_CHECK int sp__clotho_pin_few(struct sp__clotho_user *u, const struct sp__groupset *set,
				     uint64_t page, uint64_t bytes, struct sp__clotho_pin *p);
void sp__clotho_unpin(struct sp__clotho_pin *p);
/* True if a lookup of an A-page would find it in a frame that is pinned. */
bool sp__clotho_covers(const struct sp__clotho_pin *p, uint64_t page);
/*
 * Pins a frame with all column groups of an A-page for a change, and removes the A-page from all
 * other frames.  Returns as sp__clotho_pin().
 */
SP_MUST_CHECK int sp__clotho_pin_write(struct sp__clotho_user *u, uint64_t page,
				       struct sp__clotho_pin *p);
/*
 * Removes an A-page that was changed from all frames, except one that has all column groups and is
 * not pinned.  Returns this frame: the caller puts the new cells there; or NULL.  Queries that have
 * pinned a frame keep the state before.
 */
struct sp__clotho_frame *sp__clotho_publish(struct sp__clotho_user *u, uint64_t page);
/* Returns where a frame has a cell of an A-page; it has the column group. */
uint8_t *sp__clotho_cell(const struct sp__clotho_user *u, const struct sp__clotho_frame *f,
			 const struct sp__layout_position *at);
/* Removes an A-page from all frames that have one of these column groups. */
void sp__clotho_invalidate(struct sp__clotho_user *u, uint64_t page,
			   const struct sp__groupset *changed);
/* True if a read of these column groups of so many records needs more frames than there are. */
bool sp__clotho_exceeds(const struct sp__clotho_user *u, const struct sp__groupset *set,
			uint64_t records);
/* Returns the A-pages of a frame that a lookup of these column groups would read now. */
uint64_t sp__clotho_pages(const struct sp__clotho_user *u, const struct sp__groupset *set);
/* Returns the frames that one query should pin, at most: half of them. */
static inline uint64_t sp__clotho_share(const struct sp__clotho_user *u)
{
	return (u->pool->counters.frames + 1) / 2;
}
/* Ends a request of a frame, with its result. */
void sp__clotho_completed(struct sp__clotho_frame *frame, int rc);

/* Returns all column groups of a layout. */
struct sp__groupset sp__clotho_all(const struct sp__table_layout *l);
