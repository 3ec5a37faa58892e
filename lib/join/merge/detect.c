/* SPDX-License-Identifier: MIT */
/*
 * Tests whether files seem to be sorted.  Examines samples spread evenly over each; keys must
 * ascend within a sample, and from one to the next.  Unsorted files are nearly always detected at
 * the first sample.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/minmax.h"
#include "join/plan/plan.h"
#include "join/keys/keyorder.h"
#include "join/merge/presorted.h"

#define SAMPLE_BYTES 4096u
#define SAMPLES 16
#define SAMPLE_KEYS 64

#define ORDER_BIT(by) (1u << (by))

struct look {
	struct sp__cut cut;
	struct sp_recfmt format;
	size_t field;
	const unsigned char *upper;
	char sample[2][SAMPLE_BYTES]; /* the current and the previous one */
	struct sp__slice last;	      /* last key; p NULL: none yet */
	unsigned orders;	      /* orders that hold so far */
	unsigned keys;		      /* seen in this file */
};

static void look_at_key(struct look *l, const char *line, size_t bytes)
{
	struct sp__keyorder order = { .by = SP_JOIN_SORTED_BYTES, .upper = l->upper };
	struct sp__slice key;

	sp__field_find(&l->cut, line, bytes, l->field, &key);
	if (l->cut.kind == SP__CUT_CSV && key.n && *key.p == '"')
		l->orders = 0;
	for (; l->last.p && order.by <= SP_JOIN_SORTED_LENGTH; order.by++)
		if (sp__keyorder_compare(&order, &l->last, &key) > 0)
			l->orders &= ~ORDER_BIT(order.by);
	l->last = key;
	l->keys++;
}

/* first: the sample is at the beginning of the file. */
static void look_at_sample(struct look *l, const char *p, size_t bytes, bool first, bool header)
{
	const char *end = p + bytes, *next;
	bool skip = header || !first, any = false;
	const unsigned most = l->keys + SAMPLE_KEYS;

	for (;
	     l->orders && l->keys < most && (next = sp__rec_end(&l->format, p, (size_t)(end - p)));
	     p = next) {
		if (!skip)
			look_at_key(l, p, (size_t)(next - p) - sp__rec_term(&l->format));
		any |= !skip;
		skip = false;
	}
	/* The next sample overwrites this one. */
	if (!any)
		l->last.p = NULL;
}

static void look_at_file(struct look *l, int fd, uint64_t size, bool header)
{
	uint64_t rest = size > SAMPLE_BYTES ? size - SAMPLE_BYTES : 0;
	/* Samples that overlap would not have ascending keys. */
	unsigned n = (unsigned)sp__max(sp__min(size / SAMPLE_BYTES, SAMPLES), 1);

	for (unsigned i = 0; i < n && l->orders; i++) {
		uint64_t from = n > 1 ? rest / (n - 1) * i : 0;
		ssize_t got;

		got = pread(fd, l->sample[i % 2], SAMPLE_BYTES, (off_t)from);
		if (got < 0)
			l->orders = 0;
		else
			look_at_sample(l, l->sample[i % 2], (size_t)got, !from, header && !from);
	}
}

/* Tests the order of the keys of a file, by samples. */
static bool look_at_input(struct look *l, const char *name, bool header)
{
	struct stat st;
	int fd;

	if (!strcmp(name, "-") || stat(name, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	l->last.p = NULL;
	l->keys = 0;
	look_at_file(l, fd, (uint64_t)st.st_size, header);
	close(fd);
	return l->keys >= 2;
}

enum sp_join_sorted sp__join_detect(const struct sp_join_opts *o, const char *const inputs[2])
{
	struct look l;

	if (!o->nkeys || !sp__join_mergeable(o))
		return SP_JOIN_UNSORTED;
	sp__cut_init(&l.cut, o->separator, o->separator_bytes, o->csv);
	l.upper = o->ignore_case ? l.cut.upper : NULL;
	l.format = sp__join_format(o, 0);
	l.orders = ORDER_BIT(SP_JOIN_SORTED_BYTES) | ORDER_BIT(SP_JOIN_SORTED_LENGTH);
	for (int i = 0; i < 2 && l.orders; i++) {
		l.field = o->keys[i][0];
		if (!look_at_input(&l, inputs[i], o->header))
			l.orders = 0;
	}
	return l.orders & ORDER_BIT(SP_JOIN_SORTED_BYTES)    ? SP_JOIN_SORTED_BYTES
	       : l.orders & ORDER_BIT(SP_JOIN_SORTED_LENGTH) ? SP_JOIN_SORTED_LENGTH
							     : SP_JOIN_UNSORTED;
}
