// SPDX-License-Identifier: Apache-2.0
#include "base/numa.h"

#include "base/sysfs.h"

#include <ctype.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_BYTES 4096u
#define NODES_MAX 1024

static bool node_in(const char *directory, int *node);
static bool read_list(const char *text, cpu_set_t *set);
static void prefer_memory_of(int node);

bool rd_numa_node_of(const char *sys, const char *device, int *node) {
  char directory[PATH_MAX], parent[LINE_BYTES];
  snprintf(directory, sizeof directory, "%s/class/infiniband/%s/device", sys, device);
  if (node_in(directory, node)) return true;
  if (!rd_sysfs_line(parent, sizeof parent, "%s/class/infiniband/%s/parent", sys, device) ||
      strchr(parent, '/') != NULL)
    return false;
  snprintf(directory, sizeof directory, "%s/class/net/%.64s/device", sys, parent);
  if (node_in(directory, node)) return true;
  // A virtual network card is a device on a virtual bus; its parent is a device on a physical bus.
  snprintf(directory, sizeof directory, "%s/class/net/%.64s/device/..", sys, parent);
  return node_in(directory, node);
}

bool rd_numa_choose(const char *sys, const char *device, const cpu_set_t *allowed, struct rd_numa_place *place) {
  char nodes[LINE_BYTES], processors[LINE_BYTES];
  cpu_set_t online, of_node;
  if (!rd_sysfs_line(nodes, sizeof nodes, "%s/devices/system/node/online", sys) || !read_list(nodes, &online))
    return false;
  if (CPU_COUNT(&online) < 2 || !rd_numa_node_of(sys, device, &place->node)) return false;
  if (!rd_sysfs_line(processors, sizeof processors, "%s/devices/system/node/node%d/cpulist", sys, place->node))
    return false;
  if (!read_list(processors, &of_node)) return false;
  CPU_AND(&place->processors, &of_node, allowed);
  return CPU_COUNT(&place->processors) > 0;
}

bool rd_numa_go_to(const char *device, int *node) {
  struct rd_numa_place place;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) < 0) return false;
  if (!rd_numa_choose(RD_SYS_DIRECTORY, device, &allowed, &place)) return false;
  if (sched_setaffinity(0, sizeof place.processors, &place.processors) < 0) return false;
  prefer_memory_of(place.node);
  *node = place.node;
  return true;
}

// The kernel writes -1 if there is no node.
static bool node_in(const char *directory, int *node) {
  char line[LINE_BYTES], *end;
  if (!rd_sysfs_line(line, sizeof line, "%s/numa_node", directory) || line[0] == '\0') return false;
  long number = strtol(line, &end, 10);
  *node = (int)number;
  return *end == '\0' && number >= 0 && number < NODES_MAX;
}

// Parses the kernel's list format: 0-3,8,10-11.
static bool read_list(const char *text, cpu_set_t *set) {
  CPU_ZERO(set);
  for (const char *rest = text; *rest != '\0';) {
    char *end;
    if (!isdigit((unsigned char)*rest)) return false;
    unsigned long first = strtoul(rest, &end, 10), last = first;
    if (*end == '-') last = strtoul(end + 1, &end, 10);
    if (last < first || (*end != ',' && *end != '\0')) return false;
    for (unsigned long i = first; i <= last && i < CPU_SETSIZE; i++) CPU_SET(i, set);
    rest = *end == ',' ? end + 1 : end;
  }
  return true;
}

// If set_mempolicy() is forbidden, as in some containers, a page comes from the node of the CPU that first touches it.
// That is the same node, except for pages that other processes have put into the page cache.
static void prefer_memory_of(int node) {
  unsigned long mask[NODES_MAX / (8 * sizeof(unsigned long))] = {0};
  size_t bits = 8 * sizeof mask[0];
  mask[(size_t)node / bits] = 1ul << ((size_t)node % bits);
  syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask, (unsigned long)NODES_MAX);
}
