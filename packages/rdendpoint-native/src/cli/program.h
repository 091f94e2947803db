// SPDX-License-Identifier: Apache-2.0
// The common main function of rdsend and rdrecv.
#ifndef RD_CLI_PROGRAM_H
#define RD_CLI_PROGRAM_H

#include "cli/options.h"

typedef enum rd_code rd_loop_function(struct rd_control *control); // rd_send_loop() or rd_recv_loop()

// Runs the program and returns its exit status; does not return if it ends by a signal. *error is set (its code is not
// RD_CODE_OK) if the program could not begin.
int rd_program_run(struct rd_options *options, rd_loop_function *loop, struct rd_error *error);

#endif
