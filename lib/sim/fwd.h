/* SPDX-License-Identifier: MIT */
/*
 * The names of the simulated machine that a header above sim needs; a file that calls the
 * machine includes sim/machine.h.
 */
#ifndef SP__SIM_FWD_H
#define SP__SIM_FWD_H

struct sp__machine;

/* Which of a tool's own files lie on the machine. */
enum sp__sim_files { SP__SIM_FILES_NONE, SP__SIM_FILES_IN, SP__SIM_FILES_OUT, SP__SIM_FILES_BOTH };

/* The area of the device to which a file belongs, in the order of the areas. */
enum sp__sim_area { SP__SIM_INPUT, SP__SIM_SPILL, SP__SIM_OUTPUT };

/* Where numbers of requests are counted, this and more are counted together. */
#define SP__DEPTH_MAX 1024

#endif
