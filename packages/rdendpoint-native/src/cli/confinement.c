// SPDX-License-Identifier: Apache-2.0
#include "cli/confinement.h"

#include "base/address.h"
#include "sandbox/sandbox.h"

#define DNS_PORT 53

static void confine_for_agent(enum rd_role role);
static void confine_standalone(const struct rd_options *options, pid_t command);

void rd_program_confine(const struct rd_options *options, pid_t command) {
  if (options->mode == RD_MODE_AGENT)
    confine_for_agent(options->role);
  else
    confine_standalone(options, command);
}

// The agent's orders name the file and the addresses later; an address may be a local socket, which leads through ssh.
static void confine_for_agent(enum rd_role role) {
  bool receives = role == RD_ROLE_RECEIVER;
  rd_sandbox_enter(
      &(struct rd_syscall_profile){
          .files = receives ? RD_FILES_WRITE : RD_FILES_READ, .rdma = true, .kills = receives, .local = true},
      NULL);
}

// A name may be looked up with a local socket (nscd, avahi, systemd-resolved), and over TCP.
static void confine_standalone(const struct rd_options *options, pid_t command) {
  bool receives = options->role == RD_ROLE_RECEIVER;
  bool asks_for_name = !receives && !rd_socket_address_is_known(options->host);
  bool writes = receives && options->file != NULL;
  const uint16_t dialed[] = {options->port, DNS_PORT};
  rd_sandbox_enter(&(struct rd_syscall_profile){.files = writes ? RD_FILES_WRITE : RD_FILES_READ,
                                                .rdma = options->transport != RD_TRANSPORT_TCP,
                                                .local = asks_for_name,
                                                .group = command},
                   &(struct rd_landlock_ports){.binds = receives,
                                               .low = options->port,
                                               .high = options->port,
                                               .connect = dialed,
                                               .connect_count = receives        ? 0
                                                                : asks_for_name ? 2
                                                                                : 1});
}
