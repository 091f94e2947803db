// SPDX-License-Identifier: Apache-2.0
// For builds without RDMA: static programs, which cannot open libraries, and VERBS=no.
#include "transport/verbs/connector.h"

#ifdef RD_STATIC
#include "base/install_command.h"

// Packages of libssl.so.3; these systems also have glibc 2.34. Older ones have neither.
static const struct rd_packages TLS_PACKAGES = {
    .apt = "libssl3, on Debian 12, Ubuntu 22.04 or later",
    .dnf = "openssl-libs, on RHEL 9, Fedora 36 or later",
    .zypper = "libopenssl3, on openSUSE Leap 15.6 or later",
};
#endif

static void refuse(struct rd_error *error);

bool rd_verbs_usable(struct rd_error *error) {
  refuse(error);
  return false;
}

struct rd_connector *rd_verbs_listen(const char *bind_host, uint16_t low, uint16_t high, bool poll, uint16_t *port,
                                     struct rd_error *error) {
  (void)bind_host, (void)low, (void)high, (void)poll, (void)port;
  refuse(error);
  return NULL;
}

struct rd_connector *rd_verbs_dial(const struct rd_address *address, bool poll, struct rd_error *error) {
  (void)address, (void)poll;
  refuse(error);
  return NULL;
}

static void refuse(struct rd_error *error) {
#ifdef RD_STATIC
  char command[192];
  rd_install_command(command, sizeof command, RD_OS_RELEASE, &TLS_PACKAGES);
  rd_error_set(error, RD_CODE_CANNOT_CONNECT,
               "RDMA needs the dynamic build of this program, which needs glibc 2.34 and libssl.so.3 (%s)", command);
#else
  rd_error_set(error, RD_CODE_CANNOT_CONNECT,
               "this program was built without RDMA (VERBS=no, or no headers of libibverbs)");
#endif
}
