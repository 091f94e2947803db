// SPDX-License-Identifier: Apache-2.0
#include "send/send.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/worker.h"
#include "read/read.h"
#include "scan/scan.h"

#include <fcntl.h>

struct scanning {
  struct rd_worker worker;
  const struct rd_tree_settings *settings;
  int out_fd;
  bool is_done;
  struct rd_error error;
};

static void *scan(void *context);

bool rd_tree_send(const struct rd_tree_settings *settings, int out_fd, struct rd_shared_ring *shared,
                  struct rd_error *error) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a pipe");
    return false;
  }
  rd_pipe_grow(fds[1]);
  struct scanning scanning = {.settings = settings, .out_fd = fds[1]};
  bool is_read = false, is_started = rd_worker_start(&scanning.worker, scan, &scanning, error);
  if (is_started)
    is_read = rd_tree_read(settings, fds[0], out_fd, shared, error);
  else
    rd_cleanup_fd(&fds[1]);
  rd_cleanup_fd(&fds[0]); // ends a scan that is still writing
  if (is_started) pthread_join(scanning.worker.thread, NULL);
  // The scan's error is the reason why the entries ended early.
  if (is_started && !scanning.is_done && scanning.error.code != RD_CODE_CLOSED) *error = scanning.error;
  return is_read && scanning.is_done;
}

static void *scan(void *context) {
  struct scanning *scanning = context;
  scanning->is_done = rd_tree_scan(scanning->settings, -1, scanning->out_fd, &scanning->error);
  rd_cleanup_fd(&scanning->out_fd);
  return NULL;
}
