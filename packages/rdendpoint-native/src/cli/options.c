// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include "base/size_text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1000000.0

// Different versions of clang-format lay out this part differently.
// clang-format off
#define FLAG(letter, name, member, help) RD_OPTION_FLAG(letter, name, struct rd_options, member, help)
#define MODE(letter, name, choose, help) \
  { letter, name, NULL, choose, NULL, 0, help }
// clang-format on

static bool parse_progress(void *to, const char *text);
static bool parse_transport(void *to, const char *text);
static bool parse_encrypt(void *to, const char *text);
static bool parse_jobs(void *to, const char *text);
static bool parse_numa(void *to, const char *text);
static bool parse_congestion(void *to, const char *text);
static bool parse_auto(bool *is_auto, const char *text, const char *other);
static bool parse_streams(void *to, const char *text);
static bool parse_buffer(void *to, const char *text);
static bool parse_stall_timeout(void *to, const char *text);
static bool parse_key_fd(void *to, const char *text);
static bool parse_agent_fd(void *to, const char *text);
static bool choose_version(void *to, const char *text);
static bool choose_help(void *to, const char *text);

// These come after the end's own options in --help, in this order.
static const struct rd_option_row common[] = {
    FLAG('v', "verbose", verbose, "print a summary on standard error, bandwidth first"),
    FLAG('q', "quiet", quiet, "print nothing on standard error except a failure"),
    FLAG('A', "acls", acls, "with a directory: also copy ACLs"),
    FLAG('X', "xattrs", xattrs,
         "with a directory: also copy extended attributes\n"
         "(user.*; as root all except system.*)"),
    RD_OPTION_VALUE("progress", "MODE", parse_progress, "auto, live, plain or none",
                    "show progress: auto, live, plain (a line every\n"
                    "10 s) or none"),
    FLAG(0, "json", json, "print events as JSON objects on standard error"),
    RD_OPTION_VALUE("transport", "NAME", parse_transport, "auto, rdma or tcp",
                    "use auto (RDMA if available, otherwise TCP), rdma\n"
                    "or tcp"),
    FLAG(0, "poll", settings.poll,
         "busy-wait while connected: lowest latency, but uses\n"
         "a whole CPU"),
    RD_OPTION_VALUE("encrypt", "WHEN", parse_encrypt, "auto, always, auth or never",
                    "always: encrypt; auth: do not encrypt, but detect\n"
                    "tampering; never: detect only accidental damage;\n"
                    "auto: always over TCP, auth over RDMA, never to a\n"
                    "loopback address. The stronger choice of both ends\n"
                    "applies"),
    RD_OPTION_VALUE("jobs", "N", parse_jobs, "a number of threads from 0 to 64",
                    "use N threads to compress and encrypt (default 0:\n"
                    "one per CPU, at most 8)"),
    RD_OPTION_VALUE("numa", "WHEN", parse_numa, "auto or off", "auto: with RDMA, run near the device; or off"),
    RD_OPTION_VALUE("congestion", "WHEN", parse_congestion, "auto or keep",
                    "auto: use BBR over long distances, if the kernel\n"
                    "allows it; keep: the kernel's congestion control"),
    RD_OPTION_VALUE("streams", "N", parse_streams, "a number from 1 to 16, or auto",
                    "use N TCP connections at the same time; auto\n"
                    "(default): over long distances as many as help"),
    RD_OPTION_VALUE("buffer", "SIZE", parse_buffer, "a size from 64KiB to 1GiB",
                    "limit data in flight, of each stream: 64KiB to 1GiB\n"
                    "(default 8MiB)"),
    RD_OPTION_VALUE("stall-timeout", "S", parse_stall_timeout, "a number of seconds, at least 2",
                    "give up after the peer is silent for S seconds (60)"),
    RD_OPTION_VALUE("key-fd", "N", parse_key_fd, "the number of a descriptor",
                    "read the key from descriptor N; KEY must be -"),
    RD_OPTION_VALUE("agent-fd", "N", parse_agent_fd, "the number of a descriptor",
                    "take commands from rdstage over the socket N"),
    MODE('V', "version", choose_version, "print the version"),
    MODE('h', "help", choose_help, "print this help"),
    {0},
};

static struct rd_option_table table_of(const struct rd_command_line *line);
static void set_defaults(struct rd_options *options, enum rd_role role);
static bool take_key(struct rd_options *options, char *operand);
static bool read_descriptor(const char *text, int *out);

bool rd_options_parse(const struct rd_command_line *line, int argc, char **argv, struct rd_options *options,
                      struct rd_error *error) {
  struct rd_option_table table = table_of(line);
  set_defaults(options, line->role);
  // Parsing continues after a mistake, so that the key is always found and wiped.
  int first = rd_option_table_parse(&table, argc, argv, options, error);
  char **operands = argv + first;
  bool has_key = argc - first > line->key_at && strcmp(operands[line->key_at], "--") != 0;
  if (has_key && !take_key(options, operands[line->key_at]))
    rd_error_set(error, RD_CODE_USAGE, "the key is empty or too long");
  if (error->code != RD_CODE_OK || options->mode != RD_MODE_STANDALONE) return error->code == RD_CODE_OK;
  return line->take_operands(options, argc - first, operands, error);
}

const char *rd_role_name(enum rd_role role) {
  return role == RD_ROLE_SENDER ? "rdsend" : "rdrecv";
}

void rd_options_write_help(const struct rd_command_line *line, FILE *out) {
  struct rd_option_table table = table_of(line);
  fputs(line->usage, out);
  rd_option_table_write_help(&table, out);
  fputs("\n"
        "KEY is the eight words that rdrecv generates, 64 hexadecimal digits, or any\n"
        "text of at least 16 characters; - asks for it on the terminal.\n"
        "Exit status: 0 delivered, 2 usage error, 3 cannot connect, 4 wrong key, 5 peer\n"
        "lost or stalled, 6 cannot read the source, 7 cannot write the output, 8 data\n"
        "damaged, 9 ended by the other side, 10 internal error, 23 some paths of a tree\n"
        "failed. If the consumer closes early, both programs die of SIGPIPE.\n",
        out);
}

bool rd_options_take_port(struct rd_options *options, const char *text, uint16_t least, struct rd_error *error) {
  long value;
  bool good = rd_option_number(text, least, UINT16_MAX, &value);
  if (good) options->port = (uint16_t)value;
  if (!good) rd_error_set(error, RD_CODE_USAGE, "PORT must be a number from %u to 65535, not %s", least, text);
  return good;
}

bool rd_options_take_data(struct rd_options *options, char **rest, struct rd_error *error) {
  if (rest[0] == NULL) return true;
  if (strcmp(rest[0], "--") == 0 && rest[1] != NULL) {
    options->command = rest + 1;
    return true;
  }
  options->file = rest[0];
  if (rest[0][0] != '-' && rest[0][0] != '\0' && rest[1] == NULL) return true;
  rd_error_set(error, RD_CODE_USAGE, "one FILE, or -- and a COMMAND, may follow KEY (put options first)");
  return false;
}

bool rd_options_seconds(const char *text, int64_t least_ms, int64_t *out_ms) {
  char *end;
  double seconds = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(seconds)) return false;
  if (seconds * 1000 < (double)least_ms || seconds > SECONDS_MAX) return false;
  *out_ms = (int64_t)(seconds * 1000);
  return true;
}

bool rd_options_choose_rdma_check(void *to, const char *text) {
  (void)text;
  ((struct rd_options *)to)->mode = RD_MODE_RDMA_CHECK;
  return true;
}

static struct rd_option_table table_of(const struct rd_command_line *line) {
  return (struct rd_option_table){
      .own = line->rows, .common = common, .others = line->others, .others_program = line->others_program};
}

static void set_defaults(struct rd_options *options, enum rd_role role) {
  *options = (struct rd_options){.mode = RD_MODE_STANDALONE, .role = role, .agent_fd = -1, .key_fd = -1};
  options->settings = (struct rd_settings){
      .run = "-",
      .encrypt = RD_ENCRYPT_AUTO,
      .retry_refused = true,
      .listen_timeout_ms = RD_CONNECT_TIMEOUT_MS_DEFAULT,
  };
#define SET_DEFAULT(name, row) options->settings.name = RD_##row##_DEFAULT;
  RD_HOP_OPTIONS(SET_DEFAULT, SET_DEFAULT)
}

static bool take_key(struct rd_options *options, char *operand) {
  size_t length = strlen(operand);
  bool good = length > 0 && length < sizeof options->key_text;
  if (good) memcpy(options->key_text, operand, length + 1);
  if (strcmp(operand, "-") != 0) memset(operand, '*', length);
  return good;
}

static bool parse_progress(void *to, const char *text) {
  struct rd_options *options = to;
  int found = rd_option_word(text, (const char *const[]){"auto", "live", "plain", "none", NULL});
  options->progress = (enum rd_progress)found;
  return found >= 0;
}

static bool parse_transport(void *to, const char *text) {
  struct rd_options *options = to;
  int found = rd_option_word(text, (const char *const[]){"auto", "rdma", "tcp", NULL});
  options->transport = (enum rd_transport_choice)found;
  return found >= 0;
}

static bool parse_encrypt(void *to, const char *text) {
  struct rd_options *options = to;
  int found = rd_option_word(text, (const char *const[]){RD_ENCRYPT_WORDS, NULL});
  options->settings.encrypt = (enum rd_encrypt)found;
  return found >= 0 && found != RD_ENCRYPT_TCP;
}

static bool parse_numa(void *to, const char *text) {
  return parse_auto(&((struct rd_options *)to)->settings.numa, text, "off");
}

static bool parse_congestion(void *to, const char *text) {
  return parse_auto(&((struct rd_options *)to)->settings.congestion, text, "keep");
}

static bool parse_auto(bool *is_auto, const char *text, const char *other) {
  int found = rd_option_word(text, (const char *const[]){other, "auto", NULL});
  *is_auto = found > 0;
  return found >= 0;
}

static bool parse_jobs(void *to, const char *text) {
  struct rd_options *options = to;
  long jobs;
  if (!rd_option_number(text, RD_JOBS_MIN, RD_JOBS_MAX, &jobs)) return false;
  options->settings.jobs = jobs;
  return true;
}

static bool parse_streams(void *to, const char *text) {
  struct rd_options *options = to;
  long streams = 0;
  if (strcmp(text, "auto") != 0 && !rd_option_number(text, 1, RD_STREAMS_MAX, &streams)) return false;
  options->settings.streams = streams;
  return true;
}

static bool parse_buffer(void *to, const char *text) {
  struct rd_options *options = to;
  double bytes;
  if (!rd_read_size(text, &bytes) || bytes < RD_BUFFER_MIN || bytes > RD_BUFFER_MAX) return false;
  options->settings.buffer = (int64_t)bytes;
  return true;
}

static bool parse_stall_timeout(void *to, const char *text) {
  struct rd_options *options = to;
  return rd_options_seconds(text, RD_STALL_TIMEOUT_MS_MIN, &options->settings.stall_timeout_ms);
}

static bool parse_key_fd(void *to, const char *text) {
  struct rd_options *options = to;
  return read_descriptor(text, &options->key_fd);
}

static bool parse_agent_fd(void *to, const char *text) {
  struct rd_options *options = to;
  options->mode = RD_MODE_AGENT;
  return read_descriptor(text, &options->agent_fd);
}

static bool choose_version(void *to, const char *text) {
  (void)text;
  ((struct rd_options *)to)->mode = RD_MODE_VERSION;
  return true;
}

static bool choose_help(void *to, const char *text) {
  (void)text;
  ((struct rd_options *)to)->mode = RD_MODE_HELP;
  return true;
}

static bool read_descriptor(const char *text, int *out) {
  long value;
  if (!rd_option_number(text, 0, INT_MAX, &value)) return false;
  *out = (int)value;
  return true;
}
