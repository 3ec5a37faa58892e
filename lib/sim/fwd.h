/* SPDX-License-Identifier: MIT */
/*
 * Declares the facts of the simulated machine that headers above sim need.
 */
#pragma once

/* The area of the device that holds a file, in the order of the areas. */
enum sp__sim_area { SP__SIM_INPUT, SP__SIM_SPILL, SP__SIM_OUTPUT };

/* Request counts of this number and above are counted together. */
#define SP__DEPTH_MAX 1024
