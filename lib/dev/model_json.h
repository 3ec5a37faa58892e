/* SPDX-License-Identifier: MIT */
/*
 * Reads the fields of a JSON object strictly: a field has a type and a range, can be missing only
 * if it has a default, and must be known.
 *
 * The first failure is kept in the object (rc) and in err, with the file, the field's path
 * ("zones[3].spt") and the reason.  After it all reads return their defaults, so the caller checks
 * once, at sp__jclose().
 */
#pragma once

#include <jansson.h>
#include <spindle/error.h>

/* Returns 0 if there is a document; otherwise why there is none: SP_EFORMAT or -ENOMEM. */
SP_MUST_CHECK int sp__json_result(const json_t *doc, const char *file, const json_error_t *cause,
				  struct sp_errinfo *err);
/* Loads the document of a file.  Returns the errors of sp__json_result(), or -errno. */
SP_MUST_CHECK int sp__json_load(json_t **doc, const char *path, struct sp_errinfo *err);
/* Loads the document of an open file, which it closes. */
SP_MUST_CHECK int sp__json_read(json_t **doc, int fd, const char *path, struct sp_errinfo *err);

#define SP__JREQUIRED (-1) /* default of numbers that must be given */
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

/* Opens an object. obj may be NULL or of another type: that is the first failure. */
void sp__jopen(struct sp__jobj *o, const json_t *obj, const char *file, const char *where,
	       struct sp_errinfo *err);
/* Opens a field that is an object.  Returns false if it is missing or a failure was reported. */
bool sp__jchild(struct sp__jobj *o, struct sp__jobj *top, const char *field);
/* Closes an object; unknown fields are failures.  Returns rc. */
int sp__jclose(struct sp__jobj *o);
/* Reports a field, or the whole object if field is NULL. Returns rc. */
int sp__jfail(struct sp__jobj *o, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Reports that there is no memory. Returns rc. */
int sp__jnomem(struct sp__jobj *o);
/* Returns the field, or NULL if it is missing; marks it as known. */
const json_t *sp__jget(struct sp__jobj *o, const char *field);
bool sp__jhas(const struct sp__jobj *o, const char *field);

/* Reads an integer between min and max. */
int64_t sp__jint(struct sp__jobj *o, const char *field, int64_t min, int64_t max, int64_t dflt);
/* Reads a number between min and max. */
double sp__jreal(struct sp__jobj *o, const char *field, double min, double max, double dflt);
/* Reads milliseconds from 0 to an hour; returns nanoseconds. */
uint64_t sp__jms(struct sp__jobj *o, const char *field, double dflt_ms);
/* Reads a boolean; false if it is missing. */
bool sp__jbool(struct sp__jobj *o, const char *field);
/* Reads a string, which lives as long as the object; NULL if it is missing. */
const char *sp__jstring(struct sp__jobj *o, const char *field);
/* Reads one of the names, which NULL ends.  Returns its index; dflt if it is missing. */
int sp__jword(struct sp__jobj *o, const char *field, const char *const *words, int dflt);
/* Returns an array of min..max members; NULL if it is missing or a failure was reported. */
const json_t *sp__jarray(struct sp__jobj *o, const char *field, size_t min, size_t max);
/*
 * Reads member i of an array field as a number; reports a failure and returns false if it is not
 * one.
 */
bool sp__jnumber(struct sp__jobj *o, const char *field, size_t i, const json_t *v, double min,
		 double max, double *out);
/*
 * Reads an array of rows, each of least to most integers up to max; form describes it to the user.
 * A lone number is a row of one.  Returns rows of `most` numbers, padded with 0, which the caller
 * frees; NULL with *n = 0 if there are none or a failure was reported.
 */
uint64_t *sp__jrows(struct sp__jobj *o, const char *field, size_t least, size_t most,
		    const char *form, double max, size_t *n);

/*
 * Parse the kind's part of a model file; set ops, impl and blocks.  Return 0, SP_EFORMAT or
 * -ENOMEM.
 */
int sp__drive_parse(struct sp__jobj *o, struct sp__model *m);
int sp__linear_parse(struct sp__jobj *o, struct sp__model *m);
int sp__flash_parse(struct sp__jobj *o, struct sp__model *m);
int sp__mems_parse(struct sp__jobj *o, struct sp__model *m);
