/* SPDX-License-Identifier: MIT */
/*
 * Parses one line of a trace.
 *
 * Fields are separated by blanks and taken from the left.  A number that does not fit its member is
 * refused, never cut.  A line that is empty or begins with "#" is a comment.  Only the lookup of a
 * name needs a copy without escapes.
 */
#include <string.h>
#include <spindle/error.h>
#include "trace/sequence_parse.h"

/* The rest of a line. */
struct text {
	const char *at, *end;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes the next field; fields are separated by blanks. */
static struct text field(struct text *line)
{
	struct text f;

	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
	f.at = line->at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	f.end = line->at;
	return f;
}

static bool number(struct text f, uint64_t most, uint64_t *value)
{
	uint64_t v = 0;

	if (f.at == f.end)
		return false;
	for (; f.at < f.end; f.at++) {
		unsigned d = (unsigned)(*f.at - '0');

		if (!digit(*f.at) || v > most / 10 || v * 10 > most - d)
			return false;
		v = v * 10 + d;
	}
	*value = v;
	return true;
}

static bool signed_number(struct text f, int64_t *value)
{
	bool minus = f.at < f.end && *f.at == '-';
	uint64_t v;

	f.at += minus;
	if (!number(f, INT64_MAX, &v))
		return false;
	*value = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

/* Parses the numbers after op and volume. */
static const char *numbers(struct text *line, struct sp__seqline *out)
{
	uint64_t v;

	if (!number(field(line), INT64_MAX, &out->offset))
		return "offset is not a number of bytes";
	if (!number(field(line), UINT32_MAX, &v))
		return "bytes is not a number of bytes";
	out->bytes = (uint32_t)v;
	if (!number(field(line), UINT16_MAX, &v))
		return "prio is not an I/O priority";
	out->prio = (uint16_t)v;
	if (!signed_number(field(line), &out->submit_ns))
		return "submit_ns is not a time";
	if (!signed_number(field(line), &out->done_ns))
		return "done_ns is not a time";
	if (!signed_number(field(line), &out->result))
		return "result is not a number";
	if (out->done_ns < out->submit_ns)
		return "done_ns is before submit_ns";
	if (out->result > (int64_t)out->bytes)
		return "result is more than bytes";
	if (out->offset > INT64_MAX - (uint64_t)out->bytes)
		return "the request ends beyond all offsets";
	return NULL;
}

int sp__sequence_line(const char *line, size_t len, struct sp__seqline *out, const char **reason)
{
	struct text rest = { line, line + len }, f = field(&rest);

	if (f.at == f.end || *f.at == '#')
		return 0;
	out->write = *f.at == 'W';
	if (f.end - f.at != 1 || (*f.at != 'R' && *f.at != 'W')) {
		*reason = "op is neither R nor W";
		return SP_EFORMAT;
	}
	f = field(&rest);
	out->name = f.at;
	out->name_len = (size_t)(f.end - f.at);
	*reason = f.at == f.end ? "volume is missing" : numbers(&rest, out);
	return *reason ? SP_EFORMAT : 1;
}

bool sp__sequence_foreign(const char *line, size_t len)
{
	static const char heading[] = "# spindle-trace/";
	size_t n = sizeof(heading) - 1;

	if (len <= n || memcmp(line, heading, n))
		return false;
	return line[n] != '1' || (len > n + 1 && digit(line[n + 1]));
}

static int hex(char c)
{
	return digit(c)		      ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

size_t sp__sequence_name(const char *name, size_t name_len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < name_len; i++) {
		if (name[i] == '%' && i + 2 < name_len && hex(name[i + 1]) >= 0 &&
		    hex(name[i + 2]) >= 0) {
			out[n++] = (char)(hex(name[i + 1]) << 4 | hex(name[i + 2]));
			i += 2;
		} else {
			out[n++] = name[i];
		}
	}
	out[n] = '\0';
	return n;
}
