/* SPDX-License-Identifier: MIT */
/*
 * Finds where a part of a text ends, and limits how many of several threads read parts at a time
 * (parts.h).
 */
#include <errno.h>
#include <stdlib.h>
#include "base/delay.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "flow/parts.h"

/* A reader that waited for at most this share of its chunks is slower than the device. */
#define SELDOM_SHARE 8
/* One that waited for at least this share is faster. */
#define MOSTLY_SHARE 2

void sp__turns_open(struct sp__turns *t, unsigned max)
{
	*t = (struct sp__turns){ .allowed = 1, .max = max };
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
}

void sp__turns_close(struct sp__turns *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

void sp__turns_take(struct sp__turns *t)
{
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&t->lock);
	while (t->taken >= t->allowed && !t->stopped)
		pthread_cond_wait(&t->changed, &t->lock);
	t->taken++;
	pthread_mutex_unlock(&t->lock);
}

void sp__turns_give(struct sp__turns *t, uint64_t chunks, uint64_t waited)
{
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&t->lock);
	t->taken--;
	if (waited * SELDOM_SHARE <= chunks && t->allowed < t->max)
		t->allowed++;
	else if (waited * MOSTLY_SHARE >= chunks && t->allowed > 1)
		t->allowed--;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

void sp__turns_stop(struct sp__turns *t)
{
	pthread_mutex_lock(&t->lock);
	t->stopped = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

#define LINE_BYTES 4096u
#define CSV_BYTES (UINT64_C(64) << 10) /* around a cut, to assume the state of quotes */

/* Sets *cut to the end of the line that has the byte before `at`, or to the end of the file. */
static int cut_line(const struct sp_recfmt *f, int fd, uint64_t at, uint64_t end, uint64_t *cut)
{
	char buf[LINE_BYTES];
	const char *e;
	ssize_t n;

	for (at--; at < end; at += (uint64_t)n) {
		n = sp__read_whole(fd, buf, sp__min(sizeof(buf), end - at), at);
		if (n <= 0)
			return n < 0 ? (int)n : -ENODATA;
		e = sp__line_end(buf, (size_t)n, f->eol);
		if (e) {
			*cut = at + (uint64_t)(e - buf);
			return 0;
		}
	}
	*cut = end;
	return 0;
}

/* Sets *cut to the end of the record that seems to be at `at`, or to the end of the file. */
static int cut_csv(const struct sp_recfmt *f, int fd, uint64_t at, uint64_t end, uint64_t *cut)
{
	struct sp__file_piece around;
	char *buf = malloc(2 * CSV_BYTES);
	ssize_t n = 0;
	bool found = false;

	for (; buf && !found && at < end; at += CSV_BYTES) {
		uint64_t from = at - sp__min(at, CSV_BYTES);
		size_t first, last;

		n = sp__read_whole(fd, buf, sp__min(2 * CSV_BYTES, end - from), from);
		if (n < 0 || from + (uint64_t)n <= at)
			break;
		around =
			(struct sp__file_piece){ buf, (size_t)n, !from, from + (uint64_t)n == end };
		found = sp__rec_around(f, &around, (size_t)(at - from), &first, &last);
		*cut = from + last;
	}
	free(buf);
	if (!found)
		*cut = end;
	return !buf ? -ENOMEM : n < 0 ? (int)n : 0;
}

int sp__part_cut(const struct sp_recfmt *f, int fd, uint64_t at, uint64_t end, uint64_t *cut)
{
	return f->kind == SP_REC_CSV ? cut_csv(f, fd, at, end, cut) : cut_line(f, fd, at, end, cut);
}
