// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/library.h"

#include "base/install_command.h"

#include <dlfcn.h>
#include <string.h>

// With the drivers of all devices, without which the libraries find none.
static const struct rd_packages RDMA_PACKAGES = {
    .apt = "rdma-core ibverbs-providers librdmacm1",
    .dnf = "rdma-core libibverbs librdmacm",
    .zypper = "rdma-core libibverbs librdmacm1",
};

static bool open_all(struct rd_verbs_library *verbs, struct rd_error *error);
static void *open_library(const char *name, struct rd_error *error);
static bool find(void *library, const char *name, void *function, struct rd_error *error);

const struct rd_verbs_library *rd_verbs_library(struct rd_error *error) {
  static struct rd_verbs_library verbs;
  static bool is_open;
  if (!is_open) is_open = open_all(&verbs, error);
  return is_open ? &verbs : NULL;
}

void rd_verbs_library_install_command(char command[RD_VERBS_COMMAND_BYTES]) {
  rd_install_command(command, RD_VERBS_COMMAND_BYTES, RD_OS_RELEASE, &RDMA_PACKAGES);
}

static bool open_all(struct rd_verbs_library *verbs, struct rd_error *error) {
  void *ibverbs = open_library("libibverbs.so.1", error);
  void *rdmacm = ibverbs != NULL ? open_library("librdmacm.so.1", error) : NULL;
  if (rdmacm == NULL) return false;
#define RD_FIND_IN_RDMACM(function)                                                                                    \
  if (!find(rdmacm, #function, &verbs->function, error)) return false;
#define RD_FIND_IN_IBVERBS(function)                                                                                   \
  if (!find(ibverbs, #function, &verbs->function, error)) return false;
  RD_RDMACM_FUNCTIONS(RD_FIND_IN_RDMACM)
  RD_IBVERBS_FUNCTIONS(RD_FIND_IN_IBVERBS)
  return true;
}

static void *open_library(const char *name, struct rd_error *error) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    char command[RD_VERBS_COMMAND_BYTES];
    rd_verbs_library_install_command(command);
    rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%s cannot be opened (%s)", name, command);
  }
  return library;
}

// ISO C cannot convert an object pointer to a function pointer; POSIX guarantees that they have the same
// representation.
static bool find(void *library, const char *name, void *function, struct rd_error *error) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    rd_error_set(error, RD_CODE_CANNOT_CONNECT, "the RDMA libraries of this machine are too old: they have no %s",
                 name);
    return false;
  }
  memcpy(function, &symbol, sizeof symbol);
  return true;
}
