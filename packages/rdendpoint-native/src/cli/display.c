// SPDX-License-Identifier: Apache-2.0
#include "cli/display.h"

#include "agent/event_json.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/size_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define PLAIN_EVERY_MS 10000
#define ROW_BYTES 512
#define WIRE_TEXT_BYTES 64

static enum rd_progress choose_progress(const struct rd_options *options);
static void show_json(const struct rd_event *event);
static void show_text(struct rd_display *display, const struct rd_event *event);
static void show_listening(struct rd_display *display, const struct rd_event *event);
static void show_rejected(struct rd_display *display, const struct rd_event *event);
static void show_connected(struct rd_display *display, const struct rd_event *event);
static bool is_mac(const char *cipher);
static void show_progress(struct rd_display *display, const struct rd_event *event);
static void show_finished(struct rd_display *display, const struct rd_event *event);
static void show_summary(struct rd_display *display, const struct rd_event *event);
static void append_wait(char *text, size_t text_bytes, int64_t waited_ms, const char *what);
static void format_wire_bytes(const struct rd_display *display, const struct rd_event *event, char *out,
                              size_t out_bytes);
static void print_line(struct rd_display *display, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(const char *text);

void rd_display_init(struct rd_display *display, const struct rd_options *options) {
  *display = (struct rd_display){
      .options = options,
      .program = rd_role_name(options->role),
      .progress = choose_progress(options),
      .started_at_ms = rd_now_ms(),
      .size_bytes = -1,
  };
}

void rd_display_event(struct rd_display *display, const struct rd_event *event) {
  if (display->options->json)
    show_json(event);
  else
    show_text(display, event);
}

void rd_display_line(struct rd_display *display, const char *text) {
  if (!display->options->json) print_line(display, "%s", text);
}

static enum rd_progress choose_progress(const struct rd_options *options) {
  if (options->quiet || options->json) return RD_PROGRESS_NONE;
  if (options->progress != RD_PROGRESS_AUTO) return options->progress;
  // A live row would be mixed with data that is written to the same terminal.
  bool output_there = options->role == RD_ROLE_RECEIVER && options->file == NULL && isatty(STDOUT_FILENO);
  return isatty(STDERR_FILENO) && !output_there ? RD_PROGRESS_LIVE : RD_PROGRESS_NONE;
}

static void show_json(const struct rd_event *event) {
  json_t *object = rd_event_to_json(event);
  if (object == NULL) return;
  json_object_set_new(object, "v", json_integer(1));
  RD_AUTO_FREE char *text = json_dumps(object, JSON_COMPACT);
  json_decref(object);
  if (text == NULL) return;
  print(text);
  print("\n");
}

static void show_text(struct rd_display *display, const struct rd_event *event) {
  const struct rd_options *options = display->options;
  switch (event->type) {
  case RD_EVENT_LISTENING:
    show_listening(display, event);
    return;
  case RD_EVENT_LISTEN_FAILED:
    if (options->verbose && event->rdma && options->transport == RD_TRANSPORT_AUTO)
      print_line(display, "not listening over RDMA: %s", event->error->message);
    return;
  case RD_EVENT_REJECTED:
    if (!options->quiet) show_rejected(display, event);
    return;
  case RD_EVENT_CONNECTED:
    show_connected(display, event);
    return;
  case RD_EVENT_BROKEN:
    if (!options->quiet) print_line(display, "%s; reconnecting", event->error->message);
    return;
  case RD_EVENT_RESUMED:
    if (!options->quiet) print_line(display, "reconnected, resuming after %" PRIu64 " bytes", event->bytes);
    return;
  case RD_EVENT_SIZE:
    display->size_bytes = (int64_t)event->bytes;
    return;
  case RD_EVENT_COUNTERS:
    display->waits = event->waits;
    show_progress(display, event);
    return;
  case RD_EVENT_FINISHED:
    show_finished(display, event);
    return;
  default:
    return;
  }
}

// Prints, once, a port that the user did not choose.
static void show_listening(struct rd_display *display, const struct rd_event *event) {
  const struct rd_options *options = display->options;
  bool wanted = options->port == 0 && (!event->rdma || options->transport == RD_TRANSPORT_RDMA);
  if (wanted || options->verbose)
    print_line(display, "listening on port %u%s", event->port, event->rdma ? " over rdma" : "");
}

static void show_rejected(struct rd_display *display, const struct rd_event *event) {
  const char *why = event->error->message;
  bool is_named = strncmp(why, event->peer, strlen(event->peer)) == 0;
  print_line(display, "rejected: %s%s%s", is_named ? "" : event->peer, is_named ? "" : ": ", why);
}

static void show_connected(struct rd_display *display, const struct rd_event *event) {
  display->started_at_ms = display->shown_at_ms = rd_now_ms();
  snprintf(display->peer, sizeof display->peer, "%s", event->peer);
  snprintf(display->transport, sizeof display->transport, "%s", event->transport);
  snprintf(display->cipher, sizeof display->cipher, "%s%s", is_mac(event->cipher) ? "none, authenticated by " : "",
           event->cipher);
  snprintf(display->device, sizeof display->device, "%s", event->device != NULL ? event->device : "");
  display->node[0] = '\0';
  if (event->numa_node != NULL) snprintf(display->node, sizeof display->node, " on node %d", *event->numa_node);
  if (event->note != NULL && !display->options->quiet) print_line(display, "%s", event->note);
}

// The MACs of unencrypted DATA, by their names in docs/protocol/agent.md.
static bool is_mac(const char *cipher) {
  return strcmp(cipher, "aes-256-gmac") == 0 || strcmp(cipher, "poly1305") == 0;
}

static void show_progress(struct rd_display *display, const struct rd_event *event) {
  int64_t now_ms = rd_now_ms(), passed_ms = now_ms - display->shown_at_ms;
  bool live = display->progress == RD_PROGRESS_LIVE;
  if (display->progress == RD_PROGRESS_NONE || display->peer[0] == '\0' || passed_ms <= 0) return;
  if (!live && passed_ms < PLAIN_EVERY_MS) return;
  char done[RD_SIZE_TEXT_BYTES], rate[RD_SIZE_TEXT_BYTES], wire[WIRE_TEXT_BYTES], share[16] = "";
  rd_size_text((double)event->bytes, done, sizeof done);
  rd_rate_text((double)(event->bytes - display->shown_bytes) * 1000 / (double)passed_ms, rate, sizeof rate);
  format_wire_bytes(display, event, wire, sizeof wire);
  if (display->size_bytes > 0)
    snprintf(share, sizeof share, " %3.0f %%", 100.0 * (double)event->bytes / (double)display->size_bytes);
  char row[ROW_BYTES];
  snprintf(row, sizeof row, live ? "\r\033[K%s: %s%s %s%s" : "%s: %s%s %s%s\n", display->program, done, wire, rate,
           share);
  print(row);
  display->row_shown = live;
  display->shown_at_ms = now_ms;
  display->shown_bytes = event->bytes;
}

static void show_finished(struct rd_display *display, const struct rd_event *event) {
  enum rd_code code = event->error->code;
  if (display->row_shown) print("\r\033[K");
  display->row_shown = false;
  bool good = code == RD_CODE_OK || code == RD_CODE_CLOSED;
  if (display->options->verbose && display->peer[0] != '\0') show_summary(display, event);
  // A consumer that closed early is not an error: a local pipe does not report it either.
  if (!good || (code == RD_CODE_CLOSED && display->options->verbose)) print_line(display, "%s", event->error->message);
}

static void show_summary(struct rd_display *display, const struct rd_event *event) {
  double seconds = (double)(rd_now_ms() - display->started_at_ms) / 1000;
  char rate[RD_SIZE_TEXT_BYTES], text[ROW_BYTES];
  rd_rate_text(seconds > 0 ? (double)event->bytes / seconds : 0, rate, sizeof rate);
  snprintf(text, sizeof text, "Bandwidth %s\n", rate);
  print(text);
  bool sends = display->options->role == RD_ROLE_SENDER;
  const char *device = display->device;
  char wire[WIRE_TEXT_BYTES];
  format_wire_bytes(display, event, wire, sizeof wire);
  // Lines that fit 80 columns.
  print_line(display, "%s %" PRIu64 " bytes%s in %.3f s", sends ? "sent" : "received", event->bytes, wire, seconds);
  print_line(display, "%s %s over %s%s%s%s, cipher %s", sends ? "to" : "from", display->peer, display->transport,
             device[0] != '\0' ? " " : "", device, display->node, display->cipher);
  char between[128] = "";
  if (display->options->settings.limit > 0) append_wait(between, sizeof between, display->waits.limit_ms, "limit");
  if (display->waits.worker_ms > 0) append_wait(between, sizeof between, display->waits.worker_ms, "workers");
  print_line(display, "waited for input %.3f s, %swire %.3f s, output %.3f s", (double)display->waits.input_ms / 1000,
             between, (double)display->waits.wire_ms / 1000, (double)display->waits.output_ms / 1000);
}

static void append_wait(char *text, size_t text_bytes, int64_t waited_ms, const char *what) {
  size_t used = strlen(text);
  snprintf(text + used, text_bytes - used, "%s %.3f s, ", what, (double)waited_ms / 1000);
}

// " (1.0 GiB on the wire)" for a compressed stream, otherwise "". A receiver infers compression from the counters.
static void format_wire_bytes(const struct rd_display *display, const struct rd_event *event, char *out,
                              size_t out_bytes) {
  bool sends = display->options->role == RD_ROLE_SENDER;
  bool compressed = sends ? display->options->settings.compress > 0 : event->wire_bytes < event->bytes;
  char size[RD_SIZE_TEXT_BYTES];
  out[0] = '\0';
  if (!compressed) return;
  rd_size_text((double)event->wire_bytes, size, sizeof size);
  snprintf(out, out_bytes, " (%s on the wire)", size);
}

static void print_line(struct rd_display *display, const char *format, ...) {
  char text[1024];
  int used = snprintf(text, sizeof text, "%s%s: ", display->row_shown ? "\r\033[K" : "", display->program);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, sizeof text - (size_t)used - 1, format, arguments);
  va_end(arguments);
  display->row_shown = false;
  size_t length = strlen(text);
  snprintf(text + length, sizeof text - length, "\n");
  print(text);
}

// Ignores errors: if standard error is closed, there is no other place to report them.
static void print(const char *text) {
  rd_write_all(STDERR_FILENO, text, strlen(text));
}
