// SPDX-License-Identifier: Apache-2.0
// The version of the OpenSSL that this program uses: its speed depends on it.
#ifndef RD_ENDPOINT_OPENSSL_VERSION_H
#define RD_ENDPOINT_OPENSSL_VERSION_H

const char *rd_openssl_version(void); // such as "3.5.9"

#endif
