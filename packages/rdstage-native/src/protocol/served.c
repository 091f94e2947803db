// SPDX-License-Identifier: Apache-2.0
#include "protocol/served.h"

#include "runtime/json_made.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// A copy has three stages per host, besides `clean`; each may have a hop on both sides.
#define STAGES_MAX 8u
#define LINKS_MAX 16u
#define BUFFER_MAX_BYTES (64 << 20)

static const struct {
  const char *role;
  bool reads, writes;
} roles[] = {
    {"scan", true, false},  {"read", true, false}, {"compare", false, true},
    {"write", false, true}, {"copy", true, true},  {"clean", true, true},
};

static bool allows_stage(const struct rd_served *served, const struct rd_stage_spec *stage, struct rd_error *error);
static void bound_hop(const struct rd_served *served, json_t *open);
static bool read_port(const char *text, const char *end, uint16_t *port);
static bool refuse(struct rd_error *error, const char *reason);

bool rd_served_is(const struct rd_served *served) {
  return served->directory_fd > 0;
}

bool rd_served_take_rights(struct rd_served *served, const char *text) {
  bool both = strcmp(text, "both") == 0;
  served->reads = both || strcmp(text, "read") == 0;
  served->writes = both || strcmp(text, "write") == 0;
  return served->reads || served->writes;
}

bool rd_served_take_ports(struct rd_served *served, const char *text) {
  const char *dash = strchr(text, '-');
  return dash != NULL && read_port(text, dash, &served->low_port) &&
         read_port(dash + 1, dash + strlen(dash), &served->high_port) && served->low_port <= served->high_port;
}

bool rd_served_allows(const struct rd_served *served, struct rd_prepare_spec *prepare, struct rd_error *error) {
  if (!rd_served_is(served)) return true;
  if (prepare->stage_count > STAGES_MAX || prepare->link_count > LINKS_MAX)
    return refuse(error, "it has more parts than a copy");
  for (size_t i = 0; i < prepare->stage_count; i++)
    if (!allows_stage(served, &prepare->stages[i], error)) return false;
  for (size_t i = 0; i < prepare->link_count; i++)
    if (prepare->links[i].open != NULL) bound_hop(served, prepare->links[i].open);
  return true;
}

bool rd_served_allows_connection(const struct rd_served *served, const json_t *request, struct rd_error *error) {
  const json_t *addresses = json_object_get(request, "addresses");
  if (!rd_served_is(served)) return true;
  for (size_t i = 0; i < json_array_size(addresses); i++) {
    const json_t *address = json_array_get(addresses, i);
    const char *host = json_string_value(json_object_get(address, "host"));
    if (json_object_get(address, "unix") != NULL || (host != NULL && strchr(host, '/') != NULL))
      return refuse(error, "it dials a local socket");
  }
  return true;
}

static bool allows_stage(const struct rd_served *served, const struct rd_stage_spec *stage, struct rd_error *error) {
  if (stage->kind != RD_STAGE_TREE) return refuse(error, "only copies are served: no commands, and no files as stages");
  const char *role = json_string_value(json_object_get(stage->settings, "role"));
  for (size_t i = 0; role != NULL && i < sizeof roles / sizeof *roles; i++) {
    if (strcmp(role, roles[i].role) != 0) continue;
    if (roles[i].reads && !served->reads) return refuse(error, "this key may not read here");
    return !roles[i].writes || served->writes || refuse(error, "this key may not write here");
  }
  return refuse(error, "unknown kind of copy");
}

// rdsend and rdrecv refuse a value of another type.
static void bound_hop(const struct rd_served *served, json_t *open) {
  json_t *buffer = json_object_get(open, "buffer");
  if (json_integer_value(buffer) > BUFFER_MAX_BYTES) json_integer_set(buffer, BUFFER_MAX_BYTES);
  if (served->low_port == 0) return;
  json_object_set_new(open, "ports", rd_json_made(json_pack("[i,i]", served->low_port, served->high_port)));
}

static bool read_port(const char *text, const char *end, uint16_t *port) {
  char *after;
  errno = 0;
  long number = strtol(text, &after, 10);
  *port = (uint16_t)number;
  return errno == 0 && after == end && after > text && number > 0 && number <= UINT16_MAX;
}

static bool refuse(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_USAGE, "the server refuses this: %s", reason);
  return false;
}
