// SPDX-License-Identifier: Apache-2.0
// The settings of a host's configuration for forwards, from the output of `ssh -G`.
#ifndef RD_SSH_FORWARD_SETTINGS_H
#define RD_SSH_FORWARD_SETTINGS_H

#include "ssh/command_line.h"

#include <stdbool.h>

struct rd_ssh_forward_settings {
  bool gateway_ports;   // GatewayPorts
  bool replace_sockets; // StreamLocalBindUnlink
  bool all_or_none;     // ExitOnForwardFailure
  bool for_ssh;         // a setting that only ssh supports: DynamicForward, ClearAllForwardings
  // LocalForward and RemoteForward, as -L SPEC and -R SPEC, two words each; every second word is owned.
  struct rd_ssh_words forwards;
};

// Ignores lines that are not about forwards. Destroy the result.
void rd_ssh_forward_settings_parse(struct rd_ssh_forward_settings *settings, const char *answer);
void rd_ssh_forward_settings_destroy(struct rd_ssh_forward_settings *settings); // NULL-safe

#endif
