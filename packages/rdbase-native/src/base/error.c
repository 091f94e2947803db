// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set_message(struct rd_error *error, enum rd_code code, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
static const char *system_message(int number, char *message, size_t bytes);
static const char *remedy(int number);

static const struct {
  const char *name;
  int status;
} codes[] = {
    [RD_CODE_OK] = {"ok", 0},
    [RD_CODE_USAGE] = {"usage", 2},
    [RD_CODE_CANNOT_CONNECT] = {"cannot_connect", 3},
    [RD_CODE_KEY_REFUSED] = {"key_refused", 4},
    [RD_CODE_PEER_LOST] = {"peer_lost", 5},
    [RD_CODE_PEER_STALLED] = {"peer_stalled", 5},
    [RD_CODE_SOURCE_UNREADABLE] = {"source_unreadable", 6},
    [RD_CODE_SINK_UNWRITABLE] = {"sink_unwritable", 7},
    [RD_CODE_DATA_DAMAGED] = {"data_damaged", 8},
    [RD_CODE_ABORTED] = {"aborted", 9},
    [RD_CODE_CLOSED] = {"closed", 128 + SIGPIPE},
    [RD_CODE_INTERNAL] = {"internal", 10},
    [RD_CODE_PEER_CLOSED] = {"peer_lost", 5},
    [RD_CODE_NOT_REQUESTED] = {"not_requested", 8},
};
static const unsigned code_count = sizeof codes / sizeof codes[0];

void rd_error_set(struct rd_error *error, enum rd_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_message(error, code, format, arguments);
  va_end(arguments);
}

void rd_error_set_errno(struct rd_error *error, enum rd_code code, const char *format, ...) {
  int number = errno;
  va_list arguments;
  va_start(arguments, format);
  set_message(error, code, format, arguments);
  va_end(arguments);
  size_t used = strlen(error->message);
  char message[128];
  snprintf(error->message + used, sizeof error->message - used, ": %s%s",
           system_message(number, message, sizeof message), remedy(number));
}

const char *rd_code_name(enum rd_code code) {
  return (unsigned)code < code_count ? codes[code].name : "internal";
}

bool rd_code_is_loss(enum rd_code code) {
  return code == RD_CODE_PEER_LOST || code == RD_CODE_PEER_CLOSED;
}

int rd_code_status(enum rd_code code) {
  return (unsigned)code < code_count ? codes[code].status : codes[RD_CODE_INTERNAL].status;
}

enum rd_code rd_code_from_status(unsigned status) {
  for (unsigned code = RD_CODE_USAGE; code < code_count; code++)
    if ((unsigned)codes[code].status == status) return (enum rd_code)code;
  return RD_CODE_ABORTED;
}

// Formats into a separate buffer first, because error->message is often one of the arguments.
static void set_message(struct rd_error *error, enum rd_code code, const char *format, va_list arguments) {
  char message[sizeof error->message];
  vsnprintf(message, sizeof message, format, arguments);
  rd_text_clean(message, strlen(message));
  error->code = code;
  memcpy(error->message, message, strlen(message) + 1);
}

// The system's message for an errno, beginning with a lower-case letter unless it begins with an acronym ("RPC …").
static const char *system_message(int number, char *message, size_t bytes) {
  char text[128];
  snprintf(message, bytes, "%s", strerror_r(number, text, sizeof text));
  if (islower((unsigned char)message[1]) || message[1] == ' ') message[0] = (char)tolower((unsigned char)message[0]);
  return message;
}

static const char *remedy(int number) {
  if (number == EMFILE) return " (ulimit -n raises the limit)";
  if (number == EAGAIN) return " (too many processes, or too little memory: see ulimit -u and ulimit -v)";
  return "";
}
