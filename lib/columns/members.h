/* SPDX-License-Identifier: MIT */
/*
 * Reads records of JSON, one object each: their members, and the columns that have their values.
 *
 * A member of an object in an object has the path "a.b", which is the name of its column.  A name
 * with a dot in it has the same path as the members that it looks like.
 *
 * Thread rule: one thread adds members.  After sp__members_bind() they are immutable, and each
 * thread reads with a reader of its own.
 */
#pragma once

#include "base/hashtable.h"
#include "columns/schema.h"
#include "rec/jsonread.h"

#define SP__MEMBER_NONE UINT32_MAX
#define SP__MEMBER_SHOWN 64 /* bytes of a path in a message */

enum sp__member_form {
	SP__MEMBER_UNKNOWN, /* only null so far */
	SP__MEMBER_VALUE,
	SP__MEMBER_OBJECT, /* an object, whose members have the values */
};

struct sp__json_member {
	char *path;
	uint32_t bytes; /* bytes of the path */
	enum sp__member_form form;
	bool whole;	/* a described column of text: it has objects as they are written, too */
	unsigned kinds; /* set of the kinds of its values */
	/* Set by sp__members_bind(): */
	uint32_t column; /* SP__MEMBER_NONE: none */
	bool raw;	 /* its values are stored as they are written */
	bool no_text;	 /* it has no texts: its type was inferred from other values */
	bool counted;	 /* its type was not chosen by the user: values made texts are counted */
};

struct sp__members {
	struct sp__json_member *list;
	uint32_t n, values;		    /* values: members that are not objects */
	struct sp__hashtable table;	    /* by path */
	const struct sp__schema *described; /* borrowed, may be NULL: columns that the user named */
};

void sp__members_free(struct sp__members *m);
/* Returns the number of the member with a path; SP__MEMBER_NONE: there is none. */
uint32_t sp__members_find(const struct sp__members *m, const char *path, size_t n);
/* Returns the number of a new member with a path; SP__MEMBER_NONE: no memory. */
uint32_t sp__members_add(struct sp__members *m, const char *path, size_t n,
			 enum sp__member_form form);
/*
 * Gives the members of the columns of a schema their columns, and adds those that are missing.
 * inferred: columns whose types were inferred; NULL: the table is there, and gets further records.
 * Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__members_bind(struct sp__members *m, const struct sp__schema *s,
				   const bool *inferred);

/* Why a record cannot be read. */
enum sp__member_fault {
	SP__MEMBER_SOUND,
	SP__MEMBER_SYNTAX,     /* it is not JSON; at and wanted say where and why */
	SP__MEMBER_NOT_OBJECT, /* its value is not an object */
	SP__MEMBER_NAME,       /* a name cannot be that of a column */
	SP__MEMBER_MANY,       /* it has more members than a table can have columns */
	SP__MEMBER_NEW,	       /* a member is not among those that are known */
	SP__MEMBER_IS_OBJECT,  /* a member is an object, and was none before */
	SP__MEMBER_IS_VALUE,   /* a member is not an object, and was one before */
	SP__MEMBER_IS_TEXT,    /* a member is a text, and was none before */
};

struct sp__member_error {
	enum sp__member_fault fault;
	size_t at; /* offset in the record */
	const char *wanted;
	enum sp__json_kind kind; /* of the value */
	char path[SP__MEMBER_SHOWN + 1];
};

/* Takes the value of a member; missing: it has none.  Returns 0, or an error that ends the read. */
typedef int sp__member_take(void *arg, uint32_t member, const struct sp__json_value *value);

/* The last record that had a member, and the length of the path of the object it was in. */
struct sp__member_seen {
	uint64_t record;
	size_t inside;
};

struct sp__member_reader {
	struct sp__members *members;
	bool learn; /* adds members that are new */
	sp__member_take *take;
	void *arg;
	struct sp__member_error error; /* of the record that was read last */
	uint64_t repeated;	       /* members whose names were there before in their object */
	/* Own. */
	uint64_t record;
	struct sp__member_seen *seen; /* of each member */
	size_t prefix;		      /* length of the path of the object that is read */
	size_t nseen;
	uint32_t next; /* the member that probably follows */
	char path[SP__COLUMN_NAME_MAX + 8];
};

/*
 * Reads a record, and has the values of its members taken.  If a name is there twice in an object,
 * that of the first one is taken before.  Returns 0; SP_EFORMAT with r->error; -ENOMEM; or the
 * error of take().
 */
SP_MUST_CHECK int sp__member_read(struct sp__member_reader *r, const char *rec, size_t bytes);
/* Records a fault of a member.  Returns SP_EFORMAT. */
int sp__member_refuse(struct sp__member_reader *r, enum sp__member_fault fault, const char *path,
		      size_t n, const struct sp__json_value *value);
void sp__member_reader_free(struct sp__member_reader *r);
/* True if a line has only blanks. */
bool sp__member_blank(const char *line, size_t n);
