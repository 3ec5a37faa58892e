/* SPDX-License-Identifier: MIT */
/*
 * Writes the trace of block requests.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/linefile.h"
#include "obs/trace.h"

/* Maximum length of the numbers of a line, and some reserve. */
#define FIGURES_BYTES 160
/* A longer name, escaped, is cut; it stays one word of one line. */
#define NAME_BYTES 8192

_Static_assert(NAME_BYTES + FIGURES_BYTES <= SP__LINEFILE_MAX, "a line fits");

struct sp__trace {
	struct sp__linefile *lines;
	uint64_t opened_ns;
	sp__trace_clock_fn *virtual_ns; /* NULL: the real clock */
	const void *clock;
};

int sp__trace_open(struct sp__trace **out, const char *path, struct sp_errinfo *err)
{
	static const char head[] = "# spindle-trace/1\n"
				   "# op volume offset bytes prio submit_ns done_ns result\n";
	struct sp__trace *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return sp__err(err, -ENOMEM, "open", path, -1);
	rc = sp__linefile_open(&t->lines, path, err);
	if (rc < 0) {
		free(t);
		return rc;
	}
	sp__linefile_end(t->lines, stpcpy(sp__linefile_begin(t->lines), head));
	t->opened_ns = sp__now_ns();
	*out = t;
	return 0;
}

/* Writes a name as one word of printable bytes; other bytes become %XX.  Returns its end. */
static char *put_name(char *to, const char *name)
{
	static const char hex[] = "0123456789ABCDEF";
	const char *end = to + NAME_BYTES - 3;

	for (; *name && to < end; name++) {
		unsigned char c = (unsigned char)*name;

		if (c > ' ' && c != '%' && c != 0x7f) {
			*to++ = (char)c;
		} else {
			*to++ = '%';
			*to++ = hex[c >> 4];
			*to++ = hex[c & 15];
		}
	}
	return to;
}

void sp__trace_virtual(struct sp__trace *t, sp__trace_clock_fn *now_ns, const void *clock)
{
	t->opened_ns = 0;
	t->virtual_ns = now_ns;
	t->clock = clock;
}

uint64_t sp__trace_now_ns(const struct sp__trace *t)
{
	return t->virtual_ns ? t->virtual_ns(t->clock) : sp__now_ns();
}

void sp__trace_request(struct sp__trace *t, char op, const char *volume, uint64_t offset,
		       uint32_t bytes, unsigned prio, uint64_t submit_ns, uint64_t done_ns,
		       int result)
{
	char *to = sp__linefile_begin(t->lines);

	*to++ = op;
	*to++ = ' ';
	to = put_name(to, volume && *volume ? volume : "-");
	to += snprintf(to, FIGURES_BYTES,
		       " %" PRIu64 " %" PRIu32 " %u %" PRId64 " %" PRId64 " %d\n", offset, bytes,
		       prio, (int64_t)(submit_ns - t->opened_ns), (int64_t)(done_ns - t->opened_ns),
		       result);
	sp__linefile_end(t->lines, to);
}

int sp__trace_close(struct sp__trace *t, struct sp_errinfo *err)
{
	int rc;

	if (!t)
		return 0;
	rc = sp__linefile_close(t->lines, err);
	free(t);
	return rc;
}
