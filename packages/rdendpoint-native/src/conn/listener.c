// SPDX-License-Identifier: Apache-2.0
#include "conn/listener.h"

#include "base/io.h"
#include "transport/tcp/connector.h"
#include "transport/verbs/connector.h"

#define PAUSE_MS 100

bool rd_listener_open(struct rd_listener *listener, const struct rd_listen_config *config, bool poll, uint16_t *port,
                      struct rd_error *error) {
  uint16_t low = config->port_low, high = config->port_high;
  rd_listener_close(listener);
  listener->connector = config->rdma ? rd_verbs_listen(config->bind_host, low, high, poll, port, error)
                                     : rd_tcp_listen(config->bind_host, low, high, port, error);
  return listener->connector != NULL;
}

void rd_listener_close(struct rd_listener *listener) {
  rd_connector_destroy(listener->connector);
  *listener = (struct rd_listener){.connector = NULL};
}

bool rd_listener_accept(struct rd_listener *listener, struct rd_transport **transport) {
  struct rd_error ignored;
  if (listener->connector == NULL || rd_now_ms() < listener->resumes_at_ms) return false;
  enum rd_outcome accepted = listener->connector->ops->accept(listener->connector, transport, &ignored);
  // Out of descriptors or memory: without a pause, the waiting client would wake this process again at once.
  listener->resumes_at_ms = accepted == RD_OUTCOME_FAILED ? rd_now_ms() + PAUSE_MS : 0;
  return accepted == RD_OUTCOME_DONE;
}

size_t rd_listener_polls(const struct rd_listener *listener, struct pollfd *polls) {
  if (listener->connector == NULL || listener->resumes_at_ms > 0) return 0;
  *polls = (struct pollfd){.fd = listener->connector->ops->poll_fd(listener->connector), .events = POLLIN};
  return 1;
}

int64_t rd_listener_due_ms(const struct rd_listener *listener) {
  return listener->resumes_at_ms > 0 ? listener->resumes_at_ms : INT64_MAX;
}
