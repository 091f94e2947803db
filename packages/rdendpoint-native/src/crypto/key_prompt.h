// SPDX-License-Identifier: Apache-2.0
// The key prompt: reads a key from the terminal, without echo, or from a descriptor.
#ifndef RD_CRYPTO_KEY_PROMPT_H
#define RD_CRYPTO_KEY_PROMPT_H

#include "base/error.h"

#include <stddef.h>

// Reads one line without its newline. With `key_fd` -1, prompts on the terminal; if `offers`, the prompt offers to
// generate a key and the line may be empty. The caller wipes `out`. Returns false on failure (RD_CODE_USAGE).
bool rd_key_prompt(int key_fd, bool offers, char *out, size_t out_bytes, struct rd_error *error);

#endif
