// SPDX-License-Identifier: Apache-2.0
#include "forward/confinement.h"

#include "base/address.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>

#define DNS_PORT 53

static void restrict_ports(const struct rd_forward_needs *needs);
static bool needs_local_sockets(const struct rd_forward_needs *needs);
static size_t open_directories(const struct rd_forward_listener *listeners, size_t count, int *fds);

void rd_forward_confine(const struct rd_forward_needs *needs) {
  if (!RD_SANDBOX_IS_POSSIBLE) return;
  RD_AUTO_FREE int *fds = rd_memory_new(needs->listener_count + 1, sizeof *fds);
  size_t directories = open_directories(needs->listeners, needs->listener_count, fds);
  rd_landlock_restrict_process(needs->child == 0);
  restrict_ports(needs);
  rd_landlock_restrict_files(&(struct rd_landlock){.directory_fd = -1, .remove_fds = fds, .remove_count = directories});
  bool removes = directories > 0;
  while (directories > 0) close(fds[--directories]);
  rd_syscall_filter_install(&(struct rd_syscall_profile){
      .files = removes ? RD_FILES_REMOVE : RD_FILES_READ, .local = needs_local_sockets(needs), .child = needs->child});
}

// The listeners are bound already. A name may be looked up over TCP.
static void restrict_ports(const struct rd_forward_needs *needs) {
  RD_AUTO_FREE uint16_t *ports = rd_memory_new(needs->target_count + 1, sizeof *ports);
  size_t count = 0;
  for (size_t i = 0; i < needs->target_count; i++)
    if (!rd_place_is_path(&needs->targets[i])) ports[count++] = needs->targets[i].port;
  if (count > 0) ports[count++] = DNS_PORT;
  rd_landlock_restrict_ports(&(struct rd_landlock_ports){.connect = ports, .connect_count = count});
}

// A target may be one, and a name may be looked up with one.
static bool needs_local_sockets(const struct rd_forward_needs *needs) {
  for (size_t i = 0; i < needs->target_count; i++) {
    const struct rd_place *target = &needs->targets[i];
    if (rd_place_is_path(target) || !rd_socket_address_is_known(target->address)) return true;
  }
  return false;
}

// Opens the directories of the local sockets.
static size_t open_directories(const struct rd_forward_listener *listeners, size_t count, int *fds) {
  size_t opened = 0;
  for (size_t i = 0; i < count; i++) {
    if (listeners[i].path[0] == '\0') continue;
    RD_AUTO_FREE char *directory = rd_memory_copy(listeners[i].path, strlen(listeners[i].path));
    *(strrchr(directory, '/') + 1) = '\0';
    fds[opened] = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    opened += fds[opened] >= 0;
  }
  return opened;
}
