/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <spindle/error.h>
#include "msg.h"
#include "vdisk.h"

/* A JSON string; what is no printable UTF-8 becomes an escape of C. */
static void put_string(FILE *f, const char *name, const char *text)
{
	size_t bytes;
	char *shown;

	fprintf(f, "  \"%s\": ", name);
	if (!text) {
		fputs("null,\n", f);
		return;
	}
	bytes = sp_printable(NULL, 0, text, SP_PRINTABLE_UTF8 | SP_PRINTABLE_ESCAPED) + 1;
	shown = must_alloc(NULL, bytes, 1);
	sp_printable(shown, bytes, text, SP_PRINTABLE_UTF8 | SP_PRINTABLE_ESCAPED);
	putc('"', f);
	for (const char *p = shown; *p; p++) {
		if (*p == '"' || *p == '\\')
			putc('\\', f);
		putc(*p, f);
	}
	fputs("\",\n", f);
	free(shown);
}

static void put_number(FILE *f, const char *name, uint64_t n)
{
	fprintf(f, "  \"%s\": %" PRIu64 ",\n", name, n);
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void put_requests(FILE *f, const struct sp_vdrive_stats *d)
{
	put_number(f, "requests", d->reads + d->writes + d->flushes);
	put_number(f, "reads", d->reads);
	put_number(f, "writes", d->writes);
	put_number(f, "flushes", d->flushes);
	put_number(f, "read_bytes", d->read_bytes);
	put_number(f, "write_bytes", d->write_bytes);
	put_number(f, "outstanding", d->outstanding);
	put_number(f, "pieces", d->pieces);
	put_number(f, "merges", d->merges);
	put_number(f, "dispatched", d->dispatched);
	put_number(f, "seeks", d->seeks);
	put_number(f, "hits", d->hits);
	fprintf(f, "  \"busy_s\": %.6f,\n", (double)d->busy_ns / 1e9);
	fprintf(f, "  \"response_us\": {\"mean\": %.3f, \"max\": %.3f},\n",
		d->completed ? us(d->response_ns) / (double)d->completed : 0,
		us(d->longest_response_ns));
}

char *status_text(struct server *s)
{
	struct sp_vdrive_info info;
	struct sp_vdrive_stats d;
	struct lateness late;
	uint64_t began;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	pthread_mutex_lock(&s->pace.lock);
	sp_vdrive_info(s->pace.drive, &info);
	sp_vdrive_stats(s->pace.drive, &d);
	late = s->pace.late;
	began = s->pace.begin_ns;
	fputs("{\n  \"schema\": \"spindle.vdisk/1\",\n", f);
	put_string(f, "model", info.model);
	put_string(f, "kind", info.kind);
	pthread_mutex_unlock(&s->pace.lock);
	put_string(f, "spec", s->options->spec);
	put_string(f, "backing", s->options->backing);
	put_string(f, "loop", s->loop);
	put_number(f, "bytes", s->bytes);
	put_number(f, "block_bytes", info.block_bytes);
	put_number(f, "dilation", s->options->dilation);
	fprintf(f, "  \"floor_us\": %.3f,\n", us(s->floor_ns));
	fprintf(f, "  \"elapsed_s\": %.6f,\n",
		(double)(clock_now_ns() - began) / 1e9 / (double)s->options->dilation);
	put_requests(f, &d);
	fprintf(f, "  \"late_us\": {\"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f}\n}\n",
		us(lateness_quantile(&late, 0.5)), us(lateness_quantile(&late, 0.99)),
		us(late.max_ns));
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
