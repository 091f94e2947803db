// SPDX-License-Identifier: Apache-2.0
// Asks ssh for a host's configuration while node starts, which would ask for the same next.
#ifndef RD_SSH_ASK_CONFIG_H
#define RD_SSH_ASK_CONFIG_H

// Sets this variable to the descriptor of a pipe and the words of the question, a line each. The answer in the pipe is
// whole if it ends with a NUL.
#define RD_SSH_CONFIG_VARIABLE "RDPIPE_SSH_CONFIG"

// Starts `ssh -G [-F config_file] [-o OPTION]... -- host`. `options` ends with NULL; `config_file` may be NULL. Where
// that fails the variable stays unset. Scripts in the place of ssh are left to rdpipe, which keeps them from calling
// themselves.
void rd_ask_ssh_config(const char *ssh, const char *config_file, const char *const *options, const char *host);

#endif
