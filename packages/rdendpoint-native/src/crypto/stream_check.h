// SPDX-License-Identifier: Apache-2.0
// The check values that END carries for a stream.
// These are its running digest and, in a chain, the signature of its first sender.
#ifndef RD_CRYPTO_STREAM_CHECK_H
#define RD_CRYPTO_STREAM_CHECK_H

#include "crypto/signature.h"

struct rd_stream_check; // opaque

// `signing` remains the caller's and must not move. With RD_SIGNING_NONE there is only a digest. NULL on failure.
struct rd_stream_check *rd_stream_check_create(const struct rd_signing *signing, struct rd_error *error);
void rd_stream_check_update(struct rd_stream_check *check, const unsigned char *bytes, size_t count);
void rd_stream_check_destroy(struct rd_stream_check *check); // accepts NULL

// First sender, after the last byte: fills in digest and signature.
bool rd_stream_check_sign(const struct rd_stream_check *check, struct rd_end *end, struct rd_error *error);
// Receiver, after the last byte. Returns false if *end does not match (RD_CODE_DATA_DAMAGED) or on failure
// (RD_CODE_INTERNAL).
bool rd_stream_check_verify(const struct rd_stream_check *check, const struct rd_end *end, struct rd_error *error);

#endif
