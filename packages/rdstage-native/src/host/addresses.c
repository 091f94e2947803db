// SPDX-License-Identifier: Apache-2.0
#include "host/addresses.h"

#include "base/sysfs.h"
#include "runtime/json_made.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define ADDRESSES_MAX 256
#define LOWER_UP 0x10000u // IFF_LOWER_UP of linux/if.h, which cannot be included together with net/if.h

static void append(json_t *list, const struct ifaddrs *first, bool up);
static const void *usable(const struct ifaddrs *entry);
static bool is_up(const struct ifaddrs *entry);
static json_t *describe(const struct ifaddrs *entry, const void *address);
static void interface_name(const struct ifaddrs *entry, char name[IF_NAMESIZE]);
static int prefix_of(const struct sockaddr *mask);
static json_t *speed_mbps(const char *interface);
static const char *kind_of(const struct ifaddrs *entry, const char *name);
static int mtu_of(const char *interface);

json_t *rd_addresses_json(void) {
  json_t *list = rd_json_made(json_array());
  struct ifaddrs *first = NULL;
  if (getifaddrs(&first)) return list;
  append(list, first, true);
  append(list, first, false);
  freeifaddrs(first);
  return list;
}

static void append(json_t *list, const struct ifaddrs *first, bool up) {
  for (const struct ifaddrs *entry = first; entry != NULL && json_array_size(list) < ADDRESSES_MAX;
       entry = entry->ifa_next) {
    const void *address = usable(entry);
    if (address != NULL && is_up(entry) == up) rd_json_made_append(list, describe(entry, address));
  }
}

// Returns the address for inet_ntop(), or NULL if it is not an Internet address or is link-local.
static const void *usable(const struct ifaddrs *entry) {
  if (entry->ifa_addr == NULL || entry->ifa_netmask == NULL) return NULL;
  if (entry->ifa_addr->sa_family == AF_INET) {
    const struct in_addr *address = &((const struct sockaddr_in *)entry->ifa_addr)->sin_addr;
    bool link_local = ntohl(address->s_addr) >> 16 == 0xa9fe; // 169.254.0.0/16
    return link_local ? NULL : address;
  }
  if (entry->ifa_addr->sa_family == AF_INET6) {
    const struct in6_addr *address = &((const struct sockaddr_in6 *)entry->ifa_addr)->sin6_addr;
    return IN6_IS_ADDR_LINKLOCAL(address) ? NULL : address;
  }
  return NULL;
}

// Does not use IFF_RUNNING, which changes up to a second later.
static bool is_up(const struct ifaddrs *entry) {
  return (entry->ifa_flags & IFF_UP) && (entry->ifa_flags & LOWER_UP);
}

static json_t *describe(const struct ifaddrs *entry, const void *address) {
  char text[INET6_ADDRSTRLEN] = "", interface[IF_NAMESIZE];
  inet_ntop(entry->ifa_addr->sa_family, address, text, sizeof text);
  interface_name(entry, interface);
  return rd_json_made(json_pack("{s:s,s:i,s:o,s:b,s:o,s:s,s:i}", "address", text, "prefix",
                                prefix_of(entry->ifa_netmask), "interface", rd_json_made_text(interface), "up",
                                (int)is_up(entry), "speed_mbps", speed_mbps(interface), "kind",
                                kind_of(entry, interface), "mtu", mtu_of(interface)));
}

// Copies the name without the label that an address may have: `eth0:1`.
static void interface_name(const struct ifaddrs *entry, char name[IF_NAMESIZE]) {
  snprintf(name, IF_NAMESIZE, "%.*s", (int)strcspn(entry->ifa_name, ":"), entry->ifa_name);
}

static int prefix_of(const struct sockaddr *mask) {
  bool is_v4 = mask->sa_family == AF_INET;
  const unsigned char *bytes = is_v4 ? (const void *)&((const struct sockaddr_in *)mask)->sin_addr
                                     : (const void *)&((const struct sockaddr_in6 *)mask)->sin6_addr;
  int bits = 0;
  for (size_t i = 0; i < (is_v4 ? 4 : 16); i++) bits += __builtin_popcount(bytes[i]);
  return bits;
}

static json_t *speed_mbps(const char *interface) {
  int64_t speed;
  bool known = rd_sysfs_number(&speed, "/sys/class/net/%s/speed", interface) && speed > 0 && speed < INT_MAX;
  return known ? json_integer(speed) : json_null();
}

static const char *kind_of(const struct ifaddrs *entry, const char *name) {
  if (entry->ifa_flags & IFF_LOOPBACK) return "loopback";
  if (rd_sysfs_exists("/sys/class/net/%s/bridge", name) || rd_sysfs_exists("/sys/class/net/%s/brport", name))
    return "bridge";
  return rd_sysfs_exists("/sys/class/net/%s/device", name) ? "physical" : "virtual";
}

static int mtu_of(const char *interface) {
  int64_t mtu;
  bool known = rd_sysfs_number(&mtu, "/sys/class/net/%s/mtu", interface) && mtu > 0 && mtu < INT_MAX;
  return known ? (int)mtu : 0;
}
