// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL
#include "cli/library_versions.h"

#include "transport/verbs/connector.h"

#include <gnu/libc-version.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <xxhash.h>
#include <zstd.h>

#ifdef RD_STATIC
#define OF_HOST "part of the program"
#else
#define OF_HOST "of this host"
#endif

void rd_library_versions_print(FILE *out) {
  unsigned xxhash = XXH_versionNumber();
  fprintf(out, "glibc %s, " OF_HOST "\n", gnu_get_libc_version());
  fprintf(out, "%s, " OF_HOST "\n", OpenSSL_version(OPENSSL_VERSION));
  fprintf(out, "zstd %s\njansson %s\n", ZSTD_versionString(), jansson_version_str());
  fprintf(out, "xxHash %u.%u.%u\n", xxhash / 10000, xxhash / 100 % 100, xxhash % 100);
  struct rd_error why;
  fprintf(out, "RDMA: %s\n", rd_verbs_usable(&why) ? "usable" : why.message);
}
