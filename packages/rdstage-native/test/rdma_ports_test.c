// SPDX-License-Identifier: Apache-2.0
// Tests of the RDMA ports, with directories as the kernel creates them for several kinds of devices.
#include "host/rdma_ports.h"
#include "test.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char sys[] = "/tmp/rdstage-test-XXXXXX";

static void make_directories_of(const char *path) {
  char directory[PATH_MAX];
  for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
    REQUIRE(mkdir(directory, 0700) == 0 || errno == EEXIST);
  }
}

// Writes `text` and a newline to a file below `sys`.
__attribute__((format(printf, 2, 3))) static void put(const char *text, const char *format, ...) {
  char path[PATH_MAX];
  va_list values;
  va_start(values, format);
  int start = snprintf(path, sizeof path, "%s/", sys);
  vsnprintf(path + start, sizeof path - (size_t)start, format, values);
  va_end(values);
  make_directories_of(path);
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL);
  fprintf(file, "%s\n", text);
  fclose(file);
}

static void put_port(const char *device, unsigned port, const char *state, const char *rate, const char *link_layer) {
  put(state, "class/infiniband/%s/ports/%u/state", device, port);
  put(rate, "class/infiniband/%s/ports/%u/rate", device, port);
  put(link_layer, "class/infiniband/%s/ports/%u/link_layer", device, port);
}

// `interface` NULL: the kernel has no interface for the GID.
static void put_gid(const char *device, unsigned port, unsigned index, const char *gid, const char *kind,
                    const char *interface) {
  put(gid, "class/infiniband/%s/ports/%u/gids/%u", device, port, index);
  put(kind, "class/infiniband/%s/ports/%u/gid_attrs/types/%u", device, port, index);
  if (interface != NULL) put(interface, "class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u", device, port, index);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

static void clear(void) {
  nftw(sys, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  mkdir(sys, 0700);
}

// Compares the ports with JSON text in which ' replaces ".
static bool ports_are(const char *text) {
  char expected[8192];
  snprintf(expected, sizeof expected, "%s", text);
  for (char *quote = expected; (quote = strchr(quote, '\'')) != NULL;) *quote = '"';
  json_t *ports = rd_rdma_ports_json(sys);
  char *got = json_dumps(ports, JSON_COMPACT | JSON_PRESERVE_ORDER);
  bool same = strcmp(got, expected) == 0;
  if (!same) fprintf(stderr, "expected %s\n     got %s\n", expected, got);
  free(got);
  json_decref(ports);
  return same;
}

#define ZERO_GID "0000:0000:0000:0000:0000:0000:0000:0000"
#define OWN_GID "fe80:0000:0000:0000:0e42:a1ff:fe00:0001"

static void test_nothing(void) {
  CHECK(ports_are("[]"));
  put("", "class/infiniband/.hidden/x");
  CHECK(ports_are("[]"));
}

static void test_roce(void) {
  put_port("mlx5_0", 1, "4: ACTIVE", "100 Gb/sec (4X EDR)", "Ethernet");
  put("1: CA", "class/infiniband/mlx5_0/node_type");
  put("1", "class/infiniband/mlx5_0/device/numa_node");
  put("9000", "class/net/eth0/mtu");
  put("1500", "class/net/eth0.7/mtu");
  put_gid("mlx5_0", 1, 0, OWN_GID, "IB/RoCE v1", "eth0");
  put_gid("mlx5_0", 1, 1, OWN_GID, "RoCE v2", "eth0");
  CHECK(ports_are("[{'device':'mlx5_0','port':1,'state':'active','rate_mbps':100000,'link_layer':'ethernet',"
                  "'mtu':4096,'interface':'eth0','numa':1,'gids':['IB/RoCE v1','RoCE v2']}]"));

  // Only addresses on top of its own interface: on a VLAN, and on a bridge that was removed.
  put_gid("mlx5_0", 1, 2, ZERO_GID, "RoCE v2", "eth0.9");
  put_gid("mlx5_0", 1, 3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2", "eth0.7");
  put_gid("mlx5_0", 1, 4, "fd00:0000:0000:0000:0000:0000:0000:0001", "RoCE v2", "br0");
  CHECK(ports_are("[{'device':'mlx5_0','port':1,'state':'active','rate_mbps':100000,'link_layer':'ethernet',"
                  "'mtu':1024,'interface':'eth0.7','numa':1,'gids':['IB/RoCE v1','RoCE v2']},"
                  "{'device':'mlx5_0','port':1,'state':'active','rate_mbps':100000,'link_layer':'ethernet',"
                  "'mtu':null,'interface':'br0','numa':1,'gids':['IB/RoCE v1','RoCE v2']}]"));
}

static void test_path_mtu(void) {
  static const struct {
    const char *mtu, *path_mtu;
  } cases[] = {{"4192", "4096"}, {"4191", "2048"}, {"352", "256"}, {"351", "null"}, {"nonsense", "null"}};
  put_port("rxe0", 1, "4: ACTIVE", "2.5 Gb/sec (1X SDR)", "Ethernet");
  put("eth0", "class/infiniband/rxe0/parent");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char expected[512];
    put(cases[i].mtu, "class/net/eth0/mtu");
    snprintf(expected, sizeof expected,
             "[{'device':'rxe0','port':1,'state':'active','rate_mbps':2500,'link_layer':'ethernet','mtu':%s,"
             "'interface':'eth0','numa':null,'gids':[]}]",
             cases[i].path_mtu);
    CHECK(ports_are(expected));
  }
}

static void test_infiniband(void) {
  for (unsigned port = 1; port <= 2; port++) {
    put_port("mlx4_0", port, port == 1 ? "2: INIT" : "4: ACTIVE", "56 Gb/sec (4X FDR)", "InfiniBand");
    put_gid("mlx4_0", port, 0, "fe80:0000:0000:0000:0002:c903:0000:0001", "IB/RoCE v1", NULL);
  }
  put("-1", "class/infiniband/mlx4_0/device/numa_node");
  put("0", "class/infiniband/mlx4_0/device/net/ib0/dev_port");
  put("1", "class/infiniband/mlx4_0/device/net/ib1/dev_port");
  put("65520", "class/net/ib1/mtu");
  CHECK(ports_are("[{'device':'mlx4_0','port':2,'state':'active','rate_mbps':56000,'link_layer':'infiniband',"
                  "'mtu':null,'interface':'ib1','numa':null,'gids':['IB/RoCE v1']},"
                  "{'device':'mlx4_0','port':1,'state':'init','rate_mbps':56000,'link_layer':'infiniband',"
                  "'mtu':null,'interface':'ib0','numa':null,'gids':['IB/RoCE v1']}]"));
}

static void test_iwarp(void) {
  put_port("irdma0", 1, "3: ARMED", "25 Gb/sec (1X EDR)", "Ethernet");
  put("4: RNIC", "class/infiniband/irdma0/node_type");
  put_gid("irdma0", 1, 0, "b496:91b7:1234:0000:0000:0000:0000:0000", "IB/RoCE v1", NULL);
  put("0", "class/infiniband/irdma0/device/net/eth5/dev_port");
  put("9000", "class/net/eth5/mtu");
  CHECK(ports_are("[{'device':'irdma0','port':1,'state':'armed','rate_mbps':25000,'link_layer':'ethernet','mtu':null,"
                  "'interface':'eth5','numa':null,'gids':['iWARP']}]"));
}

// Files that are invalid, or were removed after the directory was listed.
static void test_broken(void) {
  put_port("a\x01", 1, "9: WHAT", "inf", "Ethernet");
  put_port("b", 1, "nonsense", "-3 Gb/sec", "Unspecified");
  put_gid("a\x01", 1, 0, "not a gid", "RoCE v2", "eth0");
  put("1: DOWN", "class/infiniband/c/ports/1/state");
  put("", "class/infiniband/d/node_type");
  CHECK(ports_are("[{'device':'a?','port':1,'state':'down','rate_mbps':0,'link_layer':'ethernet','mtu':null,"
                  "'interface':null,'numa':null,'gids':[]}]"));
}

static void test_many(void) {
  for (unsigned i = 0; i < 100; i++) {
    char device[32];
    snprintf(device, sizeof device, "mlx5_%u", i);
    put_port(device, 1, i < 99 ? "1: DOWN" : "4: ACTIVE", "25 Gb/sec (1X EDR)", "Ethernet");
  }
  json_t *ports = rd_rdma_ports_json(sys);
  CHECK(json_array_size(ports) == 64);
  CHECK(rd_rdma_ports_any_active(ports));
  CHECK(strcmp(json_string_value(json_object_get(json_array_get(ports, 0), "device")), "mlx5_99") == 0);
  CHECK(strcmp(json_string_value(json_object_get(json_array_get(ports, 11), "device")), "mlx5_10") == 0);
  json_decref(ports);
}

// Very many interfaces and kinds of GIDs.
static void test_many_gids(void) {
  put_port("rxe0", 1, "1: DOWN", "10 Gb/sec (4X SDR)", "Ethernet");
  for (unsigned i = 0; i < 300; i++) {
    char gid[64], name[64];
    snprintf(gid, sizeof gid, "0000:0000:0000:0000:0000:ffff:0a00:%04x", i);
    snprintf(name, sizeof name, "a-name-of-more-than-thirty-two-bytes-%u", i % 100);
    put_gid("rxe0", 1, i, gid, name + i % 7, name + i % 30);
  }
  json_t *ports = rd_rdma_ports_json(sys);
  CHECK(json_array_size(ports) == 16);
  CHECK(!rd_rdma_ports_any_active(ports));
  CHECK(json_array_size(json_object_get(json_array_get(ports, 15), "gids")) <= 16);
  json_decref(ports);
}

int main(void) {
  static void (*const tests[])(void) = {test_nothing, test_roce,   test_path_mtu, test_infiniband,
                                        test_iwarp,   test_broken, test_many,     test_many_gids};
  REQUIRE(mkdtemp(sys));
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    tests[i]();
    clear();
  }
  rmdir(sys);
  return test_end("rdma_ports");
}
