/* SPDX-License-Identifier: MIT */
/*
 * Rearranges a sequence: chooses the next request among a window of the oldest remaining requests.
 *
 * A request can be chosen if it does not conflict with an older one.  All older requests are in the
 * window too, so counting conflicts within the window suffices, and the result is a legal
 * permutation.
 *
 * Time: n w for n requests and a window of w requests.
 *
 * Rejected: the graph of all conflicts.  It needs no window, but an operator cannot hold back all
 * its writes either.
 */
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "base/enum.h"
#include "trace/sequence.h"

struct waiting {
	struct sp__seqreq req;
	size_t conflicts; /* with older requests */
};

struct refining {
	enum sp_sequence_refinement how;
	struct waiting *window; /* oldest first */
	size_t n;
	const struct sp__seqreq *last; /* the last one chosen; NULL: none yet */
};

static bool same_bytes(const struct sp__seqreq *a, const struct sp__seqreq *b)
{
	return a->volume == b->volume && a->offset < b->offset + b->bytes &&
	       b->offset < a->offset + a->bytes;
}

static bool conflict(const struct sp__seqreq *a, const struct sp__seqreq *b)
{
	return (a->write || b->write) && same_bytes(a, b);
}

static int by_place(const struct sp__seqreq *a, const struct sp__seqreq *b)
{
	int order = SP__ORDER(a->volume, b->volume);

	return order ? order : SP__ORDER(a->offset, b->offset);
}

/* True if r suits the last request, whatever its offset. */
static bool suits(const struct refining *f, const struct sp__seqreq *r)
{
	switch (f->how) {
	case SP_SEQUENCE_BY_BLOCK:
		return same_bytes(r, f->last);
	case SP_SEQUENCE_BY_FILE:
		return r->volume == f->last->volume;
	default:
		return by_place(r, f->last) >= 0;
	}
}

static bool better(const struct refining *f, const struct sp__seqreq *a, const struct sp__seqreq *b)
{
	bool suits_a = suits(f, a), suits_b = suits(f, b);

	if (suits_a != suits_b)
		return suits_a;
	return f->how == SP_SEQUENCE_BY_OFFSET && by_place(a, b) < 0;
}

/* The oldest request never conflicts. */
static size_t choose(const struct refining *f)
{
	size_t best = 0;

	for (size_t i = 1; f->last && i < f->n; i++)
		if (!f->window[i].conflicts && better(f, &f->window[i].req, &f->window[best].req))
			best = i;
	return best;
}

static void put(struct refining *f, const struct sp__seqreq *r)
{
	struct waiting *w = &f->window[f->n];

	*w = (struct waiting){ .req = *r };
	for (size_t i = 0; i < f->n; i++)
		w->conflicts += conflict(&f->window[i].req, r);
	f->n++;
}

static struct sp__seqreq take(struct refining *f, size_t at)
{
	struct sp__seqreq r = f->window[at].req;

	f->n--;
	memmove(&f->window[at], &f->window[at + 1], (f->n - at) * sizeof(*f->window));
	for (size_t i = at; i < f->n; i++)
		f->window[i].conflicts -= conflict(&r, &f->window[i].req);
	return r;
}

int sp_sequence_refine(struct sp_sequence *seq, enum sp_sequence_refinement how, size_t window)
{
	struct sp__seqreq *out = malloc((seq->n + 1) * sizeof(*out));
	struct refining f = { .how = how };
	size_t room = sp__min(window, seq->n), next = 0;

	if (window)
		f.window = calloc(room + 1, sizeof(*f.window));
	if (!out || !f.window) {
		free(out);
		free(f.window);
		return window ? -ENOMEM : -EINVAL;
	}
	for (size_t i = 0; i < seq->n; i++) {
		while (f.n < room && next < seq->n)
			put(&f, &seq->req[next++]);
		out[i] = take(&f, how == SP_SEQUENCE_AS_IS ? 0 : choose(&f));
		f.last = &out[i];
	}
	free(f.window);
	free(seq->req);
	seq->req = out;
	seq->refinement = how;
	seq->window = window;
	return sp__sequence_count(seq);
}

SP__ENUM_TABLE(sp_sequence_refinement, { "none", SP_SEQUENCE_AS_IS },
	       { "block", SP_SEQUENCE_BY_BLOCK }, { "file", SP_SEQUENCE_BY_FILE },
	       { "offset", SP_SEQUENCE_BY_OFFSET }, { "place", SP_SEQUENCE_BY_OFFSET })
