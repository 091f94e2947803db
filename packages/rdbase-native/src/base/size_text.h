// SPDX-License-Identifier: Apache-2.0
// Sizes and rates as text, both in powers of 1024: "5.5 MiB", "2.872 GiB/s".
#ifndef RD_BASE_SIZE_TEXT_H
#define RD_BASE_SIZE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define RD_SIZE_TEXT_BYTES 32u

// Format a size or a rate; RD_SIZE_TEXT_BYTES are enough for `out`.
void rd_size_text(double bytes, char *out, size_t out_bytes);
void rd_rate_text(double bytes_per_s, char *out, size_t out_bytes);

// Parses "8M" or "8MiB": k, M, G, T and P are powers of 1000, Ki to Pi of 1024; a B may follow. Rounds to the nearest
// whole byte. Returns false if the text is invalid.
bool rd_read_size(const char *text, double *bytes);

// Like rd_read_size(), but also accepts bits, and "/s" may follow: "200MB/s", "10Mbit".
bool rd_read_rate(const char *text, double *bytes_per_s);

#endif
