// SPDX-License-Identifier: Apache-2.0
#include "host/rdma_gids.h"

#include "host/sysfs.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#define GIDS_READ 256u // a device may have thousands; the kernel fills the first ones first

static void read_one(const char *port_folder, unsigned index, const struct in6_addr *gid, struct rd_rdma_gids *gids);

void rd_rdma_gids_read(const char *port_folder, struct rd_rdma_gids *gids) {
  *gids = (struct rd_rdma_gids){0};
  for (unsigned index = 0; index < GIDS_READ; index++) {
    char text[INET6_ADDRSTRLEN];
    struct in6_addr gid;
    if (!rd_sysfs_line(text, sizeof text, "%s/gids/%u", port_folder, index)) return;
    if (inet_pton(AF_INET6, text, &gid) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&gid))
      read_one(port_folder, index, &gid, gids);
  }
}

static void read_one(const char *port_folder, unsigned index, const struct in6_addr *gid, struct rd_rdma_gids *gids) {
  char kind[RD_NAME_SET_NAME_BYTES], interface[IF_NAMESIZE];
  if (rd_sysfs_line(kind, sizeof kind, "%s/gid_attrs/types/%u", port_folder, index))
    rd_name_set_add(&gids->kinds, kind);
  if (rd_sysfs_line(interface, sizeof interface, "%s/gid_attrs/ndevs/%u", port_folder, index))
    rd_name_set_add(IN6_IS_ADDR_LINKLOCAL(gid) ? &gids->own : &gids->interfaces, interface);
}
