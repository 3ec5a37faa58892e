/* SPDX-License-Identifier: MIT */
#ifndef ARGS_H
#define ARGS_H

#include <argp.h>

/*
 * argp_parse(), and what it leaves out: the status of usage errors is 2, and
 * --help, --usage and --version that cannot be written are errors too.
 */
void args_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
