// SPDX-License-Identifier: Apache-2.0
#include "crypto/openssl_version.h"

#include <openssl/crypto.h>

const char *rd_openssl_version(void) {
  return OpenSSL_version(OPENSSL_VERSION_STRING);
}
