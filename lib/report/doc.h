/* SPDX-License-Identifier: MIT */
/*
 * A report is one JSON document.  What is unknown is null; a number that is
 * not finite is unknown.
 */
#ifndef SP__REPORT_DOC_H
#define SP__REPORT_DOC_H

#include <stdint.h>
#include <jansson.h>
#include "report/documents.h"

struct sp_report {
	json_t *doc;
	bool failed; /* something is missing in it */
};

/*
 * An object under construction.  A failed allocation leaves a member out and is noted in the
 * report, which sp__report_done() checks once, at the end.
 */
struct sp__doc {
	json_t *object;
	struct sp_report *report; /* NULL: memory was short from the beginning */
};

/* A key "outer.inner" is the member inner of the object outer. */
void sp__doc_put(struct sp__doc doc, const char *key, json_t *value);	   /* steals value */
void sp__doc_text(struct sp__doc doc, const char *key, const char *value); /* NULL: null */
void sp__doc_bool(struct sp__doc doc, const char *key, bool value);
void sp__doc_count(struct sp__doc doc, const char *key, uint64_t value);
void sp__doc_known(struct sp__doc doc, const char *key, uint64_t value); /* 0: null */
void sp__doc_real(struct sp__doc doc, const char *key, double value);
void sp__doc_null(struct sp__doc doc, const char *key);
/* The members of a struct that its table lists. */
void sp__doc_fields(struct sp__doc doc, const struct sp_report_field *fields, const void *base);
/* Null for all of them. */
void sp__doc_nulls(struct sp__doc doc, const struct sp_report_field *fields);
/* The object key, which is made if there is none. */
struct sp__doc sp__doc_object(struct sp__doc doc, const char *key);
/* Of struct sp_no_effect. */
extern const struct sp_report_field sp__no_effect_fields[];
/* An array of texts. */
void sp__doc_names(struct sp__doc doc, const char *key, const char *const *names, size_t n);
json_t *sp__doc_array(struct sp__doc doc, const char *key);
void sp__doc_append(struct sp__doc doc, json_t *array, json_t *value); /* steals value */
struct sp__doc sp__doc_element(struct sp__doc doc, json_t *array);

/* An empty report; and one with schema, tool and version, and the kind if the schema has kinds. */
struct sp__doc sp__report_empty(void);
struct sp__doc sp__report_new(enum sp__document_kind kind);
/* The same of a capability outside of the library. */
struct sp__doc sp__report_named(const char *schema, const char *tool);
/* The report, or NULL and no report if something is missing in it. */
struct sp_report *sp__report_done(struct sp__doc doc);
/*
 * A copy of the document, all of whose strings are as a terminal can show them (sp_printable()):
 * what texts are made from.  The caller releases it.  NULL if memory is short.
 */
json_t *sp__doc_printable(const struct sp_report *report);
/* Frees the report, of one interval, after it is written as one line: 0, or an error. */
int sp__report_line(struct sp__doc doc, FILE *out);

/*
 * Rows of tables: a member of struct sp_OF; an array whose number is the member n; a value that is
 * computed, and set after the others; an object or an array that the table does not write; all
 * rows of another table.
 */
#define FIELD(of, ...) SP_REPORT_FIELD(struct sp_##of, __VA_ARGS__)
#define ELEMENTS(of, key_, type_, member, n, fields_, about_, ...)                                 \
	{                                                                                          \
		.key = key_, .type = SP_REPORT_##type_, .about = about_,                           \
		.offset = offsetof(struct sp_##of, member),                                        \
		.bytes = sizeof(((struct sp_##of *)0)->member[0]),                                 \
		.count = offsetof(struct sp_##of, n), .fields = fields_, ##__VA_ARGS__             \
	}
#define LATER(key_, as_, about_, ...)                                                              \
	{                                                                                          \
		.key = key_, .type = SP_REPORT_NULL, .as = SP_REPORT_##as_, .about = about_,       \
		##__VA_ARGS__                                                                      \
	}
#define GROUP(key_, as_, fields_, about_, ...)                                                     \
	{                                                                                          \
		.key = key_, .type = SP_REPORT_GROUP, .as = SP_REPORT_##as_, .fields = fields_,    \
		.about = about_, ##__VA_ARGS__                                                     \
	}
#define INCLUDE(fields_)                                                                           \
	{                                                                                          \
		.type = SP_REPORT_OBJECT, .fields = fields_                                        \
	}

#endif
