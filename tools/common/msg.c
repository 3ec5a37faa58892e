/* SPDX-License-Identifier: MIT */
/*
 * Prints messages and ends programs.
 */
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "msg.h"
#include "progress.h"

static const char *program = "spindle";
static int failure = 2;

void msg_init(char **argv)
{
	char *slash;

	setlocale(LC_CTYPE, ""); /* for quote() */
	if (!argv[0])
		return;
	slash = strrchr(argv[0], '/');
	if (slash && slash[1])
		argv[0] = slash + 1;
	program = argv[0];
	program_invocation_name = argv[0];
}

const char *msg_program(void)
{
	return program;
}

void msg_set_failure_status(int status)
{
	failure = status;
}

/* Prints a message as one line of printable characters, even if some text in it was not quoted. */
static void say(int errnum, const char *fmt, va_list ap)
{
	/* static, since memory can be exhausted; guarded by the lock of stderr */
	static char text[1 << 15], shown[1 << 16];

	progress_wipe();
	fflush(stdout);
	flockfile(stderr);
	vsnprintf(text, sizeof(text), fmt, ap);
	sp_printable(shown, sizeof(shown), text, SP_PRINTABLE_ESCAPED);
	fprintf(stderr, "%s: %s", program, shown);
	if (errnum)
		fprintf(stderr, ": %s", strerror(errnum));
	putc('\n', stderr);
	funlockfile(stderr);
}

void msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(0, fmt, ap);
	va_end(ap);
}

void msg_record(const char *data, size_t bytes, char eol, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	progress_wipe();
	fflush(stdout);
	flockfile(stderr);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, fmt, ap);
	fwrite(data, 1, bytes, stderr);
	putc(eol, stderr);
	funlockfile(stderr);
	va_end(ap);
}

void msg_sys(int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(errnum, fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(0, fmt, ap);
	va_end(ap);
	exit(failure);
}

void die_sys(int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(errnum, fmt, ap);
	va_end(ap);
	exit(failure);
}

void say_nearest(const struct sp_enum_value *names, const char *before, const char *text)
{
	const char *nearest = sp_enum_nearest(names, text);
	char shown[80];

	if (!nearest || !strcmp(program, "sort") || !strcmp(program, "join"))
		return;
	snprintf(shown, sizeof(shown), "%s%s", before, nearest);
	fprintf(stderr, "Did you mean %s?\n", quote(shown));
}

void usage_error(void)
{
	fflush(stdout);
	fprintf(stderr, "Try '%s --help' for more information.\n", program_invocation_name);
	exit(failure);
}

void die_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(0, fmt, ap);
	va_end(ap);
	usage_error();
}

void *must_alloc(void *old, unsigned long count, unsigned long bytes)
{
	void *p = reallocarray(old, count ? count : 1, bytes);

	if (!p)
		die("memory exhausted");
	return p;
}

char *must_copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(must_alloc(NULL, bytes, 1), text, bytes);
}
