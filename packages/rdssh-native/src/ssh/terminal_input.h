// SPDX-License-Identifier: Apache-2.0
// Standard input that is a terminal, read for programs which are not in the terminal's session.
#ifndef RD_SSH_TERMINAL_INPUT_H
#define RD_SSH_TERMINAL_INPUT_H

#include "base/error.h"

// Replaces standard input by a pipe, which a child process fills with what is typed until its end (Ctrl-D). The child
// stays in the process group of the user's job and dies with this process, whatever that becomes by execve(2).
// False (RD_CODE_INTERNAL): there is no descriptor or process left.
bool rd_terminal_input_start(struct rd_error *error);

#endif
