// SPDX-License-Identifier: Apache-2.0
// Asks ssh for a host's configuration.
#ifndef RD_SSH_ASK_CONFIG_H
#define RD_SSH_ASK_CONFIG_H

// Name of the variable that is set to the descriptor of a pipe and the words of the question, one per line. The answer
// in the pipe is complete if it ends with a NUL.
#define RD_SSH_CONFIG_VARIABLE "RDPIPE_SSH_CONFIG"

// Starts `ssh -G [-F config_file] [-o OPTION]... -- host` for rdpipe, which would ask next, while node starts.
// `options` ends with NULL; `config_file` may be NULL. If that fails, the variable stays unset. Scripts that replace
// ssh are left to rdpipe, which keeps them from calling themselves.
void rd_ask_ssh_config(const char *ssh, const char *config_file, const char *const *options, const char *host);

// Asks the same, and waits for the answer, which the caller frees. Returns NULL if ssh fails, or is a script.
char *rd_read_ssh_config(const char *ssh, const char *config_file, const char *const *options, const char *host);

#endif
