// SPDX-License-Identifier: Apache-2.0
// For builds without RDMA: static programs, which cannot open libraries, and VERBS=no.
#include "transport/verbs/connector.h"

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
  rd_error_set(error, RD_CODE_CANNOT_CONNECT,
               "RDMA needs the dynamic build of this program (which needs libssl.so.3 and glibc 2.34 or later)");
#else
  rd_error_set(error, RD_CODE_CANNOT_CONNECT,
               "this program was built without RDMA (VERBS=no, or no headers of libibverbs)");
#endif
}
