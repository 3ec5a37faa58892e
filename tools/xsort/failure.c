/* SPDX-License-Identifier: MIT */
/*
 * Prints errors of the library as GNU sort does.
 *
 * The library names the operation and the file; GNU's sentence is "OPERATION failed: FILE: reason".
 */
#include <stdio.h>
#include <string.h>
#include "tmpadvice.h"
#include "xsort.h"

/* size up to which GNU sort's output would still be in its stdio buffer at exit */
#define STDIO_BYTES 4096

static bool is(const struct sp_errinfo *err, const char *op)
{
	return err->op && !strcmp(err->op, op);
}

static bool names_output(const struct settings *set, const struct sp_errinfo *err)
{
	if (set->output)
		return !strcmp(err->path, set->output);
	return !err->path[0] || !strcmp(err->path, "-") || !strcmp(err->path, "standard output");
}

/* Reports a failed write; GNU's exit handler reports the stream in error a second time. */
static _Noreturn void output_failed(const struct settings *set, const struct sp_errinfo *err,
				    uint64_t out_bytes)
{
	const char *op = out_bytes < STDIO_BYTES ? "fflush" : "write";
	const char *name = quote_file(set->output ? set->output : "standard output");

	if (err->text[0])
		msg("%s failed: %s: %s", op, name, err->text);
	else
		msg_sys(-err->code, "%s failed: %s", op, name);
	die("write error");
}

/* Returns the end of a message about a folder of temporary data; "" under the name sort. */
static const char *advice(const struct settings *set, const struct sp_errinfo *err)
{
	if (!common_options_temporary(&set->common, err) || !strcmp(msg_program(), "sort"))
		return "";
	return tmpadvice(&set->opts.run, err->code, set->output, space_need(set));
}

/* Reports errors of temporary space and helper programs, which have their own messages. */
static void spill_failed(const struct settings *set, const struct sp_errinfo *err)
{
	if (is(err, "create"))
		die("cannot create temporary file in %s: %s%s", quote_file_always(err->path),
		    strerror(-err->code), advice(set, err));
	if (is(err, "execute"))
		die_sys(-err->code, "could not run compress program %s -d",
			quote_file_always(err->path));
	if (is(err, "wait") && err->code != SP_ECHILD)
		die_sys(-err->code, "%s", err->text);
	if (err->code == SP_ECHILD)
		die("%s %s", quote_file_always(err->path), err->text);
}

static _Noreturn void system_failed(const struct settings *set, const struct sp_errinfo *err)
{
	const char *name = err->path[0] || is(err, "open") ? quote_file(err->path) : "-";
	const char *op = err->op ? err->op : "operation";

	if (err->text[0])
		die("%s failed: %s: %s", op, name, err->text);
	if (*advice(set, err) && (err->code == -ENOSPC || err->code == -EDQUOT))
		die("%s failed: %s: %s%s, and --spill-compression=lz4 needs less space", op, name,
		    strerror(-err->code), advice(set, err));
	die_sys(-err->code, "%s failed: %s", op, name);
}

/* Reports a value that is not of the inferred type. */
static _Noreturn void value_failed(const struct sp_errinfo *err, const char *reason)
{
	const char *column = err->where && sp_columns_is_name(err->where) ? err->where : "price";
	char key[80];

	snprintf(key, sizeof(key), "%.70s:n", column);
	die("%s: %s; give the key a letter, as in -k %s, to compare such values, too, or leave out "
	    "--infer-types to compare text",
	    quote_file(err->path), reason, quote(key));
}

/* Reports an error that the library itself detected. */
static _Noreturn void refused(const struct sp_errinfo *err)
{
	const char *reason = err->text[0] ? err->text : sp_strerror(err->code);

	if (!err->path[0])
		die("%s", reason);
	if (is(err, "check"))
		value_failed(err, reason);
	if (err->offset >= 0)
		die("%s: offset %lld: %s", quote_file(err->path), err->offset, reason);
	die("%s: %s", quote_file(err->path), reason);
}

void failure(const struct settings *set, const struct sp_errinfo *err, uint64_t out_bytes)
{
	if (err->code == -ENOMEM && !err->text[0])
		die("memory exhausted");
	if (err->code == -EINVAL && err->text[0] && !err->path[0])
		die_argument(err);
	spill_failed(set, err);
	if (err->code <= SP_EFORMAT || is(err, "plan") || is(err, "model"))
		refused(err);
	if ((is(err, "write") || is(err, "fsync")) && names_output(set, err))
		output_failed(set, err, out_bytes);
	system_failed(set, err);
}
