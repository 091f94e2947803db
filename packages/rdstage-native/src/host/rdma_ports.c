// SPDX-License-Identifier: Apache-2.0
#include "host/rdma_ports.h"

#include "base/numa.h"
#include "base/sysfs.h"
#include "runtime/json_made.h"

#include <arpa/inet.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 64u
#define PORTS_OF_A_DEVICE_MAX 255u
#define RATE_MAX_GBPS 1e6

// The maximum that RoCE adds to a packet, as the kernel counts it: GRH, UDP, BTH, XRC, atomic header, ICRC.
#define ROCE_HEADERS_BYTES (40 + 8 + 12 + 4 + 28 + 4)

#define GIDS_READ 256u // a device may have thousands; the kernel fills the first ones first
#define NAMES_MAX 16u
#define NAME_BYTES 32u

// A few distinct names, in the order in which they were added.
struct name_set {
  char names[NAMES_MAX][NAME_BYTES];
  size_t count;
};

// The table of a port's own addresses (GIDs).
struct gids {
  struct name_set kinds;      // kinds of the entries that are set, as the kernel names them: "RoCE v2"
  struct name_set interfaces; // network interfaces whose addresses the GIDs were derived from
  struct name_set own;        // network interfaces of the link-local GIDs, which every port has
};

struct port {
  const char *sys, *device;
  unsigned number;
  char directory[PATH_MAX];
  const char *link_layer, *state;
  bool is_iwarp;
};

static void append_device(json_t *active, json_t *others, const char *sys, const char *device);
static void append_port(json_t *list, const struct port *port);
static bool open_port(struct port *port, const char *sys, const char *device, unsigned number);
static const char *link_layer_of(const struct port *port);
static const char *state_of(const struct port *port);
static void read_gids(const struct port *port, struct gids *gids);
static void read_gid(const struct port *port, unsigned index, const struct in6_addr *gid, struct gids *gids);
static void add_name(struct name_set *set, const char *name);
static void find_interfaces(const struct port *port, const struct gids *gids, struct name_set *interfaces);
static void find_device_interfaces(const struct port *port, struct name_set *interfaces);
static json_t *describe(const struct port *port, const char *interface, const struct gids *gids);
static json_int_t rate_mbps(const struct port *port);
static json_t *path_mtu(const struct port *port, const char *interface);
static json_t *numa_node(const struct port *port);
static json_t *kinds(const struct port *port, const struct gids *gids);

json_t *rd_rdma_ports_json(const char *sys) {
  json_t *active = rd_json_made(json_array()), *others = rd_json_made(json_array());
  struct rd_sysfs_names devices;
  rd_sysfs_list(&devices, "%s/class/infiniband", sys);
  for (size_t i = 0; i < devices.count; i++) append_device(active, others, sys, devices.entries[i]->d_name);
  rd_sysfs_names_clear(&devices);
  if (json_array_extend(active, others)) abort(); // out of memory: see memory.h
  json_decref(others);
  while (json_array_size(active) > ENTRIES_MAX) json_array_remove(active, json_array_size(active) - 1);
  return active;
}

bool rd_rdma_ports_any_active(const json_t *ports) {
  const json_t *first = json_array_get(ports, 0);
  return first != NULL && strcmp(json_string_value(json_object_get(first, "state")), "active") == 0;
}

static void append_device(json_t *active, json_t *others, const char *sys, const char *device) {
  struct port port;
  for (unsigned number = 1; number <= PORTS_OF_A_DEVICE_MAX && open_port(&port, sys, device, number); number++) {
    json_t *list = strcmp(port.state, "active") == 0 ? active : others;
    if (port.link_layer != NULL && json_array_size(list) < ENTRIES_MAX) append_port(list, &port);
  }
}

// Returns false if there is no such port.
static bool open_port(struct port *port, const char *sys, const char *device, unsigned number) {
  char node_type[32];
  *port = (struct port){.sys = sys, .device = device, .number = number};
  snprintf(port->directory, sizeof port->directory, "%s/class/infiniband/%s/ports/%u", sys, device, number);
  if (!rd_sysfs_exists("%s", port->directory)) return false;
  port->link_layer = link_layer_of(port);
  port->state = state_of(port);
  rd_sysfs_line(node_type, sizeof node_type, "%s/class/infiniband/%s/node_type", sys, device);
  port->is_iwarp = strstr(node_type, "RNIC") != NULL;
  return true;
}

// Returns NULL if the port's network is neither Ethernet nor InfiniBand.
static const char *link_layer_of(const struct port *port) {
  char text[32];
  rd_sysfs_line(text, sizeof text, "%s/link_layer", port->directory);
  if (strcmp(text, "Ethernet") == 0) return "ethernet";
  return strcmp(text, "InfiniBand") == 0 ? "infiniband" : NULL;
}

// The file contains `4: ACTIVE`.
static const char *state_of(const struct port *port) {
  static const char *const states[] = {"down", "down", "init", "armed", "active", "active"};
  char text[32];
  rd_sysfs_line(text, sizeof text, "%s/state", port->directory);
  unsigned long number = strtoul(text, NULL, 10);
  return states[number < sizeof states / sizeof *states ? number : 0];
}

// Appends one entry per network interface whose addresses lead to the port, or one without an interface.
static void append_port(json_t *list, const struct port *port) {
  struct gids gids;
  struct name_set interfaces = {0};
  read_gids(port, &gids);
  find_interfaces(port, &gids, &interfaces);
  if (interfaces.count == 0) rd_json_made_append(list, describe(port, NULL, &gids));
  for (size_t i = 0; i < interfaces.count && json_array_size(list) < ENTRIES_MAX; i++)
    rd_json_made_append(list, describe(port, interfaces.names[i], &gids));
}

static void read_gids(const struct port *port, struct gids *gids) {
  *gids = (struct gids){0};
  for (unsigned index = 0; index < GIDS_READ; index++) {
    char text[INET6_ADDRSTRLEN];
    struct in6_addr gid;
    if (!rd_sysfs_line(text, sizeof text, "%s/gids/%u", port->directory, index)) return;
    if (inet_pton(AF_INET6, text, &gid) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&gid)) read_gid(port, index, &gid, gids);
  }
}

static void read_gid(const struct port *port, unsigned index, const struct in6_addr *gid, struct gids *gids) {
  char kind[NAME_BYTES], interface[IF_NAMESIZE];
  if (rd_sysfs_line(kind, sizeof kind, "%s/gid_attrs/types/%u", port->directory, index)) add_name(&gids->kinds, kind);
  if (rd_sysfs_line(interface, sizeof interface, "%s/gid_attrs/ndevs/%u", port->directory, index))
    add_name(IN6_IS_ADDR_LINKLOCAL(gid) ? &gids->own : &gids->interfaces, interface);
}

// Cuts a name that is too long; adds nothing to a full set.
static void add_name(struct name_set *set, const char *name) {
  if (set->count == NAMES_MAX) return;
  char *place = set->names[set->count];
  snprintf(place, NAME_BYTES, "%s", name);
  for (size_t i = 0; i < set->count; i++)
    if (strcmp(set->names[i], place) == 0) return;
  set->count++;
}

// RoCE: the interfaces from whose addresses the port's GIDs are derived, which may be a VLAN or a bridge above the
// device's interface. If there are none, or on another kind of network: the interface of the device.
static void find_interfaces(const struct port *port, const struct gids *gids, struct name_set *interfaces) {
  char parent[NAME_BYTES];
  *interfaces = gids->interfaces.count ? gids->interfaces : gids->own;
  if (interfaces->count) return;
  if (rd_sysfs_line(parent, sizeof parent, "%s/class/infiniband/%s/parent", port->sys, port->device))
    add_name(interfaces, parent); // a software device
  else
    find_device_interfaces(port, interfaces);
}

static void find_device_interfaces(const struct port *port, struct name_set *interfaces) {
  struct rd_sysfs_names names;
  rd_sysfs_list(&names, "%s/class/infiniband/%s/device/net", port->sys, port->device);
  for (size_t i = 0; i < names.count; i++) {
    const char *name = names.entries[i]->d_name;
    int64_t port_from_0;
    if (rd_sysfs_number(&port_from_0, "%s/class/infiniband/%s/device/net/%s/dev_port", port->sys, port->device, name) &&
        port_from_0 + 1 == port->number)
      add_name(interfaces, name);
  }
  rd_sysfs_names_clear(&names);
}

static json_t *describe(const struct port *port, const char *interface, const struct gids *gids) {
  return rd_json_made(json_pack("{s:o,s:i,s:s,s:I,s:s,s:o,s:o,s:o,s:o}", "device", rd_json_made_text(port->device),
                                "port", (int)port->number, "state", port->state, "rate_mbps", rate_mbps(port),
                                "link_layer", port->link_layer, "mtu", path_mtu(port, interface), "interface",
                                rd_json_made_text(interface), "numa", numa_node(port), "gids", kinds(port, gids)));
}

// The file contains `2.5 Gb/sec (1X SDR)`.
static json_int_t rate_mbps(const struct port *port) {
  char text[64];
  rd_sysfs_line(text, sizeof text, "%s/rate", port->directory);
  double gbps = strtod(text, NULL);
  return gbps > 0 && gbps < RATE_MAX_GBPS ? (json_int_t)(gbps * 1000) : 0;
}

// The largest path MTU of RDMA that fits the interface's MTU.
static json_t *path_mtu(const struct port *port, const char *interface) {
  int64_t mtu, path_mtu = 4096;
  if (interface == NULL || port->is_iwarp || strcmp(port->link_layer, "ethernet") != 0) return json_null();
  if (!rd_sysfs_number(&mtu, "%s/class/net/%s/mtu", port->sys, interface)) return json_null();
  while (path_mtu >= 256 && path_mtu > mtu - ROCE_HEADERS_BYTES) path_mtu /= 2;
  return path_mtu >= 256 ? json_integer(path_mtu) : json_null();
}

static json_t *numa_node(const struct port *port) {
  int node;
  return rd_numa_node_of(port->sys, port->device, &node) ? json_integer(node) : json_null();
}

// The kinds of an iWARP device's GIDs have no meaning.
static json_t *kinds(const struct port *port, const struct gids *gids) {
  json_t *list = rd_json_made(json_array());
  if (port->is_iwarp) rd_json_made_append(list, json_string("iWARP"));
  for (size_t i = 0; !port->is_iwarp && i < gids->kinds.count; i++)
    rd_json_made_append(list, rd_json_made_text(gids->kinds.names[i]));
  return list;
}
