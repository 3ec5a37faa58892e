/* SPDX-License-Identifier: MIT */
/*
 * Declares one stage of a hash join: a build input and a probe input are partitioned by the hash of
 * their keys.  Some partitions of the build input stay in memory, where the probe input is joined
 * immediately.  The others of both inputs go to temporary space and are joined in separate stages.
 */
#pragma once

#include "base/keyhash.h"
#include "base/mem.h"
#include "flow/iter.h"
#include "flow/runread.h"
#include "join/hash/sweep.h"
#include "join/hash/table.h"
#include "join/input/inputs.h"
#include "sort/sort.h"
#include "spill/writer.h"

struct sp__hash;
struct sp__stage;

/* Tallies of one input of a stage, or of one file of a join. */
struct sp__join_balance {
	struct sp__tally read;	    /* from the input */
	struct sp__tally unspilled; /* read back from partitions; only of a join */
	struct sp__tally kept;
	struct sp__tally looked_up;
	struct sp__tally filtered;
	struct sp__tally alone; /* of partitions whose other side is empty; only of a join */
	struct sp__tally spilled;
};

enum { SP__BUILD, SP__PROBE };

/* Sorts the result into the order of an input (ordered.c). */
struct sp__order {
	struct sp__sorter sorter; /* its sort is NULL if it is not open; its part, without escape,
				     is less than a record */
	char eol;
	uint64_t bytes;	 /* put */
	uint64_t before; /* records that are not sorted: a header */
	/* Previous sink of the emit, for the sorted records; or NULL. */
	int (*sink)(void *arg, const char *data, size_t bytes, bool whole);
	void *sink_arg;
	bool escape; /* records can contain line terminators */
	struct sp_errinfo *err;
};

/* State shared by all stages of a join; written only by its thread. */
struct sp__hash {
	/* Inputs of the join.  The hash join resolves opts->algorithm and the lengths of inputs. */
	struct sp__join_inputs *in;
	struct sp__result *out;
	struct sp_join_opts *opts;
	struct sp__env *env;
	struct sp__join_counts *counts;
	struct sp__join_layout layout;
	struct sp__keying keying;
	struct sp__keymem keymem;
	struct sp__table table;
	struct sp__spill *spill; /* NULL until something is spilled */
	uint64_t to_read;	 /* predicted bytes to read from it; 0: unknown */
	char *read_mem;		 /* for a partition being read */
	/*
	 * Buffers of the writers of a stage, or a second partition; and the workers' (workers.h).
	 */
	char *write_mem;
	struct sp__bloom bloom;
	bool bloom_used;
	uint64_t workers_bytes; /* workers' part of write_mem, at its end; 0: no workers */
	uint64_t seed;		/* seed of the hashes that partition records */
	uint64_t key_seed;	/* seed of the hashes that find and tally records */
	bool whole;		/* the first stage does not partition */
	bool strong;		/* the next stage partitions by the strong hash */
	bool mark;		/* record which records of the build side had partners */
	/*
	 * Format of each file's records in the stages, and the bytes of their tags (keys/keying.h).
	 */
	struct sp_recfmt format[2];
	size_t tag[2];
	char written[2][SP__TAG_BYTES]; /* pairs of earlier records are written */
	bool sorting;			/* the result goes through order */
	struct sp__order order;
	struct sp__join_balance balance[2]; /* by file, over all stages so far */
};

/* A source as the input of the first stage. */
struct sp__numbered {
	struct sp__hash *h;
	int side;
	uint64_t records;
	struct sp__bytes batch; /* with tags */
};

struct sp__partition {
	struct sp__reclist list;
	bool spilled;
	struct sp__run *run[2]; /* by role; NULL: nothing was spilled */
	uint64_t sum[2];	/* sum of the hashes of the run's keys */
	struct sp__runwriter writer;
	bool writing; /* the writer is open */
};

struct sp__stage {
	struct sp__hash *h;
	unsigned depth;
	int side[2]; /* by role: the file, 0 or 1 */
	bool strong; /* partitions by the strong hash */
	bool spills; /* a partition is spilled */
	bool whole;  /* all records go to the list of partition 0, while there is memory */
	unsigned npartitions,
		planned; /* number of partitions; planned: the last ones, spilled from the start */
	struct sp__partition *partitions;
	uint64_t resident_bytes;	    /* expected bytes of records in memory; 0: unknown */
	uint64_t bytes[2];		    /* received */
	struct sp__join_balance balance[2]; /* by role */
	/* Block nested loops: the probe records that had a partner in an earlier block. */
	uint64_t *had;
	uint64_t probed; /* number of the next probe record */
	bool last_block;
	bool sorted;		/* sort-hash join: sorts by partition before writing */
	struct sp__sweep sweep; /* sorts records of the role being written */
	unsigned written;	/* the partition written last */
	uint16_t partition_of[SP__BUCKETS];
};

/* A probe record that goes to temporary space; bytes: with its tag. */
struct sp__deferred {
	const char *line;
	size_t bytes;
	struct sp__partition *partition;
	uint64_t key_hash;
};

struct sp__worker;

/* State of one probing thread; stage and table are shared and do not change. */
struct sp__prober {
	struct sp__stage *stage;
	struct sp__emit *emit;
	struct sp__keymem *keymem;
	struct sp__join_balance *balance; /* tallies of the probe side */
	uint64_t *bytes;		  /* probed */
	struct sp_errinfo *err;
	struct sp__worker *worker; /* keeps deferred records; NULL: they are spilled immediately */
};

/* stage.c */
/* bytes by role, build_records: expected; 0: unknown.  0 or an error. */
SP_MUST_CHECK int sp__stage_new(struct sp__stage **stage, struct sp__hash *h, unsigned depth,
				int build_side, const uint64_t bytes[2], uint64_t build_records);
void sp__stage_free(struct sp__stage *s);
/* Makes a line from a record of the table. */
void sp__hash_line(const struct sp__hash *h, int side, struct sp__rec *r, struct sp__line *l);
/* Finds the key of a line with its tag, for hashing; valid until the next call. */
SP_MUST_CHECK int sp__hash_key(struct sp__hash *h, int side, const char *line, size_t bytes,
			       struct sp__slice *key);
/* Reads the whole build input, into partitions in memory and in temporary space. */
SP_MUST_CHECK int sp__stage_build(struct sp__stage *s, struct sp__iter *input);
/* Lists the partitions in memory, and makes the table over them. */
SP_MUST_CHECK int sp__stage_make_table(struct sp__stage *s);
/*
 * Lines include their tags, if there are any.
 * Puts a line into a list: 0; 1: no space; an error.
 */
SP_MUST_CHECK int sp__stage_keep(struct sp__stage *s, struct sp__reclist *list, const char *line,
				 size_t bytes, const struct sp__slice *key);

static inline struct sp__partition *sp__stage_partition(struct sp__stage *s, uint64_t hash)
{
	return &s->partitions[s->partition_of[hash % SP__BUCKETS]];
}

/* Returns the hash that decides the partition of a key; key_hash: with the seed h->key_seed. */
static inline uint64_t sp__stage_hash(const struct sp__stage *s, const struct sp__slice *key,
				      uint64_t key_hash)
{
	const struct sp__hash *h = s->h;

	if (s->strong)
		key_hash = sp__key_hash_strong(key->p, key->n);
	else if (h->key_seed != h->seed)
		key_hash = sp__key_hash(key->p, key->n, h->seed);
	return sp__key_rehash(key_hash, s->depth);
}

/* Tally of the spilled records of one role, once they are written. */
static inline struct sp__tally sp__partition_tally(const struct sp__partition *p, int role)
{
	return (struct sp__tally){ .records = p->run[role] ? p->run[role]->records : 0,
				   .sum = p->sum[role] };
}

/* spill.c */
/*
 * Spills a record with its tag; line[bytes] is its terminator, if it has one.  key_hash: from
 * sp__key_hash().
 */
SP_MUST_CHECK int sp__stage_spill(struct sp__stage *s, struct sp__partition *p, int role,
				  const char *line, size_t bytes, uint64_t key_hash);
static inline int sp__stage_spill_deferred(struct sp__stage *s, const struct sp__deferred *d)
{
	return sp__stage_spill(s, d->partition, SP__PROBE, d->line, d->bytes, d->key_hash);
}
/* Ends writing partitions of one role. */
SP_MUST_CHECK int sp__stage_end_writing(struct sp__stage *s);
/* Keeps the descriptors of spilled pages within bounds and reports progress, after some input. */
void sp__stage_bound(struct sp__stage *s);

/* probing.c */
SP_MUST_CHECK int sp__probe(const struct sp__prober *by, const struct sp_batch *batch);
SP_MUST_CHECK int sp__stage_probe(struct sp__stage *s, struct sp__iter *input);
/* After probing: writes the records of the build side in memory that are complete. */
SP_MUST_CHECK int sp__stage_rest(struct sp__stage *s);

/* nested.c */
/*
 * divides: returns SP_EUNSUP, not recorded, and has done nothing, if most records of the first
 * block have different keys.
 */
SP_MUST_CHECK int sp__hash_nested(struct sp__hash *h, struct sp__run *build, struct sp__run *probe,
				  int build_side, unsigned depth, const struct sp__tally came[2],
				  bool divides);

/* ordered.c */
/* Decides whether to number records, before the table is made, which might release memory. */
void sp__numbers_begin(struct sp__hash *h, int build_side);
/*
 * Stops numbering the records of the build side, if they need numbers only once something is
 * spilled.  False if they keep them, or have none.
 */
bool sp__numbers_omit(struct sp__hash *h, int build_side);
void sp__numbers_restore(struct sp__hash *h, int build_side);
/* next() of a struct sp__iter. */
SP_MUST_CHECK int sp__numbered_next(void *numbered, struct sp_batch *batch);
/* Called if the build input exceeds memory: an ordered result must be sorted. */
void sp__ordered_spill(struct sp__hash *h);
/* Directs the result to its destination after the build input is partitioned. */
SP_MUST_CHECK int sp__ordered_begin(struct sp__hash *h);
/* Does the work of sp__stage_rest() for an ordered result that is not sorted. */
SP_MUST_CHECK int sp__ordered_rest(struct sp__stage *s);
/* Writes the sorted result at the end, if rc is 0.  Returns rc or an error. */
SP_MUST_CHECK int sp__ordered_end(struct sp__hash *h, int rc);

/* True if a pair was joined before.  Lines have tags. */
static inline bool sp__hash_old(const struct sp__hash *h, int side, const struct sp__line *l)
{
	return sp__tag_compare(l->data + l->bytes, h->written[side]) < 0;
}

/* Reports the progress of joining partitions. */
static inline void sp__hash_report_joining(struct sp__hash *h)
{
	sp__progress_report(&h->counts->progress, SP_JOIN_PHASE_JOIN, h->spill->read_bytes,
			    sp__max(h->spill->write_bytes, h->to_read));
}

/* building.c */
/*
 * Reads the build input of a join, a file, by parts, and makes the table.  0; SP_EUNSUP, not
 * recorded: nothing has been done, since there are no threads for it, or since the records might
 * not fit into memory; or an error.
 */
SP_MUST_CHECK int sp__stage_build_parts(struct sp__stage *s);

/* join.c */
/* Joins inputs that are open; the layout is made from their options.  0 or an error. */
SP_MUST_CHECK int sp__join_hash(struct sp__join_inputs *in, struct sp__result *out,
				const struct sp__join_layout *layout);

/* stage.c: compare tallies (join/input/inputs.h).  They return 0, or SP_EBALANCE, recorded. */
/* Checks a pass of one side; came: the records put into its partition, NULL: an input. */
SP_MUST_CHECK int sp__balance_role(struct sp__stage *s, int role, const struct sp__tally *came);
/* Checks a stage whose partitions are written but not joined; came: by role, or NULL. */
SP_MUST_CHECK int sp__balance_stage(struct sp__stage *s, const struct sp__tally came[2]);
/* Checks a partition whose other side is empty; read back: NULL if its records are not needed. */
SP_MUST_CHECK int sp__balance_alone(struct sp__hash *h, int side, const struct sp__tally *came,
				    const struct sp__tally *read_back);
/* Checks all stages. */
SP_MUST_CHECK int sp__balance_hash(struct sp__hash *h);
