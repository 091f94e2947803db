// SPDX-License-Identifier: Apache-2.0
#include "protocol/request.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

// Decodes the fields of an operation.
typedef bool decode_function(json_t *object, struct rd_request *request, struct rd_error *error);

static bool decode_object(json_t *object, struct rd_request *request, struct rd_error *error);
static bool decode_prepare(json_t *object, struct rd_request *request, struct rd_error *error);
static bool decode_listen(json_t *object, struct rd_request *request, struct rd_error *error);
static bool decode_end(json_t *object, struct rd_request *request, struct rd_error *error);
static bool decode_rejoin(json_t *object, struct rd_request *request, struct rd_error *error);
static bool names_transport(const json_t *object);
static bool decode_dial(json_t *object, struct rd_request *request, struct rd_error *error);
static bool decode_go(json_t *object, struct rd_request *request, struct rd_error *error);
static bool decode_stderr_ack(json_t *object, struct rd_request *request, struct rd_error *error);
static bool decode_abort(json_t *object, struct rd_request *request, struct rd_error *error);
static bool invalid(const char *op, const char *reason, struct rd_error *error);

static const struct {
  const char *name;
  enum rd_request_op op;
  decode_function *decode;
} operations[] = {
    {"prepare", RD_REQUEST_PREPARE, decode_prepare},
    {"listen", RD_REQUEST_LISTEN, decode_listen},
    {"dial", RD_REQUEST_DIAL, decode_dial},
    {"show", RD_REQUEST_SHOW, decode_end},
    {"rejoin", RD_REQUEST_REJOIN, decode_rejoin},
    {"last", RD_REQUEST_LAST, decode_end},
    {"go", RD_REQUEST_GO, decode_go},
    {"stderr_ack", RD_REQUEST_STDERR_ACK, decode_stderr_ack},
    {"suspend", RD_REQUEST_SUSPEND, NULL},
    {"resume", RD_REQUEST_RESUME, NULL},
    {"abort", RD_REQUEST_ABORT, decode_abort},
    {"finish", RD_REQUEST_FINISH, NULL},
    {"ping", RD_REQUEST_PING, NULL},
};

bool rd_request_decode(const char *line, size_t bytes, struct rd_request *request, struct rd_error *error) {
  *request = (struct rd_request){0};
  json_error_t why;
  json_t *object = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &why);
  if (object == NULL) return invalid("a line", why.text, error);
  bool decoded = decode_object(object, request, error);
  json_decref(object);
  if (!decoded) rd_request_clear(request);
  return decoded;
}

void rd_request_clear(struct rd_request *request) {
  rd_prepare_destroy(request->prepare);
  json_decref(request->object);
  *request = (struct rd_request){0};
}

static bool decode_object(json_t *object, struct rd_request *request, struct rd_error *error) {
  const char *name = json_string_value(json_object_get(object, "op"));
  if (name == NULL) return invalid("a line", "it has no operation", error);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    if (strcmp(name, operations[i].name) != 0) continue;
    request->op = operations[i].op;
    return operations[i].decode == NULL || operations[i].decode(object, request, error);
  }
  return invalid(name, "unknown operation", error);
}

static bool decode_prepare(json_t *object, struct rd_request *request, struct rd_error *error) {
  request->prepare = rd_prepare_decode(object, error);
  return request->prepare != NULL;
}

static bool decode_listen(json_t *object, struct rd_request *request, struct rd_error *error) {
  const json_t *bind = json_object_get(object, "bind");
  if (bind != NULL && !json_is_string(bind) && !json_is_null(bind))
    return invalid("listen", "bind is not an address", error);
  if (!names_transport(object)) return invalid("listen", "unknown transport", error);
  return decode_end(object, request, error);
}

static bool decode_dial(json_t *object, struct rd_request *request, struct rd_error *error) {
  const json_t *addresses = json_object_get(object, "addresses");
  if (!json_array_size(addresses)) return invalid("dial", "no addresses", error);
  for (size_t i = 0; i < json_array_size(addresses); i++)
    if (!names_transport(json_array_get(addresses, i))) return invalid("dial", "unknown transport", error);
  return decode_end(object, request, error);
}

// Decodes the link and the side of the end; the program of that end decodes the rest.
static bool decode_end(json_t *object, struct rd_request *request, struct rd_error *error) {
  json_int_t link;
  const char *end;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:I,s:s}", "link", &link, "end", &end))
    return invalid("a request for an end", why.text, error);
  bool sends = strcmp(end, "send") == 0;
  if (!sends && strcmp(end, "recv") != 0) return invalid("a request for an end", "end is neither send nor recv", error);
  request->link = link;
  request->side = sends ? RD_SIDE_SEND : RD_SIDE_RECV;
  request->object = json_incref(object);
  return true;
}

static bool decode_rejoin(json_t *object, struct rd_request *request, struct rd_error *error) {
  if (!json_is_object(json_object_get(object, "open"))) return invalid("rejoin", "open is not an object", error);
  return decode_end(object, request, error);
}

static bool names_transport(const json_t *object) {
  const json_t *transport = json_object_get(object, "transport");
  const char *name = json_string_value(transport);
  return transport == NULL || (name != NULL && (strcmp(name, "tcp") == 0 || strcmp(name, "rdma") == 0));
}

static bool decode_go(json_t *object, struct rd_request *request, struct rd_error *error) {
  json_int_t segment;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:I}", "segment", &segment)) return invalid("go", why.text, error);
  if (segment < 1 || segment > UINT32_MAX) return invalid("go", "segment is out of range", error);
  request->segment = (unsigned)segment;
  return true;
}

static bool decode_stderr_ack(json_t *object, struct rd_request *request, struct rd_error *error) {
  json_int_t stage, bytes;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:I,s:I}", "stage", &stage, "bytes", &bytes))
    return invalid("stderr_ack", why.text, error);
  if (stage < 1 || stage > UINT32_MAX || bytes < 0) return invalid("stderr_ack", "a number is out of range", error);
  request->stage = (unsigned)stage;
  request->bytes = (uint64_t)bytes;
  return true;
}

static bool decode_abort(json_t *object, struct rd_request *request, struct rd_error *error) {
  const char *reason;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:s}", "reason", &reason)) return invalid("abort", why.text, error);
  snprintf(request->reason, sizeof request->reason, "%s", reason);
  rd_text_clean(request->reason, strlen(request->reason));
  return true;
}

static bool invalid(const char *op, const char *reason, struct rd_error *error) {
  rd_error_set(error, RD_CODE_USAGE, "rdpipe sent an invalid request: %.64s: %.256s", op, reason);
  return false;
}
