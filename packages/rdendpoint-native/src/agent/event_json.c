// SPDX-License-Identifier: Apache-2.0
#include "agent/event_json.h"

#include "crypto/openssl_version.h"

static json_t *encode_connected(const struct rd_event *event);
static json_t *encode_counters(const struct rd_event *event);
static json_t *encode_finished(const struct rd_event *event);
static const char *result_of(enum rd_code code);

json_t *rd_event_to_json(const struct rd_event *event) {
  const char *transport = event->rdma ? "rdma" : "tcp";
  switch (event->type) {
  case RD_EVENT_READY:
    return json_pack("{s:s}", "event", "ready");
  case RD_EVENT_LISTENING:
    return json_pack("{s:s, s:s, s:i}", "event", "listening", "transport", transport, "port", (int)event->port);
  case RD_EVENT_LISTEN_FAILED:
    return json_pack("{s:s, s:s, s:s, s:s}", "event", "listen_failed", "transport", transport, "code",
                     rd_code_name(event->error->code), "message", event->error->message);
  case RD_EVENT_DIAL_FAILED:
    return json_pack("{s:s, s:s, s:s}", "event", "dial_failed", "code", rd_code_name(event->error->code), "message",
                     event->error->message);
  case RD_EVENT_REJECTED:
    return json_pack("{s:s, s:s, s:s, s:s}", "event", "rejected", "peer", event->peer, "code",
                     rd_code_name(event->error->code), "message", event->error->message);
  case RD_EVENT_CONNECTED:
    return encode_connected(event);
  case RD_EVENT_BROKEN:
    return json_pack("{s:s, s:s}", "event", "broken", "message", event->error->message);
  case RD_EVENT_RESUMED:
    return json_pack("{s:s, s:I, s:I}", "event", "resumed", "epoch", (json_int_t)event->epoch, "bytes",
                     (json_int_t)event->bytes);
  case RD_EVENT_PARTED:
    return json_pack("{s:s, s:I, s:s, s:s}", "event", "parted", "bytes", (json_int_t)event->bytes, "code",
                     rd_code_name(event->error->code), "message", event->error->message);
  case RD_EVENT_SIZE:
    return json_pack("{s:s, s:I}", "event", "size", "bytes", (json_int_t)event->bytes);
  case RD_EVENT_COUNTERS:
    return encode_counters(event);
  case RD_EVENT_OUTPUT:
    return json_pack("{s:s}", "event", "output");
  case RD_EVENT_CLOSED:
    return json_pack("{s:s}", "event", "closed");
  case RD_EVENT_END:
    return json_pack("{s:s, s:I, s:I}", "event", "end", "bytes", (json_int_t)event->bytes, "status",
                     (json_int_t)event->status);
  case RD_EVENT_FINISHED:
    return encode_finished(event);
  }
  return NULL;
}

static json_t *encode_connected(const struct rd_event *event) {
  json_t *node = event->numa_node != NULL ? json_integer(*event->numa_node) : json_null();
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:o, s:s?}", "event", "connected", "transport",
                   event->transport, "cipher", event->cipher, "openssl", rd_openssl_version(), "local", event->local,
                   "peer", event->peer, "device", event->device, "numa", node, "note", event->note);
}

static json_t *encode_counters(const struct rd_event *event) {
  const struct rd_waits *waits = &event->waits;
  const struct rd_limits *limits = &event->limits;
  return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:I}", "event", "counters", "bytes",
                   (json_int_t)event->bytes, "wire_bytes", (json_int_t)event->wire_bytes, "input_ms",
                   (json_int_t)waits->input_ms, "limit_ms", (json_int_t)waits->limit_ms, "worker_ms",
                   (json_int_t)waits->worker_ms, "wire_ms", (json_int_t)waits->wire_ms, "output_ms",
                   (json_int_t)waits->output_ms, "send_buffer_ms", (json_int_t)limits->send_buffer_ms,
                   "receive_window_ms", (json_int_t)limits->receive_window_ms, "sent_again",
                   (json_int_t)limits->sent_again, "streams", (int)event->lanes, "rtt_us", (json_int_t)event->rtt_us);
}

static json_t *encode_finished(const struct rd_event *event) {
  enum rd_code code = event->error->code;
  const char *message = code == RD_CODE_OK ? "" : event->error->message;
  return json_pack("{s:s, s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "event", "finished", "result", result_of(code),
                   "status", rd_code_status(code), "code", rd_code_name(code), "message", message, "bytes",
                   (json_int_t)event->bytes, "wire_bytes", (json_int_t)event->wire_bytes, "user_ms",
                   (json_int_t)event->usage.user_ms, "system_ms", (json_int_t)event->usage.system_ms, "max_rss_kib",
                   (json_int_t)event->usage.max_rss_kib);
}

static const char *result_of(enum rd_code code) {
  if (code == RD_CODE_OK) return "delivered";
  if (code == RD_CODE_CLOSED) return "closed";
  return code == RD_CODE_ABORTED ? "aborted" : "failed";
}
