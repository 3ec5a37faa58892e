/* SPDX-License-Identifier: MIT */
/*
 * One stage of a hash join: a build input and a probe input are partitioned by the hash
 * of their keys.  Some partitions of the build input stay in memory, where the probe
 * input is joined at once; the others of both inputs go to temporary space and are
 * joined in separate stages.
 */
#ifndef SP__JOIN_HASH_STAGE_H
#define SP__JOIN_HASH_STAGE_H

#include <spindle/sort.h>
#include "base/mem.h"
#include "flow/iter.h"
#include "join/hash/balance.h"
#include "join/hash/bloom.h"
#include "join/keys/keying.h"
#include "join/plan/plan.h"
#include "join/space/runread.h"
#include "join/keys/tags.h"
#include "join/input/inputs.h"
#include "join/result/result.h"
#include "join/hash/sweep.h"
#include "join/hash/table.h"
#include "spill/writer.h"

enum { SP__BUILD, SP__PROBE };

/* Sorting the result into the order of an input (ordered.c). */
struct sp__order {
	struct sp_keyset *keys;
	struct sp_sort *sort; /* NULL: not open */
	char eol;
	uint64_t bytes;	 /* put */
	uint64_t before; /* records that are not sorted: a header */
	/* That of the emit before, for the sorted records; or NULL. */
	int (*sink)(void *arg, const char *data, size_t bytes, bool whole);
	void *sink_arg;
	bool escape;		  /* records can contain line terminators */
	struct sp__bytes partial; /* not yet put into the sort: less than a record, if not escape */
	struct sp_errinfo *err;
};

/* Shared by all stages of a join; written by its thread alone. */
struct sp__hash {
	/* Those of the join; the hash join resolves opts->algorithm, and lengths of inputs. */
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
	uint64_t to_read;	 /* of it, as predicted; 0: unknown */
	char *read_mem;		 /* a partition being read */
	/*
	 * Buffers of the writers of a stage, or a second partition; and the workers' (workers.h).
	 */
	char *write_mem;
	struct sp__bloom bloom;
	bool bloom_used;
	struct sp__workers *workers; /* NULL: one thread probes */
	uint64_t workers_bytes;	     /* its memory, the last of write_mem */
	uint64_t seed;		     /* of the hashes of keys */
	bool mark;		     /* record which records of the build side had partners */
	/* Records of each file in the stages: how they end; bytes of tag (keys/tags.h) in them. */
	struct sp_recfmt format[2];
	size_t tag[2];
	char written[2][SP__TAG_BYTES]; /* pairs of records before these are */
	bool sorting;			/* the result goes through order */
	struct sp__order order;
	struct sp__join_balance balance[2]; /* of each file, of all stages so far */
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
	struct sp__run *run[2]; /* of each role; NULL: nothing was spilled */
	uint64_t sum[2];	/* of the hashes of their keys */
	struct sp__runwriter writer;
	bool writing; /* the writer is open */
};

struct sp__stage {
	struct sp__hash *h;
	unsigned depth;
	int side[2];		       /* of each role: the file, 0 or 1 */
	unsigned npartitions, planned; /* planned: number, at the end, spilled from the start */
	struct sp__partition *partitions;
	uint64_t resident_bytes; /* expected of records that stay in memory; 0: unknown */
	uint64_t bytes[2];	 /* received */
	struct sp__join_balance balance[2]; /* of each role */
	/* Block nested loops: which probe records had a partner in an earlier block. */
	uint64_t *had;
	uint64_t probed; /* number of the next probe record */
	bool last_block;
	bool sorted;		/* sort-hash join: by partition, before writing */
	struct sp__sweep sweep; /* of the role being written */
	unsigned written;	/* the partition written to last */
	uint16_t partition_of[SP__BUCKETS];
};

/* A probe record that goes to temporary space; bytes: with its tag. */
struct sp__deferred {
	const char *line;
	size_t bytes;
	struct sp__partition *partition;
	uint64_t key_hash;
};

struct sp__bundle;

/* What a thread needs to probe for itself; stage and table are shared, and do not change. */
struct sp__prober {
	struct sp__stage *stage;
	struct sp__emit *emit;
	struct sp__keymem *keymem;
	struct sp__join_balance *balance; /* of the probe side */
	uint64_t *bytes;		  /* probed */
	struct sp_errinfo *err;
	struct sp__bundle *bundle; /* keeps deferred records; NULL: they are spilled at once */
};

/* stage.c */
/* bytes of each role, and build_records: expected; 0: unknown.  0 or an error. */
SP_MUST_CHECK int sp__stage_new(struct sp__stage **stage, struct sp__hash *h, unsigned depth,
				int build_side, const uint64_t bytes[2], uint64_t build_records);
void sp__stage_free(struct sp__stage *s);
/* A record of the table as a line. */
void sp__hash_line(const struct sp__hash *h, int side, struct sp__rec *r, struct sp__line *l);
/* The key of one line with its tag, for hashing; valid until the next call. */
SP_MUST_CHECK int sp__hash_key(struct sp__hash *h, int side, const char *line, size_t bytes,
			       struct sp__slice *key);
/* Reads the whole build input, into partitions in memory and in temporary space. */
SP_MUST_CHECK int sp__stage_build(struct sp__stage *s, struct sp__iter *input);
/* Lists the partitions in memory, and makes the table over them. */
SP_MUST_CHECK int sp__stage_make_table(struct sp__stage *s);
/* Lines have their tags with them, where there are any. */
/* Puts a line into a list: 0; 1: no space; an error. */
SP_MUST_CHECK int sp__stage_keep(struct sp__stage *s, struct sp__reclist *list, const char *line,
				 size_t bytes, const struct sp__slice *key);

static inline struct sp__partition *sp__stage_partition(struct sp__stage *s, uint64_t hash)
{
	return &s->partitions[s->partition_of[hash % SP__BUCKETS]];
}

/* The spilled records of one role, once they are written. */
static inline struct sp__tally sp__partition_tally(const struct sp__partition *p, int role)
{
	return (struct sp__tally){ .records = p->run[role] ? p->run[role]->records : 0,
				   .sum = p->sum[role] };
}

/* spill.c */
/*
 * Spills a record, with its tag; line[bytes] is its terminator, if it has one.
 * key_hash: of sp__key_hash().
 */
SP_MUST_CHECK int sp__stage_spill(struct sp__stage *s, struct sp__partition *p, int role,
				  const char *line, size_t bytes, uint64_t key_hash);
static inline int sp__stage_spill_deferred(struct sp__stage *s, const struct sp__deferred *d)
{
	return sp__stage_spill(s, d->partition, SP__PROBE, d->line, d->bytes, d->key_hash);
}
/* Ends writing partitions of one role. */
SP_MUST_CHECK int sp__stage_end_writing(struct sp__stage *s);
/* After some input: keeps the descriptors of spilled pages within bounds, reports progress. */
void sp__stage_bound(struct sp__stage *s);

/* predict.c: after partitioning both inputs, on real files: fills in stats.prediction. */
void sp__stage_predict(const struct sp__stage *s);

/* probing.c */
SP_MUST_CHECK int sp__probe(const struct sp__prober *by, const struct sp_batch *batch);
SP_MUST_CHECK int sp__stage_probe(struct sp__stage *s, struct sp__iter *input);
/* After probing: writes the records of the build side in memory that are due now. */
SP_MUST_CHECK int sp__stage_rest(struct sp__stage *s);

/* nested.c */
SP_MUST_CHECK int sp__hash_nested(struct sp__hash *h, struct sp__run *build, struct sp__run *probe,
				  int build_side, unsigned depth, const struct sp__tally came[2]);

/* ordered.c */
/* Decides whether to number records; before the table is made, which may have to leave memory. */
void sp__numbers_begin(struct sp__hash *h, int build_side);
/* A sp__iter's next. */
SP_MUST_CHECK int sp__numbered_next(void *numbered, struct sp_batch *batch);
/* The build input does not fit in memory: an ordered result must be sorted. */
void sp__ordered_spill(struct sp__hash *h);
/* After partitioning the build input: directs the result to its destination. */
SP_MUST_CHECK int sp__ordered_begin(struct sp__hash *h);
/* sp__stage_rest() of an ordered result that is not sorted. */
SP_MUST_CHECK int sp__ordered_rest(struct sp__stage *s);
/* At the end: writes the sorted result, if rc is 0.  Returns rc or an error. */
SP_MUST_CHECK int sp__ordered_end(struct sp__hash *h, int rc);

/* Have two records been joined before?  Lines have tags. */
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
#endif
