// SPDX-License-Identifier: Apache-2.0
#include "serve/observer.h"

#include "base/byte_queue.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The agent accepts requests of this length.
#define LINE_MAX_BYTES (16u << 20)
#define COUNTERS_MAX 32
#define PATH_BYTES 400u

// The part of a line that has arrived so far, in one direction.
struct line {
  struct rd_byte_queue bytes; // secret, because requests contain keys
  bool is_too_long;
};

struct counter {
  json_int_t link;
  bool receives;
  json_int_t bytes;
};

struct rd_observer {
  struct rd_observer_handler handler;
  struct line request, event;
  bool is_open, is_refused;
  struct counter counters[COUNTERS_MAX];
  size_t counter_count;
};

typedef void line_function(struct rd_observer *observer, const char *line, size_t bytes);

static void take(struct rd_observer *observer, struct line *line, const char *bytes, size_t count,
                 line_function *function);
static void append(struct line *line, const char *bytes, size_t count);
static void on_request(struct rd_observer *observer, const char *line, size_t bytes);
static void on_event(struct rd_observer *observer, const char *line, size_t bytes);
static bool may_matter(const char *line, size_t bytes);
static void take_refusal(struct rd_observer *observer, const char *message);
static void open_copy(struct rd_observer *observer, const json_t *stages);
static void path_of(const json_t *settings, char path[PATH_BYTES]);
static void count(struct rd_observer *observer, json_int_t link, bool receives, json_int_t bytes);
static struct counter *counter_of(struct rd_observer *observer, json_int_t link, bool receives);

struct rd_observer *rd_observer_create(const struct rd_observer_handler *handler) {
  struct rd_observer *observer = rd_memory_new(1, sizeof *observer);
  *observer = (struct rd_observer){.handler = *handler, .request.bytes.is_secret = true, .event.bytes.is_secret = true};
  return observer;
}

void rd_observer_destroy(struct rd_observer *observer) {
  if (observer == NULL) return;
  rd_byte_queue_clear(&observer->request.bytes);
  rd_byte_queue_clear(&observer->event.bytes);
  free(observer);
}

void rd_observer_request(struct rd_observer *observer, const char *bytes, size_t count_bytes) {
  take(observer, &observer->request, bytes, count_bytes, on_request);
}

void rd_observer_event(struct rd_observer *observer, const char *bytes, size_t count_bytes) {
  take(observer, &observer->event, bytes, count_bytes, on_event);
}

static void take(struct rd_observer *observer, struct line *line, const char *bytes, size_t count_bytes,
                 line_function *function) {
  for (const char *newline; (newline = memchr(bytes, '\n', count_bytes)) != NULL;) {
    size_t before = (size_t)(newline - bytes);
    append(line, bytes, before);
    size_t length = rd_byte_queue_count(&line->bytes);
    if (!line->is_too_long && length > 0) function(observer, (const char *)rd_byte_queue_first(&line->bytes), length);
    rd_byte_queue_take(&line->bytes, length);
    line->is_too_long = false;
    bytes += before + 1;
    count_bytes -= before + 1;
  }
  append(line, bytes, count_bytes);
}

static void append(struct line *line, const char *bytes, size_t count_bytes) {
  line->is_too_long = line->is_too_long || count_bytes > LINE_MAX_BYTES - rd_byte_queue_count(&line->bytes);
  if (!line->is_too_long && count_bytes > 0) rd_byte_queue_append(&line->bytes, bytes, count_bytes);
}

static void on_request(struct rd_observer *observer, const char *line, size_t bytes) {
  if (observer->is_open) return;
  json_t *request = json_loadb(line, bytes, 0, NULL);
  const char *op = json_string_value(json_object_get(request, "op"));
  if (op != NULL && strcmp(op, "prepare") == 0) open_copy(observer, json_object_get(request, "stages"));
  json_decref(request);
}

static void on_event(struct rd_observer *observer, const char *line, size_t bytes) {
  if (!may_matter(line, bytes)) return;
  json_t *event = json_loadb(line, bytes, 0, NULL);
  json_int_t link, moved;
  const char *name, *end, *message;
  if (json_unpack(event, "{s:s,s:I,s:s,s:I}", "event", &name, "link", &link, "end", &end, "bytes", &moved) == 0 &&
      (strcmp(name, "counters") == 0 || strcmp(name, "link_ended") == 0))
    count(observer, link, strcmp(end, "recv") == 0, moved);
  if (json_unpack(event, "{s:s,s:s}", "event", &name, "message", &message) == 0 && strcmp(name, "failed") == 0)
    take_refusal(observer, message);
  json_decref(event);
}

// Returns false if the line does not contain the name of an event that matters, so that most lines need not be decoded.
static bool may_matter(const char *line, size_t bytes) {
  return memmem(line, bytes, "\"counters\"", 10) != NULL || memmem(line, bytes, "\"link_ended\"", 12) != NULL ||
         memmem(line, bytes, "\"failed\"", 8) != NULL;
}

// Other failures are not refusals: a connection may be lost. The words before the reason are for the client.
static void take_refusal(struct rd_observer *observer, const char *message) {
  static const char begin[] = RD_SERVED_REFUSAL;
  char reason[PATH_BYTES];
  if (observer->is_refused || strncmp(message, begin, sizeof begin - 1) != 0) return;
  observer->is_refused = true;
  snprintf(reason, sizeof reason, "%s", message + sizeof begin - 1);
  rd_text_clean(reason, strlen(reason));
  observer->handler.refused(observer->handler.context, reason);
}

static void open_copy(struct rd_observer *observer, const json_t *stages) {
  unsigned rights = 0;
  char path[PATH_BYTES] = "";
  for (size_t i = 0; i < json_array_size(stages); i++) {
    const json_t *settings = json_object_get(json_array_get(stages, i), "settings");
    enum rd_tree_role role;
    if (!rd_tree_role_named(json_string_value(json_object_get(settings, "role")), &role)) continue;
    rights |= rd_tree_roles[role].rights;
    if (path[0] == '\0') path_of(settings, path);
  }
  if (rights == 0) return;
  observer->is_open = true;
  observer->handler.opened(observer->handler.context, (enum rd_rights)rights, path);
}

static void path_of(const json_t *settings, char path[PATH_BYTES]) {
  const json_t *sources = json_object_get(settings, "sources");
  const json_t *target = json_object_get(settings, "target");
  const char *digits = json_string_value(target != NULL ? target : json_array_get(sources, 0));
  size_t length = digits != NULL ? strlen(digits) : 0, bytes = 0;
  if (length > 2 * (PATH_BYTES - 1)) length = 2 * (PATH_BYTES - 1);
  if (length == 0 || !rd_hex_decode(digits, length, (unsigned char *)path, PATH_BYTES - 1, &bytes)) bytes = 0;
  path[bytes] = '\0';
  rd_text_clean(path, bytes);
}

// Counters only grow; an agent that was taken over may send other values.
static void count(struct rd_observer *observer, json_int_t link, bool receives, json_int_t bytes) {
  struct counter *counter = counter_of(observer, link, receives);
  if (counter == NULL || bytes <= counter->bytes) return;
  uint64_t more = (uint64_t)(bytes - counter->bytes);
  counter->bytes = bytes;
  observer->handler.moved(observer->handler.context, receives ? more : 0, receives ? 0 : more);
}

static struct counter *counter_of(struct rd_observer *observer, json_int_t link, bool receives) {
  for (size_t i = 0; i < observer->counter_count; i++)
    if (observer->counters[i].link == link && observer->counters[i].receives == receives) return &observer->counters[i];
  if (observer->counter_count == COUNTERS_MAX) return NULL;
  struct counter *added = &observer->counters[observer->counter_count++];
  *added = (struct counter){.link = link, .receives = receives};
  return added;
}
