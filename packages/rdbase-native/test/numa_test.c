// SPDX-License-Identifier: Apache-2.0
// Chooses the NUMA node for a device, on simulated machines with sysfs files.
#include "base/numa.h"

#include "base/io.h"
#include "test.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char sys[] = "/tmp/rd-numa-XXXXXX";

static void put(const char *path, const char *text) {
  char whole[PATH_MAX];
  snprintf(whole, sizeof whole, "%s/%s", sys, path);
  for (char *slash = whole + sizeof sys; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    CHECK(mkdir(whole, 0700) == 0 || access(whole, X_OK) == 0);
    *slash = '/';
  }
  int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0 && rd_write_all(fd, text, strlen(text)) && close(fd) == 0);
}

static void join(const char *path, const char *target) {
  char whole[PATH_MAX];
  snprintf(whole, sizeof whole, "%s/%s", sys, path);
  REQUIRE(symlink(target, whole) == 0);
}

static int drop(const char *path, const struct stat *status, int type, struct FTW *where) {
  (void)status, (void)type, (void)where;
  return remove(path);
}

static cpu_set_t processors(unsigned first, unsigned last) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned i = first; i <= last; i++) CPU_SET(i, &set);
  return set;
}

static void make_machine(void) {
  put("devices/system/node/online", "0-1\n");
  put("devices/system/node/node0/cpulist", "0-3,8-11\n");
  put("devices/system/node/node1/cpulist", "4-7,12-15\n");
  put("class/infiniband/mlx5_0/device/numa_node", "1\n");
  put("class/infiniband/mlx5_1/device/numa_node", "-1\n");
  put("class/infiniband/mlx5_2/device/numa_node", "2\n"); // a node that does not exist
  put("class/infiniband/odd/device/numa_node", "one\n");
  put("class/infiniband/rxe0/parent", "eth0\n");
  put("class/net/eth0/device/numa_node", "0\n");
  put("class/infiniband/rxe1/parent", "eth1\n");
  put("devices/pci0000:80/0000:80:01.0/numa_node", "1\n");
  put("devices/pci0000:80/0000:80:01.0/virtio1/status", "15\n");
  put("class/net/eth1/mtu", "1500\n");
  join("class/net/eth1/device", "../../../devices/pci0000:80/0000:80:01.0/virtio1");
  put("class/infiniband/rxe2/parent", "../../../etc\n");
}

static void node_of_a_device(void) {
  int node = -2;
  CHECK(rd_numa_node_of(sys, "mlx5_0", &node) && node == 1);
  CHECK(!rd_numa_node_of(sys, "mlx5_1", &node));
  CHECK(!rd_numa_node_of(sys, "odd", &node));
  CHECK(!rd_numa_node_of(sys, "no such device", &node));
  CHECK(rd_numa_node_of(sys, "rxe0", &node) && node == 0);
  CHECK(rd_numa_node_of(sys, "rxe1", &node) && node == 1);
  CHECK(!rd_numa_node_of(sys, "rxe2", &node));
  CHECK(!rd_numa_node_of("/no/such/directory", "mlx5_0", &node));
}

static void place_for_a_device(void) {
  struct rd_numa_place place;
  cpu_set_t all = processors(0, 15), few = processors(2, 5), others = processors(0, 3), expected;
  REQUIRE(rd_numa_choose(sys, "mlx5_0", &all, &place));
  cpu_set_t low = processors(4, 7), high = processors(12, 15);
  CPU_OR(&expected, &low, &high);
  CHECK(place.node == 1 && CPU_EQUAL(&place.processors, &expected));
  REQUIRE(rd_numa_choose(sys, "mlx5_0", &few, &place));
  expected = processors(4, 5);
  CHECK(place.node == 1 && CPU_EQUAL(&place.processors, &expected));
  CHECK(!rd_numa_choose(sys, "mlx5_0", &others, &place)); // the process is restricted to other CPUs
  CHECK(!rd_numa_choose(sys, "mlx5_1", &all, &place));
  CHECK(!rd_numa_choose(sys, "mlx5_2", &all, &place));
}

static void lists_as_they_come(void) {
  struct rd_numa_place place;
  cpu_set_t all = processors(0, 15);
  static const char *const useless[] = {"", "\n", "x", "4-", "-4", "7-4", "4;5", "4,,5", "4 5"};
  for (size_t i = 0; i < sizeof useless / sizeof useless[0]; i++) {
    put("devices/system/node/node1/cpulist", useless[i]);
    CHECK(!rd_numa_choose(sys, "mlx5_0", &all, &place));
  }
  put("devices/system/node/node1/cpulist", "5,1000000-4000000000\n"); // more than fits into a set
  CHECK(rd_numa_choose(sys, "mlx5_0", &all, &place) && CPU_COUNT(&place.processors) == 1);
  put("devices/system/node/node1/cpulist", "4-7\n");
  put("devices/system/node/online", "1\n");
  CHECK(!rd_numa_choose(sys, "mlx5_0", &all, &place)); // only one node: nothing to choose
  put("devices/system/node/online", "0-1\n");
  CHECK(rd_numa_choose(sys, "mlx5_0", &all, &place));
}

// On the real machine, whatever it is: an unknown device changes nothing.
static void stays(void) {
  cpu_set_t before, after;
  int node;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(!rd_numa_go_to("no such device", &node));
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

int main(void) {
  REQUIRE(mkdtemp(sys) != NULL);
  make_machine();
  node_of_a_device();
  place_for_a_device();
  lists_as_they_come();
  stays();
  CHECK(nftw(sys, drop, 8, FTW_DEPTH | FTW_PHYS) == 0);
  return test_end("numa");
}
