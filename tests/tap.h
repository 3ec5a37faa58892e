/* SPDX-License-Identifier: MIT */
/*
 * The test harness: TAP on standard output, one line for each check.
 *
 *	int main(void)
 *	{
 *		ok(1 + 1 == 2, "addition works");
 *		skip("no root", "needs a loop device");
 *		return done();
 *	}
 *
 * A test that creates threads begins with "#define TAP_THREADS": ThreadSanitizer runs these tests
 * alone.  Any other test ends where it creates a thread.  "#define TAP_THREADS 0" is for a test
 * that only needs them to load a table, and then takes minutes with one: it is left out, too.
 * "#define TAP_SLOW": it may take more processor time than scripts/run-tests allows, and runs under
 * AddressSanitizer in make nightly alone.
 */
#ifndef TAP_H
#define TAP_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int tap__count, tap__failed;

__attribute__((format(printf, 4, 5), unused)) static bool tap__ok(bool cond, const char *file,
								  int line, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", cond ? "" : "not ", ++tap__count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!cond) {
		tap__failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return cond;
}

/* A check; the name is a sentence (a printf format). */
#define ok(cond, ...) tap__ok((cond), __FILE__, __LINE__, __VA_ARGS__)

/*
 * N repetitions with random values; under ThreadSanitizer a third of them, as threads share the
 * same in each.
 */
#ifdef __SANITIZE_THREAD__
#define TAP_STEP 3
#else
#define TAP_STEP 1
#endif
#define tap_times(n) ((n) / TAP_STEP)

/* A check that cannot be made here, and the reason. */
__attribute__((unused)) static void skip(const char *name, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++tap__count, name, reason);
}

__attribute__((unused, format(printf, 1, 2))) static void diag(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

#ifndef TAP_THREADS
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	(void)thread, (void)attr, (void)fn, (void)arg;
	puts("Bail out! A thread is created: #define TAP_THREADS before the first #include");
	fflush(stdout);
	abort();
}
#endif

/* Prints the plan; the exit status of main. */
__attribute__((unused)) static int done(void)
{
	printf("1..%d\n", tap__count);
	return tap__failed ? 1 : 0;
}

#endif
