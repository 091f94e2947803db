// SPDX-License-Identifier: Apache-2.0
// The lines that a server writes to standard error, or its JSON objects.
#ifndef RD_SERVE_REPORT_H
#define RD_SERVE_REPORT_H

#include "serve/averages.h"
#include "serve/client_session.h"

#include <stdbool.h>

struct rd_serve_log {
  bool json;
};

void rd_serve_log_serving(const struct rd_serve_log *report, const struct rd_serve_options *options, uint16_t port,
                          size_t clients);
void rd_serve_log_begin(const struct rd_serve_log *report, const struct rd_client_session *connection);
// `refusal`: the reason why it was not admitted, or NULL.
void rd_serve_log_end(const struct rd_serve_log *report, const struct rd_client_session *connection,
                      const char *refusal);
// Reports the connections of unauthenticated peers since the last line, and the last one of them.
void rd_serve_log_strangers(const struct rd_serve_log *report, uint64_t count, const char *peer, const char *reason);
void rd_serve_log_averages(const struct rd_serve_log *report, const struct rd_averages *averages);
void rd_serve_log_reloaded(const struct rd_serve_log *report, size_t clients);
void rd_serve_log_draining(const struct rd_serve_log *report, size_t sessions);
void rd_serve_log_failure(const struct rd_serve_log *report, const char *message);

#endif
