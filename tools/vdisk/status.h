/* SPDX-License-Identifier: MIT */
/*
 * The keys of MOUNT/status, for its text and for its JSON Schema.
 */
#pragma once

#include <spindle/report.h>
#include <spindle/vdrive.h>

#define STATUS_SCHEMA "spindle.vdisk/1"

struct response {
	double mean, max;
};

struct late {
	double p50, p99, max;
};

/* Strings are borrowed; times are virtual, except for floor and lateness. */
struct status {
	char model[256], kind[64];
	const char *spec, *backing, *loop; /* backing, loop: can be NULL */
	uint64_t bytes, block_bytes, dilation;
	double floor_us;
	uint64_t elapsed_ns, requests;
	struct sp_vdrive_stats drive;
	struct response response_us;
	struct late late_us;
};

#define VALUE(of, key_, type_, member, about_, ...)                                                \
	SP_REPORT_FIELD(struct of, key_, type_, member, about_, .required = true, ##__VA_ARGS__)

static const struct sp_report_field response_fields[] = {
	VALUE(response, "mean", REAL, mean, "mean"),
	VALUE(response, "max", REAL, max, "maximum"),
	{ 0 },
};

static const struct sp_report_field late_fields[] = {
	VALUE(late, "p50", REAL, p50, "median"),
	VALUE(late, "p99", REAL, p99, "99th percentile"),
	VALUE(late, "max", REAL, max, "maximum"),
	{ 0 },
};

static const struct sp_report_field status_fields[] = {
	VALUE(status, "model", TEXT, model, "name of the model"),
	VALUE(status, "kind", TEXT, kind, "kind of the device"),
	VALUE(status, "spec", STRING, spec, "model as given on the command line"),
	SP_REPORT_FIELD(struct status, "backing", STRING, backing,
			"file with the data; null: memory"),
	SP_REPORT_FIELD(struct status, "loop", STRING, loop, "loop device; null: none"),
	VALUE(status, "bytes", COUNT, bytes, "size of the device"),
	VALUE(status, "block_bytes", COUNT, block_bytes, "size of a block"),
	VALUE(status, "dilation", KNOWN, dilation, "real time per virtual time"),
	VALUE(status, "floor_us", REAL, floor_us, "real time taken off each request"),
	VALUE(status, "elapsed_s", SECONDS, elapsed_ns, "time since the device was ready"),
	VALUE(status, "requests", COUNT, requests, "requests of the kernel"),
	VALUE(status, "reads", COUNT, drive.reads, "reads of the kernel"),
	VALUE(status, "writes", COUNT, drive.writes, "writes of the kernel"),
	VALUE(status, "flushes", COUNT, drive.flushes, "flushes of the kernel"),
	VALUE(status, "read_bytes", COUNT, drive.read_bytes, "bytes read by the kernel"),
	VALUE(status, "write_bytes", COUNT, drive.write_bytes, "bytes written by the kernel"),
	VALUE(status, "outstanding", COUNT, drive.outstanding, "requests that are not answered"),
	VALUE(status, "continuations", COUNT, drive.continuations,
	      "requests taken as parts of the previous one"),
	VALUE(status, "merges", COUNT, drive.merges, "requests merged into another one"),
	VALUE(status, "dispatched", COUNT, drive.dispatched, "requests received by the drive"),
	VALUE(status, "seeks", COUNT, drive.seeks,
	      "requests received by the drive that did not begin where the previous one ended"),
	VALUE(status, "hits", COUNT, drive.hits, "requests that the cache of the drive answered"),
	VALUE(status, "busy_s", SECONDS, drive.busy_ns, "time in which the drive was busy"),
	VALUE(status, "response_us", OBJECT, response_us, "times from submission to completion",
	      .fields = response_fields),
	VALUE(status, "late_us", OBJECT, late_us,
	      "real times from the moment of an answer to its sending", .fields = late_fields),
	{ 0 },
};
