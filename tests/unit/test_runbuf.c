/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "keysets.h"
#include "sort/records/runbuf.h"
#include "tap.h"

#define MEMORY 8192

static char memory[MEMORY] __attribute__((aligned(64)));

/* Fills buffer after buffer with the text; each must return the records that it took. */
static bool round_trip(const struct sp_keyset *ks, const char *text, size_t bytes)
{
	struct sp__runbuf rb;
	size_t at = 0, taken = 1;
	bool good = true;

	sp__runbuf_init(&rb, ks);
	while (at < bytes && good && taken) {
		size_t seen = at, len;

		sp__runbuf_use(&rb, memory, MEMORY);
		good = sp__runbuf_add(&rb, text + at, bytes - at, &taken) == 0;
		good &= taken == rb.record_bytes && (!taken || text[at + taken - 1] == '\n');
		/* Entries are stored last first. */
		for (size_t i = rb.n; i > 0 && good; i--) {
			const char *rec = sp__runbuf_record(&rb, &rb.entries[i - 1], &len);

			good = !memcmp(rec, text + seen, len);
			seen += len;
		}
		good &= seen == at + taken;
		at += taken;
	}
	sp__runbuf_release(&rb);
	return good && at == bytes;
}

static void takes_what_fits(const struct order *o)
{
	struct sp_keyset *ks = order_open(o);
	static char text[200000];
	struct sp__rng rng = { 4 };
	bool good = true;

	if (!ks) {
		skip(o->name, "needs its locale in build/locale");
		return;
	}
	for (enum line_shape s = 0; s < LINE_SHAPES; s++) {
		size_t bytes = 0;

		for (unsigned i = 0; bytes < sizeof(text) - 1500; i++)
			bytes += line_make(text + bytes, s, &rng, i);
		good &= round_trip(ks, text, bytes);
	}
	ok(good, "%s: full buffers hold whole records, byte for byte", o->name);
	sp_keyset_free(ks);
}

static size_t add_text(struct sp__runbuf *rb, const char *text)
{
	size_t taken;

	if (sp__runbuf_add(rb, text, strlen(text), &taken))
		abort();
	return taken;
}

static void notices_order(void)
{
	struct sp_keyset *ks = order_open(&orders[6]); /* numbers */
	struct sp__runbuf rb;

	sp__runbuf_init(&rb, ks);
	sp__runbuf_use(&rb, memory, MEMORY);
	add_text(&rb, "1\n2\n");
	add_text(&rb, "2\n10\n");
	ok(rb.ordered, "input in order is noticed, over several spans");
	add_text(&rb, "9\n");
	ok(!rb.ordered, "one record out of order is noticed");
	sp__runbuf_use(&rb, memory, MEMORY);
	ok(rb.ordered && rb.n == 0, "an emptied buffer starts over");
	sp__runbuf_release(&rb);
	sp_keyset_free(ks);
}

static void keeps_first(void)
{
	struct order o = { "", { "1,1n" }, "u", NULL };
	struct sp_keyset *ks = order_open(&o);
	struct sp__runbuf rb;
	char got[64] = "";
	size_t len;

	sp__runbuf_init(&rb, ks);
	sp__runbuf_use(&rb, memory, MEMORY);
	add_text(&rb, "2 x\n1 a\n2.0 y\n01 b\n1 c\n3\n");
	sp__runbuf_sort(&rb);
	sp__runbuf_unique(&rb);
	for (size_t i = 0; i < rb.n; i++) {
		const char *rec = sp__runbuf_record(&rb, &rb.entries[i], &len);

		strncat(got, rec, len);
	}
	ok(!strcmp(got, "1 a\n2 x\n3\n"), "of equal keys the first in the input is kept");
	ok(rb.record_bytes == strlen(got), "dropped records are not counted");
	sp__runbuf_release(&rb);
	sp_keyset_free(ks);
}

/* Whatever the key, memory of the size asked for then holds the record. */
static void long_record(const struct order *o, size_t bytes)
{
	struct sp_keyset *ks = order_open(o);
	char *line = malloc(bytes), *mem;
	struct sp__runbuf rb;
	size_t taken, need, len;
	const char *rec;

	if (!line)
		abort();
	for (size_t i = 0; i < bytes; i++)
		line[i] = "1.a9.b2~"[i % 8];
	line[bytes - 1] = '\n';
	sp__runbuf_init(&rb, ks);
	sp__runbuf_use(&rb, memory, 1024);
	if (sp__runbuf_add(&rb, line, bytes, &taken))
		abort();
	ok(taken == 0 && rb.n == 0, "%s: a record of %zu bytes is not taken in part", o->name,
	   bytes);
	need = (sp__runbuf_need(&rb, bytes) + 15) & ~(size_t)15;
	mem = aligned_alloc(16, need);
	sp__runbuf_use(&rb, mem, need);
	if (!mem || sp__runbuf_add(&rb, line, bytes, &taken))
		abort();
	ok(taken == bytes, "%s: it fits into the memory computed for it", o->name);
	if (taken) {
		rec = sp__runbuf_record(&rb, &rb.entries[0], &len);
		ok(len == bytes && !memcmp(rec, line, bytes), "%s: and comes out whole", o->name);
	}
	sp__runbuf_release(&rb);
	sp_keyset_free(ks);
	free(mem);
	free(line);
}

int main(void)
{
	static const struct order many = { "four keys", { "1V", "1V", "1V" }, "", NULL };

	locales_here();
	for (size_t o = 0; o < ORDERS; o++)
		takes_what_fits(&orders[o]);
	notices_order();
	keeps_first();
	long_record(&orders[0], 5000);
	long_record(&orders[6], 5000);
	long_record(&orders[10], 5000);
	long_record(&many, 5000);
	long_record(&orders[0], 17u << 20);
	long_record(&orders[6], 17u << 20);
	return done();
}
