/* SPDX-License-Identifier: MIT */
/*
 * Holds a sequence of block requests in memory, and lists its page accesses.  The public header is
 * spindle/sequence.h.
 *
 * Offsets are bytes of a volume.  Volumes are numbered from 0 in the order of their first lines.
 * Requests that failed or moved no data are not in the list: they touch no page.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/sequence.h>
#include "obs/progress.h"

/* Parses one line of a trace from text to numbers, without allocation. */

struct sp__seqline {
	bool write;
	const char *name; /* escaped, inside the line, not terminated */
	size_t name_len;
	uint64_t offset;
	uint32_t bytes;
	uint16_t prio;
	int64_t submit_ns, done_ns;
	int64_t result;
};
/*
 * Parses a line without its newline.  Returns 1: a request; 0: a comment or an empty line;
 * SP_EFORMAT with *reason (static).
 */
int sp__sequence_line(const char *line, size_t len, struct sp__seqline *out, const char **reason);
/* True for the heading of another version of the format; false for any other comment. */
bool sp__sequence_foreign(const char *line, size_t len);
/* Writes the name, unescaped and terminated, to out (name_len + 1 bytes).  Returns its length. */
size_t sp__sequence_name(const char *name, size_t name_len, char *out);

struct sp__seqreq {
	uint64_t offset;
	int64_t submit_ns, done_ns; /* since the trace was opened */
	uint64_t line;		    /* line of the file, counted from 1 */
	uint32_t bytes;		    /* moved, > 0 */
	uint32_t volume;
	uint16_t prio;
	bool write;
};

struct sp__seqvolume {
	char *name;   /* unescaped */
	uint64_t end; /* end of the last byte touched */
	struct sp_sequence_counts counts;
};

struct sp_sequence {
	struct sp__seqreq *req; /* in the requested order */
	size_t n;
	struct sp__seqvolume *volume;
	size_t nvolumes;
	uint64_t device_seeks;
	enum sp_sequence_refinement refinement;
	size_t window;
	struct sp_sequence_opts opts;
};

#define SP__SEQUENCE_REPORTED 4096u /* lines or requests between two reports of the progress */

/* Reports the progress of a call, in its state p, each SP__SEQUENCE_REPORTED lines or requests. */
static inline void sp__sequence_report(struct sp__progress *p, enum sp_sequence_phase phase,
				       uint64_t n, uint64_t done, uint64_t total)
{
	if (p->tell && n % SP__SEQUENCE_REPORTED == 0)
		sp__progress_report(p, (int)phase, done, total);
}

/* Returns the state of a call that reports no progress yet. */
static inline struct sp__progress sp__sequence_progress(const struct sp_sequence *seq)
{
	return (struct sp__progress){
		.tell = seq->opts.progress, .arg = seq->opts.progress_arg, .phase = -1, .last = -1
	};
}

/* Fills in the counts, after loading and refining.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__sequence_count(struct sp_sequence *seq);

/* Returns request i < n as the public interface has it. */
struct sp_sequence_request sp__sequence_request(const struct sp_sequence *seq, size_t i);

/* Returns the first page that a request touches; sp__seqreq_pages() returns their number. */
static inline uint64_t sp__seqreq_page(const struct sp__seqreq *r, uint32_t page_bytes)
{
	return r->offset / page_bytes;
}

static inline size_t sp__seqreq_pages(const struct sp__seqreq *r, uint32_t page_bytes)
{
	return (r->offset + r->bytes - 1) / page_bytes - r->offset / page_bytes + 1;
}

/*
 * Lists the page accesses in order, those of one request ascending.
 *
 * Volumes are numbered consecutively with a page between them: the page of byte x of volume v is
 * base[v] + x / page_bytes.  A written page has SP__SEQPAGE_WRITE set.  A write is assumed to fill
 * its pages.  The caller frees pages and base.  Returns 0 or -ENOMEM.
 */
#define SP__SEQPAGE_WRITE (UINT64_C(1) << 63)
struct sp__seqpages {
	uint64_t *pages, *base;
	size_t n;
};
SP_MUST_CHECK int sp__sequence_pages(const struct sp_sequence *seq, uint32_t page_bytes,
				     struct sp__seqpages *out);
void sp__sequence_pages_release(struct sp__seqpages *pages);
