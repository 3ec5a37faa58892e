/* SPDX-License-Identifier: MIT */
/*
 * Interprets the volume named by the options of a run (files in directories, a block device, or a
 * simulated device), and checks whether it supports the requested placement.
 */
#pragma once

#include <spindle/run.h>

struct sp__machine_spec;
struct sp__volume;

/*
 * Returns 0; or SP_ESYNTAX, -EPERM or SP_EUNSUP with the reason in err if the options contradict
 * the volume.
 */
SP_MUST_CHECK int sp__volume_spec_check(const struct sp_run_opts *o, struct sp_errinfo *err);
bool sp__volume_spec_simulated(const struct sp_run_opts *o);
/* Returns the specification of a simulated device; NULL: not simulated. */
const char *sp__volume_spec_machine_spec(const struct sp_run_opts *o);
/*
 * Opens a simulated device; leaves *device unchanged for other volumes.  Returns SP_ESYNTAX if the
 * geometry is that of another device.
 */
SP_MUST_CHECK int sp__volume_spec_device(const struct sp_run_opts *o, struct sp__volume **device,
					 struct sp_errinfo *err);
/*
 * Checks a geometry, which may be NULL, against a simulated device, which must match it completely;
 * a real one can be used partially.  Returns SP_ESYNTAX if the geometry is that of another device.
 */
SP_MUST_CHECK int sp__volume_spec_check_geometry(const struct sp_geometry *geometry,
						 uint64_t blocks, uint32_t block_bytes,
						 struct sp_errinfo *err);
/* Returns the device of "block:DEVICE"; NULL: not a block device. */
const char *sp__volume_spec_block(const struct sp_run_opts *o);

/*
 * Sets the specification of a machine on which each volume is a drive of a linear array.  Returns
 * 0; or SP_ESYNTAX if the text has an error, or itself requests an array or a file system.
 */
SP_MUST_CHECK int sp__volume_spec_drives(struct sp__machine_spec *spec, const char *text,
					 unsigned volumes, const char *path,
					 struct sp_errinfo *err);
/* Returns the bytes of each drive that volumes can use: whole pages of the simulator. */
uint64_t sp__volume_spec_drive_bytes(uint64_t device_bytes, unsigned volumes, uint32_t page_bytes);
/* Returns the specification of several drives, for that of one; allocated.  NULL: no memory. */
char *sp__volume_spec_array(const char *volume, unsigned drives);
