/* SPDX-License-Identifier: MIT */
/*
 * What a simulated machine is asked for, as text.
 */
#include <string.h>
#include "dev/model.h"
#include "sim/blockdev.h"
#include "sim/machine.h"
#include "tap.h"

static bool refused(const char *text, const char *reason)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__machine_spec spec = { .seed = 77 };
	int rc = sp__machine_spec_parse(&spec, text, &err);

	if (rc == SP_ESYNTAX && spec.seed == 77 && strstr(err.text, reason))
		return true;
	diag("%s: %d %s", text, rc, err.text);
	return false;
}

static void test_spec(void)
{
	struct sp__machine_spec s;

	ok(sp__machine_spec_parse(&s, "linear", NULL) == 0 && !strcmp(s.model, "linear") &&
		   s.fs == 0 && s.cache_bytes == 0 && s.page_bytes == 4096 &&
		   !s.cache.flush_on_evict && s.cache.async_percent == 30 &&
		   s.cache.sync_percent == 60 && s.cache.down_percent == 20 &&
		   s.cache.age_ns == 3000000000 && s.readahead_bytes == 131072 &&
		   s.device.window == 0 && s.device.policy == -1 && s.device.merge &&
		   s.merge_bytes == 1 << 20 && s.writeback_pages == 1024 && !s.device.age_ns &&
		   s.files == SP__SIM_FILES_NONE && !s.cache.sweep && !s.device.requests_max &&
		   !strcmp(s.sched, "noop") && s.noise.sd_ns == 0 && s.noise.tail == 0,
	   "a model alone has the values that are documented");
	ok(sp__machine_spec_parse(
		   &s,
		   "./my.json,fs=group:12,cache=1G,policy=opt,future=run.trace,page=8K,"
		   "flush=10/20/5/1.5s/"
		   "sweep,requests=128,readahead=0,sched=deadline:read=1s,window=32/sptf,"
		   "merge=no,files=in,noise=20us/2.5%/1ms,seed=18446744073709551615",
		   NULL) == 0 &&
		   !strcmp(s.model, "./my.json") && s.fs == 1 && s.group_pages == 12 &&
		   s.cache_bytes == 1 << 30 && s.cache.policy == SP__PCACHE_OPT &&
		   !strcmp(s.future, "run.trace") && s.page_bytes == 8192 &&
		   s.cache.async_percent == 10 && s.cache.sync_percent == 20 &&
		   s.cache.down_percent == 5 && s.cache.age_ns == 1500000000 && s.cache.sweep &&
		   s.device.requests_max == 128 && !s.readahead_bytes &&
		   !strcmp(s.sched, "deadline:read=1s") && s.device.window == 32 &&
		   s.device.policy == SP__WINDOW_SPTF && !s.device.merge &&
		   s.files == SP__SIM_FILES_IN && s.noise.sd_ns == 20000 &&
		   s.noise.tail > 0.02499 && s.noise.tail < 0.02501 &&
		   s.noise.tail_mean_ns == 1000000 && s.seed == UINT64_MAX,
	   "every word is understood");
	ok(sp__machine_spec_parse(&s, "linear,window=9/sptf/20ms,merge=64K,writeback=5", NULL) ==
			   0 &&
		   s.device.window == 9 && s.device.policy == SP__WINDOW_SPTF &&
		   s.device.age_ns == 20000000 && s.device.merge && s.merge_bytes == 65536 &&
		   s.writeback_pages == 5,
	   "so are an age in the window, a limit of merging and a batch of the background");
	ok(refused("", "model") && refused(",cache=1M", "model"), "a model is asked for");
	ok(refused("linear,cash=1M", "'cash=1M' is not known; known are fs, cache,") &&
		   refused("linear,", "known are"),
	   "an unknown key is reported with the known ones");
	ok(refused("linear,cache", "cache is a size") && refused("linear,cache=10%", "a size") &&
		   refused("linear,cache=1K", "less than a page"),
	   "so is a bad size");
	ok(refused("linear,fs=ext2", "none, group") &&
		   refused("linear,fs=group:0", "none, group") &&
		   refused("linear,fs=none:3", "none, group") &&
		   refused("linear,flush=30/60/70/3s", "A/B/C/AGE") &&
		   refused("linear,flush=30/60/20", "A/B/C/AGE") &&
		   refused("linear,flush=30/60/20/3m", "A/B/C/AGE") &&
		   refused("linear,flush=30/60/20/3s/swept", "/sweep") &&
		   refused("linear,requests=many", "a number") &&
		   refused("linear,page=5000", "power of 2") &&
		   refused("linear,merge=1", "yes, no, or a size") &&
		   refused("linear,merge=2G", "yes, no, or a size") &&
		   refused("linear,writeback=0", "a number of pages") &&
		   refused("linear,window=4/fifo/1s", "N/sptf/AGE") &&
		   refused("linear,window=4/sptf/0", "N/sptf/AGE") &&
		   refused("linear,files=all", "none, in, out") &&
		   refused("linear,array=raid0", "array is linear:N, raid0:N") &&
		   refused("linear,window=0", "from 1") &&
		   refused("linear,window=4/sstf", "sptf") &&
		   refused("linear,noise=20us/2", "SD/TAIL%") &&
		   refused("linear,noise=20us/101%", "SD/TAIL%") &&
		   refused("linear,noise=-1us", "SD/TAIL%") &&
		   refused("linear,noise=0.0000000001s", "SD/TAIL%") &&
		   refused("linear,seed=18446744073709551616", "a number"),
	   "each refusal says what is possible");
	ok(refused("linear,cache=1M,policy=opt", "future=FILE"), "OPT asks for the future");
	ok(refused("linear,sched=elevator", "known"), "so is an unknown scheduler refused");
}

int main(void)
{
	test_spec();
	return done();
}
