// SPDX-License-Identifier: Apache-2.0
#include "forward/specs.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

#define FIELDS_MAX 4u

struct field {
  char *text;
  bool is_path;
};

static bool split(char *text, struct field *fields, size_t *count);
static bool end_of_field(char **at, struct field *field);
static bool read_fields(const struct field *fields, size_t count, struct rd_spec *spec);
static bool read_listener(const struct field *address, const struct field *port, struct rd_place *place);
static bool read_place(const struct field *address, const struct field *port, struct rd_place *place);
static bool read_path(const struct field *field, struct rd_place *place);
static bool read_port(const char *text, uint16_t *port);

bool rd_specs_add(struct rd_specs *specs, const char *text, bool is_remote, struct rd_error *error) {
  RD_AUTO_FREE char *copy = rd_memory_copy(text, strlen(text));
  struct field fields[FIELDS_MAX];
  struct rd_spec spec = {0};
  size_t count = 0;
  bool is_good = split(copy, fields, &count) && read_fields(fields, count, &spec);
  bool has_port = is_remote || rd_place_is_path(&spec.listen) || spec.listen.port != 0;
  if (!is_good || !has_port || specs->count == RD_SPECS_MAX) {
    rd_error_set(error, RD_CODE_USAGE, "-%c %.200s: %s", is_remote ? 'R' : 'L', text,
                 specs->count == RD_SPECS_MAX ? "too many forwards"
                                              : "it must be [BIND:]PORT:HOST:HOSTPORT, or name sockets");
    return false;
  }
  specs->items = rd_memory_resize(specs->items, specs->count + 1, sizeof *specs->items);
  specs->items[specs->count++] = spec;
  return true;
}

void rd_specs_open_to_all(struct rd_specs *specs) {
  for (size_t i = 0; i < specs->count; i++)
    if (specs->items[i].listen.address[0] == '\0') memcpy(specs->items[i].listen.address, "*", 2);
}

void rd_specs_replace_sockets(struct rd_specs *specs) {
  for (size_t i = 0; i < specs->count; i++) specs->items[i].listen.replaces_socket = true;
}

void rd_specs_clear(struct rd_specs *specs) {
  free(specs->items);
  *specs = (struct rd_specs){0};
}

bool rd_place_is_path(const struct rd_place *place) {
  return place->address[0] == '/';
}

void rd_place_text(const struct rd_place *place, char text[RD_PLACE_TEXT_BYTES]) {
  const char *address = place->address;
  if (rd_place_is_path(place))
    snprintf(text, RD_PLACE_TEXT_BYTES, "%.120s", address);
  else if (address[0] == '\0')
    snprintf(text, RD_PLACE_TEXT_BYTES, "port %u", place->port);
  else
    snprintf(text, RD_PLACE_TEXT_BYTES, strchr(address, ':') ? "[%.100s]:%u" : "%.100s:%u", address, place->port);
}

// Splits at colons that are neither in brackets nor escaped by a backslash.
static bool split(char *text, struct field *fields, size_t *count) {
  char *at = text;
  do {
    if (*count == FIELDS_MAX || !end_of_field(&at, &fields[(*count)++])) return false;
  } while (at != NULL);
  return true;
}

// Moves *at past the colon of the field; NULL: it was the last field.
static bool end_of_field(char **at, struct field *field) {
  char *out = *at, *in = *at;
  *field = (struct field){.text = *at, .is_path = *in == '/'};
  if (*in == '[') {
    char *closing = strchr(in, ']');
    if (closing == NULL || (closing[1] != ':' && closing[1] != '\0')) return false;
    field->text = in + 1;
    in = closing + 1;
    *closing = '\0';
    *at = *in == ':' ? in + 1 : NULL;
    return true;
  }
  while (*in != '\0' && *in != ':') {
    if (*in == '\\' && *++in == '\0') return false;
    *out++ = *in++;
  }
  *at = *in == ':' ? in + 1 : NULL;
  *out = '\0';
  return true;
}

static bool read_fields(const struct field *fields, size_t count, struct rd_spec *spec) {
  struct rd_place *listen = &spec->listen, *target = &spec->target;
  bool from_path = fields[0].is_path;
  switch (count) {
  case 2:
    return (from_path ? read_path(&fields[0], listen) : read_listener(NULL, &fields[0], listen)) &&
           read_path(&fields[1], target);
  case 3:
    if (from_path) return read_path(&fields[0], listen) && read_place(&fields[1], &fields[2], target);
    if (fields[2].is_path) return read_listener(&fields[0], &fields[1], listen) && read_path(&fields[2], target);
    return read_listener(NULL, &fields[0], listen) && read_place(&fields[1], &fields[2], target);
  case 4:
    return read_listener(&fields[0], &fields[1], listen) && read_place(&fields[2], &fields[3], target);
  default:
    return false;
  }
}

// An empty address means every address; none means this host, or with -g every address.
static bool read_listener(const struct field *address, const struct field *port, struct rd_place *place) {
  const char *text = address == NULL ? "" : address->text;
  if (address != NULL && *address->text == '\0') text = "*";
  if ((address != NULL && address->is_path) || port->is_path || strlen(text) >= RD_PLACE_BYTES) return false;
  memcpy(place->address, text, strlen(text) + 1);
  return read_port(port->text, &place->port);
}

static bool read_place(const struct field *address, const struct field *port, struct rd_place *place) {
  size_t bytes = strlen(address->text);
  if (address->is_path || port->is_path || bytes == 0 || bytes >= RD_PLACE_BYTES) return false;
  memcpy(place->address, address->text, bytes + 1);
  return read_port(port->text, &place->port) && place->port != 0;
}

static bool read_path(const struct field *field, struct rd_place *place) {
  size_t bytes = strlen(field->text);
  if (!field->is_path || bytes >= RD_PLACE_BYTES) return false;
  memcpy(place->address, field->text, bytes + 1);
  return true;
}

// Reads a number, or the name of a service.
static bool read_port(const char *text, uint16_t *port) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (isdigit((unsigned char)*text) && *end == '\0' && number <= UINT16_MAX) {
    *port = (uint16_t)number;
    return true;
  }
#ifdef RD_STATIC
  return false;
#else
  const struct servent *service = *text == '\0' || isdigit((unsigned char)*text) ? NULL : getservbyname(text, "tcp");
  if (service != NULL) *port = ntohs((uint16_t)service->s_port);
  return service != NULL;
#endif
}
