/* SPDX-License-Identifier: MIT */
/*
 * A report is one JSON document.  What is unknown is null; a number that is
 * not finite is unknown.
 */
#ifndef SP__REPORT_DOC_H
#define SP__REPORT_DOC_H

#include <stdint.h>
#include <jansson.h>
#include <spindle/report.h>

struct sp_report {
	json_t *doc;
};

/*
 * Members of an object under construction.  A failed allocation is noted in
 * failed and leaves the member out; the caller checks it once, at the end.
 */
struct sp__doc {
	json_t *object;
	bool *failed;
};

void sp__doc_put(struct sp__doc doc, const char *key, json_t *value);	   /* steals value */
void sp__doc_text(struct sp__doc doc, const char *key, const char *value); /* NULL: null */
void sp__doc_bool(struct sp__doc doc, const char *key, bool value);
void sp__doc_count(struct sp__doc doc, const char *key, uint64_t value);
void sp__doc_known(struct sp__doc doc, const char *key, uint64_t value); /* 0: null */
void sp__doc_real(struct sp__doc doc, const char *key, double value);
/* The members of a struct that its table lists. */
void sp__doc_fields(struct sp__doc doc, const struct sp_report_field *fields, const void *base);
struct sp__doc sp__doc_object(struct sp__doc doc, const char *key);
json_t *sp__doc_array(struct sp__doc doc, const char *key);
struct sp__doc sp__doc_element(struct sp__doc doc, json_t *array);

/* A document of its own as one line: 0, or an error.  It is freed. */
int sp__doc_line(struct sp__doc doc, FILE *out);

/* The report with schema, tool and version; NULL if memory is short. */
struct sp_report *sp__report_new(const char *schema, const char *tool, bool *failed,
				 struct sp__doc *doc);
/* The report, or NULL and no report if something is missing in it. */
struct sp_report *sp__report_done(struct sp_report *report, bool failed);

#endif
