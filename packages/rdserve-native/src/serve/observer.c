// SPDX-License-Identifier: Apache-2.0
#include "serve/observer.h"

#include "base/hex.h"
#include "base/memory.h"
#include "base/text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES (1u << 20)
#define COUNTERS_MAX 32
#define PATH_BYTES 400u

// The part of a line that has arrived so far, in one direction.
struct line {
  char *bytes;
  size_t count, room;
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
  bool is_open;
  struct counter counters[COUNTERS_MAX];
  size_t counter_count;
};

typedef void line_function(struct rd_observer *observer, const struct line *line);

static void take(struct rd_observer *observer, struct line *line, const char *bytes, size_t count,
                 line_function *function);
static void append(struct line *line, const char *bytes, size_t count);
static void on_request(struct rd_observer *observer, const struct line *line);
static void on_event(struct rd_observer *observer, const struct line *line);
static void open_copy(struct rd_observer *observer, const json_t *stages);
static enum rd_serve_rights rights_of(const char *role);
static void path_of(const json_t *settings, char path[PATH_BYTES]);
static void count(struct rd_observer *observer, json_int_t link, bool receives, json_int_t bytes);
static struct counter *counter_of(struct rd_observer *observer, json_int_t link, bool receives);

struct rd_observer *rd_observer_create(const struct rd_observer_handler *handler) {
  struct rd_observer *observer = rd_memory_new(1, sizeof *observer);
  observer->handler = *handler;
  return observer;
}

void rd_observer_destroy(struct rd_observer *observer) {
  if (observer == NULL) return;
  free(observer->request.bytes);
  free(observer->event.bytes);
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
    if (!line->is_too_long) function(observer, line);
    if (line->count > 0) explicit_bzero(line->bytes, line->count); // requests contain keys
    line->count = 0;
    line->is_too_long = false;
    bytes += before + 1;
    count_bytes -= before + 1;
  }
  append(line, bytes, count_bytes);
}

static void append(struct line *line, const char *bytes, size_t count_bytes) {
  line->is_too_long = line->is_too_long || count_bytes > LINE_MAX_BYTES - line->count;
  if (line->is_too_long || count_bytes == 0) return;
  if (line->count + count_bytes > line->room) {
    size_t room = line->room > 0 ? line->room : 4096;
    while (room < line->count + count_bytes) room *= 2;
    char *moved = rd_memory_new(room, 1);
    if (line->count > 0) memcpy(moved, line->bytes, line->count);
    if (line->bytes != NULL) explicit_bzero(line->bytes, line->room);
    free(line->bytes);
    line->bytes = moved;
    line->room = room;
  }
  memcpy(line->bytes + line->count, bytes, count_bytes);
  line->count += count_bytes;
}

// A client may send its fields in any order.
static void on_request(struct rd_observer *observer, const struct line *line) {
  if (observer->is_open || line->count == 0) return;
  json_t *request = json_loadb(line->bytes, line->count, 0, NULL);
  const char *op = json_string_value(json_object_get(request, "op"));
  if (op != NULL && strcmp(op, "prepare") == 0) open_copy(observer, json_object_get(request, "stages"));
  json_decref(request);
}

// The order of the agent's fields is known, so most lines need not be decoded.
static void on_event(struct rd_observer *observer, const struct line *line) {
  static const char *const begins[] = {"{\"event\":\"counters\"", "{\"event\":\"link_ended\""};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
    size_t bytes = strlen(begins[i]);
    if (line->count < bytes || memcmp(line->bytes, begins[i], bytes) != 0) continue;
    json_t *event = json_loadb(line->bytes, line->count, 0, NULL);
    json_int_t link, moved;
    const char *end;
    if (json_unpack(event, "{s:I,s:s,s:I}", "link", &link, "end", &end, "bytes", &moved) == 0)
      count(observer, link, strcmp(end, "recv") == 0, moved);
    json_decref(event);
    return;
  }
}

static void open_copy(struct rd_observer *observer, const json_t *stages) {
  unsigned rights = 0;
  char path[PATH_BYTES] = "";
  for (size_t i = 0; i < json_array_size(stages); i++) {
    const json_t *settings = json_object_get(json_array_get(stages, i), "settings");
    const char *role = json_string_value(json_object_get(settings, "role"));
    if (role == NULL) continue;
    rights |= rights_of(role);
    if (path[0] == '\0') path_of(settings, path);
  }
  if (rights == 0) return;
  observer->is_open = true;
  observer->handler.opened(observer->handler.context, (enum rd_serve_rights)rights, path);
}

static enum rd_serve_rights rights_of(const char *role) {
  if (strcmp(role, "copy") == 0 || strcmp(role, "clean") == 0) return RD_RIGHTS_BOTH;
  return strcmp(role, "compare") == 0 || strcmp(role, "write") == 0 ? RD_RIGHTS_WRITE : RD_RIGHTS_READ;
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
