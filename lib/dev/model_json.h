/* SPDX-License-Identifier: MIT */
/*
 * Reading the fields of a JSON object strictly: a field has a type and a
 * range, may be missing only if it has a default, and must be known.
 *
 * The first failure is kept in the object (rc) and in err, with the file, the
 * field's path ("zones[3].spt") and the reason; after it all reads return
 * their defaults, so the caller checks once, at sp__jclose().
 */
#ifndef SP__DEV_MODEL_JSON_H
#define SP__DEV_MODEL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>
#include <spindle/api.h>
#include <spindle/error.h>

/* 0 if there is a document; else why the text is none: SP_EFORMAT, or -ENOMEM. */
SP_MUST_CHECK int sp__json_result(const json_t *doc, const char *file, const json_error_t *cause,
				  struct sp_errinfo *err);
/* The document in a file; also -errno. */
SP_MUST_CHECK int sp__json_load(json_t **doc, const char *path, struct sp_errinfo *err);
/* The same of an open file, which it closes. */
SP_MUST_CHECK int sp__json_read(json_t **doc, int fd, const char *path, struct sp_errinfo *err);

#define SP__JREQUIRED (-1) /* as a default of numbers: there is none */
#define SP__JFIELDS_MAX 40

struct sp__model;

struct sp__jobj {
	const json_t *obj;
	const char *file; /* for messages */
	char where[64];	  /* path of the object with its dot; "" at the top */
	struct sp_errinfo *err;
	int rc;
	unsigned nasked;
	const char *asked[SP__JFIELDS_MAX];
};

/* obj may be NULL or of another type: that is the first failure. */
void sp__jopen(struct sp__jobj *o, const json_t *obj, const char *file, const char *where,
	       struct sp_errinfo *err);
/* Opens a field that is an object; false if it is missing or a failure was reported. */
bool sp__jchild(struct sp__jobj *o, struct sp__jobj *top, const char *field);
/* Unknown fields are failures. Returns rc. */
int sp__jclose(struct sp__jobj *o);
/* Reports a field, or the whole object if field is NULL. Returns rc. */
int sp__jfail(struct sp__jobj *o, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Reports that there is no memory. Returns rc. */
int sp__jnomem(struct sp__jobj *o);
/* The field, NULL if it is missing; marks it as known. */
const json_t *sp__jget(struct sp__jobj *o, const char *field);
bool sp__jhas(const struct sp__jobj *o, const char *field);

/* An integer between min and max. */
int64_t sp__jint(struct sp__jobj *o, const char *field, int64_t min, int64_t max, int64_t dflt);
/* A number between min and max. */
double sp__jreal(struct sp__jobj *o, const char *field, double min, double max, double dflt);
/* Milliseconds from 0 to an hour, as nanoseconds. */
uint64_t sp__jms(struct sp__jobj *o, const char *field, double dflt_ms);
/* False if it is missing. */
bool sp__jbool(struct sp__jobj *o, const char *field);
/* NULL if it is missing; lives as long as the object. */
const char *sp__jstring(struct sp__jobj *o, const char *field);
/* One of the words (NULL ends them): its number; dflt if missing. */
int sp__jword(struct sp__jobj *o, const char *field, const char *const *words, int dflt);
/* An array of min..max members; NULL if it is missing or a failure was reported. */
const json_t *sp__jarray(struct sp__jobj *o, const char *field, size_t min, size_t max);
/* Member i of an array field must be such a number: false and reported otherwise. */
bool sp__jnumber(struct sp__jobj *o, const char *field, size_t i, const json_t *v, double min,
		 double max, double *out);
/*
 * An array of rows of least to most whole numbers up to max, which form describes to the user; a
 * lone number is a row of one.  Returns rows of most numbers, 0 for those not given, for the caller
 * to free; NULL with *n = 0 if there are none or a failure was reported.
 */
uint64_t *sp__jrows(struct sp__jobj *o, const char *field, size_t least, size_t most,
		    const char *form, double max, size_t *n);

/* The kinds' own parts of a model file; 0 or SP_EFORMAT, -ENOMEM. Each sets ops, impl, blocks. */
int sp__drive_parse(struct sp__jobj *o, struct sp__model *m);
int sp__linear_parse(struct sp__jobj *o, struct sp__model *m);
int sp__flash_parse(struct sp__jobj *o, struct sp__model *m);

#endif
