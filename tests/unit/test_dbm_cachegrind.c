/* SPDX-License-Identifier: MIT */
/*
 * Results of cachegrind, whole and damaged.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dbm/counting.h"
#include "tap.h"

/* Lines of a result of valgrind 3.19. */
#define HEAD                                                                                       \
	"desc: I1 cache:         32768 B, 64 B, 8-way associative\n"                               \
	"desc: D1 cache:         49152 B, 64 B, 12-way associative\n"                              \
	"desc: LL cache:         536870912 B, 64 B, 2-way associative\n"                           \
	"cmd: true\n"
#define EVENTS "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim\n"
#define BODY                                                                                       \
	"fl=./csu/../csu/libc-start.c\n"                                                           \
	"fn=__libc_start_main@@GLIBC_2.34\n"                                                       \
	"128 2 1 1 2 0 0 0 0 0 0 0 0 0\n"
#define SUMMARY "summary: 130015 1091 1072 29829 1153 1018 10266 335 311 25997 3210 279 150\n"

static char folder[] = "/tmp/dbm-cachegrind.XXXXXX";
static char path[64];
static double events[SP_DBM_EVENTS];
static struct sp_errinfo err;

static void forget(void)
{
	for (int i = 0; i < SP_DBM_EVENTS; i++)
		events[i] = NAN;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
}

static void write_file(const char *name, const char *text)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static int add(const char *text)
{
	write_file("one.out", text);
	return sp__cachegrind_add(path, events, &err);
}

/* True if the events are those of so many results, and the rest is not counted. */
static bool counted(double times)
{
	return events[SP_DBM_INSTRUCTIONS] == times * 130015 &&
	       events[SP_DBM_L1I_MISSES] == times * 1091 &&
	       events[SP_DBM_L1D_MISSES] == times * (1153 + 335) &&
	       events[SP_DBM_LLC_MISSES] == times * (1072 + 1018 + 311) &&
	       events[SP_DBM_BRANCHES] == times * (25997 + 279) &&
	       events[SP_DBM_BRANCH_MISSES] == times * (3210 + 150) &&
	       isnan(events[SP_DBM_CYCLES]) && isnan(events[SP_DBM_DTLB_MISSES]) &&
	       isnan(events[SP_DBM_ITLB_MISSES]) && isnan(events[SP_DBM_FRONTEND_STALLS]) &&
	       isnan(events[SP_DBM_BACKEND_STALLS]);
}

static void files(void)
{
	static const char *const damaged[] = {
		"",
		HEAD,
		HEAD EVENTS BODY,
		HEAD EVENTS BODY "summary: 130015 1091\n",
		HEAD EVENTS BODY
		"summary: 130015 1091 1072 29829 1153 1018 10266 335 311 25997 3210 "
		"279 150 1\n",
		HEAD EVENTS BODY
		"summary: 130015 1091 x 29829 1153 1018 10266 335 311 25997 3210 279 "
		"150\n",
		HEAD BODY SUMMARY,
		"summary: 1\nevents: Ir\n",
		"the shell says: command not found\n",
	};

	forget();
	ok(!add(HEAD EVENTS BODY SUMMARY) && counted(1), "the sums of a result are read");
	ok(!add(HEAD EVENTS BODY SUMMARY) && counted(2), "those of another result are added");
	forget();
	ok(!add(HEAD "events: Ir Xy\nfn=a\n1 5 6\nsummary: 5 6\n") &&
		   events[SP_DBM_INSTRUCTIONS] == 5 && isnan(events[SP_DBM_L1D_MISSES]) &&
		   isnan(events[SP_DBM_BRANCHES]),
	   "what a result does not count stays unknown, and other events are passed over");
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		forget();
		ok(add(damaged[i]) == SP_EFORMAT && strstr(err.text, "not a complete result"),
		   "damaged result %zu is refused", i);
	}
	forget();
	snprintf(path, sizeof(path), "%s/none", folder);
	ok(sp__cachegrind_add(path, events, &err) == -ENOENT, "a missing file is an error");
}

static void folders(void)
{
	write_file("one.out", HEAD EVENTS BODY SUMMARY);
	write_file("two.out", HEAD EVENTS BODY SUMMARY);
	forget();
	ok(!sp__cachegrind_take(folder, events, &err) && counted(2),
	   "the results of all processes are added");
	forget();
	ok(!sp__cachegrind_take(folder, events, &err) && isnan(events[SP_DBM_INSTRUCTIONS]),
	   "they are removed, and an empty folder counts nothing");
	write_file("cut.out", HEAD EVENTS BODY);
	ok(sp__cachegrind_take(folder, events, &err) == SP_EFORMAT,
	   "a result that is cut off is an error");
	ok(rmdir(folder) == 0, "it is removed, too");
	ok(sp__cachegrind_take(folder, events, &err) == -ENOENT, "a missing folder is an error");
}

int main(void)
{
	if (!mkdtemp(folder))
		abort();
	files();
	folders();
	return done();
}
