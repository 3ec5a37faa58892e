/* SPDX-License-Identifier: MIT */
/*
 * The requests of both sequences are sorted by volume, offset, length and kind, and equal ones by
 * their place; merging the two lists pairs the k-th of a with the k-th of b.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "trace/sequence_match.h"

/* A request without its time; place makes equal ones differ, last of all. */
struct key {
	uint64_t offset;
	size_t place;
	uint32_t bytes, volume;
	bool write;
};

struct name {
	const char *name;
	size_t number; /* in b: following those of a */
};

static int by_name(const void *pa, const void *pb)
{
	const struct name *a = pa, *b = pb;
	int order = strcmp(a->name, b->name);

	return order ? order : a->number < b->number ? -1 : a->number > b->number;
}

/* One numbering for the volumes of both: of equal names the lowest number. */
static uint32_t *number_volumes(const struct sp_sequence *a, const struct sp_sequence *b)
{
	size_t n = a->nvolumes + b->nvolumes;
	struct name *names = malloc((n + 1) * sizeof(*names));
	uint32_t *number = malloc((n + 1) * sizeof(*number)), same = 0;

	for (size_t i = 0; names && i < n; i++) {
		names[i].name =
			i < a->nvolumes ? a->volume[i].name : b->volume[i - a->nvolumes].name;
		names[i].number = i;
	}
	if (names && number) {
		qsort(names, n, sizeof(*names), by_name);
		for (size_t i = 0; i < n; i++) {
			if (!i || strcmp(names[i].name, names[i - 1].name))
				same = (uint32_t)names[i].number;
			number[names[i].number] = same;
		}
	} else {
		free(number);
		number = NULL;
	}
	free(names);
	return number;
}

static int compare_requests(const struct key *a, const struct key *b)
{
	if (a->volume != b->volume)
		return a->volume < b->volume ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return a->write - b->write;
}

static int by_request(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;
	int order = compare_requests(a, b);

	return order ? order : a->place < b->place ? -1 : 1;
}

static struct key *sorted_keys(const struct sp_sequence *seq, const uint32_t *number)
{
	struct key *keys = malloc((seq->n + 1) * sizeof(*keys));

	if (!keys)
		return NULL;
	for (size_t i = 0; i < seq->n; i++) {
		const struct sp__seqreq *r = &seq->req[i];

		keys[i] = (struct key){ r->offset, i, r->bytes, number[r->volume], r->write };
	}
	qsort(keys, seq->n, sizeof(*keys), by_request);
	return keys;
}

static void earlier(size_t *to, size_t place)
{
	if (*to > place)
		*to = place;
}

/* Both lists are sorted: equal keys at their heads are a pair. */
static void pair(const struct key *a, size_t na, const struct key *b, size_t nb,
		 struct sp__seqmatch *m)
{
	size_t i = 0, j = 0;

	m->missing = m->extra = SP__SEQ_NONE;
	while (i < na || j < nb) {
		int order = i == na ? 1 : j == nb ? -1 : compare_requests(&a[i], &b[j]);

		if (order < 0) {
			earlier(&m->missing, a[i++].place);
		} else if (order > 0) {
			earlier(&m->extra, b[j++].place);
		} else {
			m->b_of_a[a[i].place] = b[j].place;
			m->a_of_b[b[j++].place] = a[i++].place;
		}
	}
}

int sp__sequence_match(const struct sp_sequence *a, const struct sp_sequence *b,
		       struct sp__seqmatch *m)
{
	uint32_t *number = number_volumes(a, b);
	struct key *ka = number ? sorted_keys(a, number) : NULL;
	struct key *kb = number ? sorted_keys(b, number + a->nvolumes) : NULL;
	int rc = -ENOMEM;

	m->b_of_a = malloc((a->n + 1) * sizeof(*m->b_of_a));
	m->a_of_b = malloc((b->n + 1) * sizeof(*m->a_of_b));
	if (ka && kb && m->b_of_a && m->a_of_b) {
		memset(m->b_of_a, 0xff, a->n * sizeof(*m->b_of_a));
		memset(m->a_of_b, 0xff, b->n * sizeof(*m->a_of_b));
		pair(ka, a->n, kb, b->n, m);
		rc = 0;
	} else {
		sp__sequence_match_release(m);
	}
	free(ka);
	free(kb);
	free(number);
	return rc;
}

void sp__sequence_match_release(struct sp__seqmatch *m)
{
	free(m->a_of_b);
	free(m->b_of_a);
	m->a_of_b = m->b_of_a = NULL;
}
