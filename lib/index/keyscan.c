/* SPDX-License-Identifier: MIT */
/*
 * Scans a source record by record; checksums its bytes as they come.
 */
#include <stdio.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "index/keyscan.h"
#include "rec/recfmt.h"

struct state {
	struct sp__keyscan *k;
	struct sp__scan *scan;
	XXH3_state_t *sum;
	uint64_t offset; /* of the next record */
	struct sp__keybuf key;
};

static int no_memory(const struct state *s)
{
	return sp__err(s->k->scan.err, -ENOMEM, "read", s->k->scan.inputs[0], -1);
}

/* The scan can add a terminator to the last record; the file does not have it. */
static void add_bytes(struct state *s, const char *data, size_t bytes)
{
	uint64_t left = s->k->source_bytes - sp__min(s->offset, s->k->source_bytes);

	XXH3_64bits_update(s->sum, data, sp__min(bytes, left));
}

static int take_records(struct state *s, const struct sp_batch *batch)
{
	const struct sp_recfmt *f = &s->k->scan.format;
	const char *at = batch->data, *end = at + batch->bytes, *next;
	int rc = 0;

	add_bytes(s, batch->data, batch->bytes);
	for (; !rc && at < end; at = next) {
		struct sp__keymatch match = { .offset = s->offset };

		next = sp__rec_end(f, at, (size_t)(end - at));
		match.bytes = (size_t)(next - at) - sp__rec_term(f);
		if (sp__indexkey_of_record(s->k->key, at, match.bytes, &s->key))
			return no_memory(s);
		rc = s->k->each(s->k->arg, s->key.data, s->key.bytes, &match);
		s->offset += (uint64_t)(next - at);
		s->k->records++;
	}
	return rc;
}

static int run(struct state *s)
{
	struct sp__waits waits = { 0 };
	struct sp__scan_opts o = s->k->scan;
	struct sp_batch batch;
	bool header_seen = false;
	int rc;

	o.waits = &waits;
	s->sum = XXH3_createState();
	if (!s->sum)
		return no_memory(s);
	XXH3_64bits_reset(s->sum);
	rc = sp__scan_open(&s->scan, &o);
	if (rc)
		return rc;
	while ((rc = sp__iter_next(&(struct sp__iter){ s->scan, sp__scan_next }, &waits, &batch)) >=
	       0) {
		struct sp_batch header;

		if (!header_seen) {
			sp__scan_header(s->scan, &header);
			add_bytes(s, header.data, header.bytes);
			s->offset = header.bytes;
		}
		header_seen = true;
		if (rc == SP_END)
			break;
		rc = take_records(s, &batch);
		if (rc < 0)
			break;
	}
	return rc;
}

int sp__keyscan_run(struct sp__keyscan *k)
{
	struct state s = { .k = k };
	int rc = run(&s);

	if (s.scan) {
		k->read_bytes = sp__scan_bytes(s.scan);
		sp__scan_counters(s.scan, &k->io);
		snprintf(k->engine, sizeof(k->engine), "%s", sp__scan_engine(s.scan));
	}
	if (s.sum)
		k->checksum = XXH3_64bits_digest(s.sum);
	sp__scan_close(s.scan);
	sp__keybuf_release(&s.key);
	XXH3_freeState(s.sum);
	return rc;
}
