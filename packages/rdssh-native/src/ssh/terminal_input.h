// SPDX-License-Identifier: Apache-2.0
// Reads a standard input that is a terminal, for programs that are not in the terminal's session.
#ifndef RD_SSH_TERMINAL_INPUT_H
#define RD_SSH_TERMINAL_INPUT_H

#include "base/error.h"

// Replaces standard input by a pipe, which a child process fills with the typed input until its end (Ctrl-D). The child
// stays in the process group of the user's job and dies with this process, whatever program this process becomes by
// execve(2). Returns false (RD_CODE_INTERNAL) if no descriptor or process is left.
bool rd_terminal_input_start(struct rd_error *error);

#endif
