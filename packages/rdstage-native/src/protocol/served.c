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
#define STREAMS_MAX 16
#define LEASE_MAX_MS (3600 * 1000)

static bool allows_stage(const struct rd_served *served, const struct rd_stage_spec *stage, struct rd_error *error);
static bool reveals_nothing(const json_t *settings, struct rd_error *error);
static void bound_hop(const struct rd_served *served, json_t *open);
static bool read_port(const char *text, const char *end, uint16_t *port);
static bool refuse(struct rd_error *error, const char *reason);

bool rd_served_is(const struct rd_served *served) {
  return served->directory_fd > 0;
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
  if (prepare->lease_ms > LEASE_MAX_MS) prepare->lease_ms = LEASE_MAX_MS;
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
  enum rd_tree_role role;
  bool is_known = rd_tree_role_named(json_string_value(json_object_get(stage->settings, "role")), &role);
  // Only rdsend starts the role `send`.
  enum rd_rights needed = is_known && role != RD_TREE_SEND ? rd_tree_roles[role].rights : RD_RIGHTS_NONE;
  if (needed == RD_RIGHTS_NONE) return refuse(error, "unknown kind of copy");
  unsigned lacks = needed & ~(unsigned)served->rights;
  if (lacks & RD_RIGHTS_READ) return refuse(error, "this key may not read here");
  if (lacks != 0) return refuse(error, "this key may not write here");
  return (served->rights & RD_RIGHTS_READ) != 0 || reveals_nothing(stage->settings, error);
}

// A key that may only write must not learn what is here: names from a plan or from removals, contents from comparisons.
static bool reveals_nothing(const json_t *settings, struct rd_error *error) {
  const char *plan = json_string_value(json_object_get(settings, "plan"));
  if (plan != NULL && strcmp(plan, "none") != 0)
    return refuse(error, "-n shows what is here, and this key may not read");
  if (json_is_true(json_object_get(settings, "checksum")))
    return refuse(error, "--checksum compares what is here, and this key may not read");
  return !json_is_true(json_object_get(settings, "remove")) ||
         refuse(error, "--delete names what is here, and this key may not read");
}

// rdsend and rdrecv refuse a value of another type.
static void bound_hop(const struct rd_served *served, json_t *open) {
  json_t *buffer = json_object_get(open, "buffer");
  const json_t *streams = json_object_get(open, "streams");
  json_int_t most_bytes =
      BUFFER_MAX_BYTES / (json_integer_value(streams) == 1 ? 1 : STREAMS_MAX); // each stream has a buffer
  if (json_integer_value(buffer) > most_bytes) json_integer_set(buffer, most_bytes);
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
  rd_error_set(error, RD_CODE_USAGE, RD_SERVED_REFUSAL "%s", reason);
  return false;
}
