/* SPDX-License-Identifier: MIT */
/*
 * Writes the status of the device as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "vdisk.h"
#include "status.h"

/* Writes a JSON string; bytes that are not printable UTF-8 become escapes of C. */
static void put_string(FILE *f, const char *text)
{
	size_t bytes;
	char *shown;

	if (!text) {
		fputs("null", f);
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
	putc('"', f);
	free(shown);
}

static void put_fields(FILE *f, const struct sp_report_field *fields, const void *base,
		       const char *separator)
{
	for (const struct sp_report_field *r = fields; r->type != SP_REPORT_END; r++) {
		const char *at = (const char *)base + r->offset;

		fprintf(f, "%s\"%s\": ", r == fields ? "" : separator, r->key);
		if (r->type == SP_REPORT_TEXT) {
			put_string(f, at);
		} else if (r->type == SP_REPORT_STRING) {
			put_string(f, *(const char *const *)(const void *)at);
		} else if (r->type == SP_REPORT_REAL) {
			fprintf(f, "%.3f", *(const double *)(const void *)at);
		} else if (r->type == SP_REPORT_SECONDS) {
			fprintf(f, "%.6f", (double)*(const uint64_t *)(const void *)at / 1e9);
		} else if (r->type == SP_REPORT_OBJECT) {
			putc('{', f);
			put_fields(f, r->fields, at, ", ");
			putc('}', f);
		} else {
			fprintf(f, "%" PRIu64, *(const uint64_t *)(const void *)at);
		}
	}
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void fill_in(struct status *t, struct server *s)
{
	struct sp_vdrive_info info;
	const struct sp_vdrive_stats *d = &t->drive;
	struct lateness late;
	uint64_t began;

	pthread_mutex_lock(&s->pace.lock);
	sp_vdrive_info(s->pace.drive, &info);
	sp_vdrive_stats(s->pace.drive, &t->drive);
	snprintf(t->model, sizeof(t->model), "%s", info.model);
	snprintf(t->kind, sizeof(t->kind), "%s", info.kind);
	late = s->pace.late;
	began = s->pace.begin_ns;
	pthread_mutex_unlock(&s->pace.lock);
	t->block_bytes = info.block_bytes;
	t->elapsed_ns = (clock_now_ns() - began) / s->options->dilation;
	t->requests = d->reads + d->writes + d->flushes;
	if (d->completed)
		t->response_us.mean = us(d->response_ns) / (double)d->completed;
	t->response_us.max = us(d->longest_response_ns);
	t->late_us.p50 = us(lateness_quantile(&late, 0.5));
	t->late_us.p99 = us(lateness_quantile(&late, 0.99));
	t->late_us.max = us(late.max_ns);
}

char *status_text(struct server *s)
{
	struct status status = { .spec = s->options->spec,
				 .backing = s->options->backing,
				 .loop = s->loop,
				 .bytes = s->bytes,
				 .dilation = s->options->dilation,
				 .floor_us = us(s->floor_ns) };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fill_in(&status, s);
	fputs("{\n  \"schema\": \"" STATUS_SCHEMA "\",\n  ", f);
	put_fields(f, status_fields, &status, ",\n  ");
	fputs("\n}\n", f);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
