/* SPDX-License-Identifier: MIT */
/* What a header above sim needs of the simulated machine. */
#ifndef SP__SIM_FWD_H
#define SP__SIM_FWD_H

/* The area of the device to which a file belongs, in the order of the areas. */
enum sp__sim_area { SP__SIM_INPUT, SP__SIM_SPILL, SP__SIM_OUTPUT };

/* Where numbers of requests are counted, this and more are counted together. */
#define SP__DEPTH_MAX 1024

#endif
