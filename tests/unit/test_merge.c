/* SPDX-License-Identifier: MIT */
/*
 * Merging k sorted inputs, seen by what comes out: order, stability, what is
 * said of the record before, and that nothing is lost where an input turns out
 * not to be sorted.  Inputs come in spans of random length, some of them late.
 */
#include <stdio.h>
#include <spindle/batch.h>
#include "keysets.h"
#include "sort/tree/merge.h"
#include "tap.h"

#define INPUTS_MAX 9
#define SLOT 65536

struct input {
	char *text;
	size_t bytes, at;
	char *span; /* given out last */
	size_t span_bytes;
};

static struct input inputs[INPUTS_MAX];
static char memory[INPUTS_MAX][SLOT] __attribute__((aligned(64)));
static struct sp__runbuf bufs[INPUTS_MAX];
static struct sp__rng chance;

/* Borrowed as a page is: the copy is spoiled when it is given back. */
static int give(void *ctx, size_t index, bool wait, const char **data, size_t *bytes)
{
	struct input *in = (struct input *)ctx + index;

	if (!wait && sp__rng_below(&chance, 4) == 0)
		return SP_LATER;
	if (in->at == in->bytes)
		return SP_END;
	*bytes = 1 + sp__rng_below(&chance, sp__rng_below(&chance, 2) ? 10 : 300);
	if (*bytes > in->bytes - in->at)
		*bytes = in->bytes - in->at;
	free(in->span);
	*data = in->span = malloc(*bytes);
	if (!in->span)
		abort();
	memcpy(in->span, in->text + in->at, *bytes);
	in->at += *bytes;
	in->span_bytes = *bytes;
	return SP_READY;
}

static int take_back(void *ctx, size_t index)
{
	struct input *in = (struct input *)ctx + index;

	memset(in->span, '#', in->span_bytes);
	return 0;
}

/* Lines for one input, sorted through a run buffer; false: they are not to be sorted. */
static void make_input(const struct sp_keyset *ks, unsigned i, enum line_shape shape, bool sorted)
{
	struct sp__runbuf *rb = &bufs[i];
	char line[1500];
	size_t bytes, taken = 1;

	sp__runbuf_init(rb, ks);
	sp__runbuf_use(rb, memory[i], SLOT);
	for (unsigned n = (unsigned)sp__rng_below(&chance, 60); n && taken; n--) {
		bytes = line_make(line, shape, &chance, n);
		if (sp__runbuf_add(rb, line, bytes, &taken))
			abort();
	}
	if (sorted)
		sp__runbuf_sort(rb);
	inputs[i] = (struct input){ .text = malloc(SLOT) };
	if (!inputs[i].text)
		abort();
	for (size_t e = 0; e < rb->n; e++) {
		const char *rec = sp__runbuf_record(rb, &rb->entries[e], &bytes);

		memcpy(inputs[i].text + inputs[i].bytes, rec, bytes);
		inputs[i].bytes += bytes;
	}
}

static uint64_t sum_lines(const char *text, size_t bytes)
{
	uint64_t sum = 0, h = 0;

	for (size_t i = 0; i < bytes; i++) {
		h = sp__mix64(h * 257 + (unsigned char)text[i] + 1);
		if (text[i] == '\n') {
			sum += h;
			h = 0;
		}
	}
	return sum;
}

/* Each record must be the next one of the winner's input: so ties were stable. */
struct checker {
	const struct sp_keyset *ks;
	size_t passed[INPUTS_MAX];
	char prev[1500];
	size_t prev_bytes;
	unsigned prev_input;
	bool any, sorted;
	uint64_t sum;
};

static unsigned input_of(const struct sp__merge *m)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->rec == m->cursors[i].rec)
			return i;
	return INPUTS_MAX;
}

static bool check(struct checker *c, const struct sp__merge *m)
{
	unsigned i = input_of(m);
	bool good = i < INPUTS_MAX && c->passed[i] + m->bytes <= inputs[i].bytes &&
		    !memcmp(inputs[i].text + c->passed[i], m->rec, m->bytes);

	if (!good)
		return false;
	c->passed[i] += m->bytes;
	c->sum += sum_lines(m->rec, m->bytes);
	if (c->any) {
		int order =
			sp_keyset_compare(c->ks, c->prev, c->prev_bytes - 1, m->rec, m->bytes - 1);
		int keys = sp__key_compare(c->ks, c->prev, c->prev_bytes - 1, m->rec, m->bytes - 1);

		good &= m->prev && m->prev_bytes == c->prev_bytes &&
			!memcmp(m->prev, c->prev, c->prev_bytes);
		if (c->sorted)
			good &= order < 0 || (order == 0 && c->prev_input <= i);
		if (c->sorted)
			good &= m->equal == ((sp__ks(c->ks)->exact ? order : keys) == 0);
	}
	memcpy(c->prev, m->rec, m->bytes);
	c->prev_bytes = m->bytes;
	c->prev_input = i;
	c->any = true;
	return good;
}

static bool merges(const struct sp_keyset *ks, unsigned k, enum line_shape shape, bool sorted,
		   unsigned in_memory)
{
	struct checker c = { .ks = ks, .sorted = sorted };
	struct sp__budget budget;
	struct sp__merge m;
	uint64_t want = 0;
	bool good = true;
	int rc;

	sp__budget_init(&budget, 1 << 20);
	if (sp__merge_init(&m, ks, k, &budget, NULL))
		abort();
	for (unsigned i = 0; i < k; i++) {
		struct sp__feed feed = { inputs, i, give, take_back, NULL, NULL, false };

		make_input(ks, i, shape, sorted || i < in_memory);
		want += sum_lines(inputs[i].text, inputs[i].bytes);
		if (i < in_memory)
			sp__cursor_part(&m.cursors[i], &bufs[i], 0, bufs[i].n);
		else
			m.cursors[i].feed = feed;
	}
	for (;;) {
		rc = sp__merge_next(&m, sp__rng_below(&chance, 2));
		if (rc == SP_LATER)
			continue;
		if (rc != SP_READY)
			break;
		good &= check(&c, &m);
	}
	good &= rc == SP_END && sp__merge_next(&m, true) == SP_END && c.sum == want;
	sp__merge_release(&m);
	good &= budget.used_bytes == 0;
	for (unsigned i = 0; i < k; i++) {
		sp__runbuf_release(&bufs[i]);
		free(inputs[i].text);
		free(inputs[i].span);
	}
	return good;
}

static void one_order(const struct order *o)
{
	struct sp_keyset *ks = order_open(o);
	bool sorted = true, mixed = true, unsorted = true;

	if (!ks) {
		skip(o->name, "needs its locale in build/locale");
		return;
	}
	for (unsigned n = 0; n < 200; n++) {
		unsigned k = (unsigned)sp__rng_below(&chance, INPUTS_MAX + 1);
		enum line_shape shape = (enum line_shape)(n % LINE_SHAPES);

		sorted &= merges(ks, k, shape, true, 0);
		mixed &= merges(ks, k, shape, true, k / 2);
		unsorted &= merges(ks, k, shape, false, 0);
	}
	ok(sorted, "%s: sorted inputs are merged in order, equal records in that of the inputs",
	   o->name);
	ok(mixed, "%s: so are runs in memory together with others", o->name);
	ok(unsorted, "%s: of inputs that are not sorted no record is lost", o->name);
	sp_keyset_free(ks);
}

static void last_line(void)
{
	struct sp_keyset *ks = order_open(&orders[0]);
	struct sp__feed feed = { inputs, 0, give, take_back, NULL, NULL, false };
	struct sp__budget budget;
	struct sp__merge m;

	sp__budget_init(&budget, 1 << 20);
	inputs[0] = (struct input){ .text = strdup("a\nb"), .bytes = 3 };
	if (sp__merge_init(&m, ks, 1, &budget, NULL))
		abort();
	m.cursors[0].feed = feed;
	ok(sp__merge_next(&m, true) == SP_READY && m.bytes == 2 &&
		   sp__merge_next(&m, true) == SP_READY && m.bytes == 2 &&
		   !memcmp(m.rec, "b\n", 2) && sp__merge_next(&m, true) == SP_END,
	   "a last line without newline gets one");
	sp__merge_release(&m);
	free(inputs[0].text);
	free(inputs[0].span);
	sp_keyset_free(ks);
}

int main(void)
{
	locales_here();
	for (size_t o = 0; o < ORDERS; o++)
		one_order(&orders[o]);
	last_line();
	return done();
}
