// SPDX-License-Identifier: Apache-2.0
// Detects an active RDMA port from simulated sysfs files.
#include "base/rdma_port.h"

#include "base/io.h"
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/rd-port-XXXXXX";

static void change(const char *path, int (*with)(const char *)) {
  char whole[PATH_MAX];
  snprintf(whole, sizeof whole, "%s/%s", directory, path);
  CHECK(with(whole) == 0);
}

static int make(const char *path) {
  return mkdir(path, 0700);
}

static void state(const char *path, const char *text) {
  char whole[PATH_MAX];
  snprintf(whole, sizeof whole, "%s/%s", directory, path);
  int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0 && rd_write_all(fd, text, strlen(text)) && close(fd) == 0);
}

int main(void) {
  static const char *const directories[] = {"a", "a/ports", "a/ports/1", "b", "b/ports", "b/ports/1", "b/ports/2"};
  size_t count = sizeof directories / sizeof directories[0];
  REQUIRE(mkdtemp(directory) != NULL);
  CHECK(!rd_rdma_port_is_active("/no/such/directory"));
  CHECK(!rd_rdma_port_is_active(directory));
  for (size_t i = 0; i < count; i++) change(directories[i], make);
  CHECK(!rd_rdma_port_is_active(directory)); // ports without a state
  state("a/ports/1/state", "1: DOWN\n");
  state("b/ports/1/state", "");
  state("b/ports/2/state", "2: INIT\n");
  CHECK(!rd_rdma_port_is_active(directory));
  state("b/ports/2/state", "4: ACTIVE\n");
  CHECK(rd_rdma_port_is_active(directory));
  state("b/ports/2/state", "5: ACTIVE_DEFER\n");
  CHECK(!rd_rdma_port_is_active(directory));
  for (size_t i = 0; i < 3; i++)
    change((const char *const[]){"a/ports/1/state", "b/ports/1/state", "b/ports/2/state"}[i], unlink);
  for (size_t i = count; i-- > 0;) change(directories[i], rmdir);
  CHECK(rmdir(directory) == 0);
  return test_end("rdma_port");
}
