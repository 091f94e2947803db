// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include "base/size_text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 10000 // of a dial, and of a standalone listener
#define STALL_TIMEOUT_MS 60000
#define SECONDS_MOST 1000000.0
#define COMPRESS_LEVEL_DEFAULT 1
#define HELP_COLUMN 27
#define LONG_ONLY 256 // what getopt_long() returns for the first option; a letter is less

enum users { BOTH, RDSEND, RDRECV };

struct option_row {
  char letter; // 0: it has only its name
  const char *name;
  enum users users;
  const char *value; // as --help names it; NULL: it takes none
  bool (*parse)(struct rd_options *options, const char *text);
  const char *expected; // for the message about another value
  size_t flag;          // that it sets: where it is in struct rd_options; 0: none
  enum rd_mode mode;    // that it chooses; RD_MODE_STANDALONE: none
  const char *help;     // NULL: not shown
};

// Versions of clang-format differ here.
// clang-format off
#define FLAG(letter, name, member, help) \
  { letter, name, BOTH, NULL, NULL, NULL, offsetof(struct rd_options, member), RD_MODE_STANDALONE, help }
#define MODE(letter, name, users, mode, help) \
  { letter, name, users, NULL, NULL, NULL, 0, mode, help }
#define VALUE(name, users, value, parse, expected, help) \
  { 0, name, users, value, parse, expected, 0, RD_MODE_STANDALONE, help }
// clang-format on

static bool parse_connect_timeout(struct rd_options *options, const char *text);
static bool parse_bind(struct rd_options *options, const char *text);
static bool parse_compress(struct rd_options *options, const char *text);
static bool parse_limit(struct rd_options *options, const char *text);
static bool parse_progress(struct rd_options *options, const char *text);
static bool parse_transport(struct rd_options *options, const char *text);
static bool parse_encrypt(struct rd_options *options, const char *text);
static bool parse_jobs(struct rd_options *options, const char *text);
static bool parse_numa(struct rd_options *options, const char *text);
static bool parse_buffer(struct rd_options *options, const char *text);
static bool parse_stall_timeout(struct rd_options *options, const char *text);
static bool parse_key_fd(struct rd_options *options, const char *text);
static bool parse_agent_fd(struct rd_options *options, const char *text);

// In the order of --help.
static const struct option_row rows[] = {
    VALUE("bind", RDRECV, "ADDRESS", parse_bind, "an address of this machine",
          "listen there only (default: every address)"),
    VALUE("connect-timeout", BOTH, "S", parse_connect_timeout, "a number of seconds, at least 0.001",
          "give up when not connected within S seconds (10;\n"
          "rdrecv: 0 for no limit, as with a generated key)"),
    VALUE("compress", RDSEND, "WHAT", parse_compress, "zstd, zstd:LEVEL (1 to 19) or none",
          "zstd[:LEVEL] (1 to 19; 1) or none (default)"),
    VALUE("limit", RDSEND, "RATE", parse_limit, "a rate from 1 B/s to 1 PiB/s, or none",
          "of the stream: 200M, 200MiB, 1Gbit/s; or none"),
    FLAG('v', "verbose", verbose, "a summary on standard error, bandwidth first"),
    FLAG('q', "quiet", quiet, "on standard error only a failure"),
    FLAG('A', "acls", acls, "of a directory, also ACLs"),
    FLAG('X', "xattrs", xattrs,
         "of a directory, also extended attributes: user.*,\n"
         "for root all but system.*"),
    VALUE("progress", BOTH, "MODE", parse_progress, "auto, live, plain or none",
          "auto, live, plain (a line every 10 s) or none"),
    FLAG(0, "json", json, "events as JSON objects on standard error"),
    VALUE("transport", BOTH, "NAME", parse_transport, "auto, rdma or tcp",
          "auto (RDMA if available, else TCP), rdma or tcp"),
    FLAG(0, "poll", settings.poll,
         "busy-wait while connected: lowest latency, but takes\n"
         "a whole processor"),
    VALUE("encrypt", BOTH, "WHEN", parse_encrypt, "auto, always, auth or never",
          "always; auth: in clear, each frame authenticated;\n"
          "never: a digest finds accidents, not attackers;\n"
          "or auto: always over TCP, auth over RDMA, never to\n"
          "a loopback address. The stronger end's choice counts"),
    VALUE("jobs", BOTH, "N", parse_jobs, "a number of threads from 0 to 64",
          "threads that compress and encrypt (default 0: one\n"
          "per processor, at most 8)"),
    VALUE("numa", BOTH, "WHEN", parse_numa, "auto or off", "auto (over RDMA, run near the device) or off"),
    VALUE("buffer", BOTH, "SIZE", parse_buffer, "a size from 64KiB to 1GiB",
          "the window: 64KiB to 1GiB (default 8MiB)"),
    VALUE("stall-timeout", BOTH, "S", parse_stall_timeout, "a number of seconds, at least 2",
          "give up when the peer is silent for S seconds (60)"),
    VALUE("key-fd", BOTH, "N", parse_key_fd, "the number of a descriptor",
          "read the key from descriptor N; KEY must be -"),
    VALUE("agent-fd", BOTH, "N", parse_agent_fd, "the number of a descriptor",
          "take commands from rdstage over the socket N"),
    MODE(0, "rdma-check", RDRECV, RD_MODE_RDMA_CHECK, NULL), // for rdstage
    MODE('V', "version", BOTH, RD_MODE_VERSION, "print the version"),
    MODE('h', "help", BOTH, RD_MODE_HELP, "print this"),
};
#define ROWS (sizeof rows / sizeof rows[0])

static void set_defaults(struct rd_options *options, enum rd_role role);
static void make_long_options(struct option long_options[ROWS + 1]);
static bool take_option(struct rd_options *options, int option, char *const *argv, struct rd_error *error);
static const struct option_row *find_row(int option);
static bool is_for(const struct option_row *row, enum rd_role role);
static bool take_operands(struct rd_options *options, int count, char **operands, struct rd_error *error);
static bool take_key(struct rd_options *options, char *operand);
static void write_row(FILE *out, const struct option_row *row);
static int index_of(const char *text, const char *const *names);
static bool read_number(const char *text, long least, long most, long *out);
static bool read_seconds(const char *text, int64_t least_ms, int64_t *out_ms);
static bool read_descriptor(const char *text, int *out);
static bool read_port(const char *text, uint16_t least, uint16_t *out, struct rd_error *error);

bool rd_options_parse(enum rd_role role, int argc, char **argv, struct rd_options *options, struct rd_error *error) {
  struct option long_options[ROWS + 1];
  make_long_options(long_options);
  set_defaults(options, role);
  bool good = true;
  int option;
  opterr = 0;
  optind = 0;
  // Continue after a mistake, so that the key is always found and overwritten.
  while ((option = getopt_long(argc, argv, "+:vqAXVh", long_options, NULL)) != -1) {
    struct rd_error mistake;
    if (take_option(options, option, argv, &mistake)) continue;
    if (good) *error = mistake;
    good = false;
  }
  char **operands = argv + optind;
  int key_at = role == RD_ROLE_SENDER ? 2 : 1;
  bool has_key = argc - optind > key_at && strcmp(operands[key_at], "--") != 0;
  if (has_key && !take_key(options, operands[key_at])) {
    rd_error_set(error, RD_CODE_USAGE, "the key is empty or too long");
    good = false;
  }
  if (!good || options->mode != RD_MODE_STANDALONE) return good;
  return take_operands(options, argc - optind, operands, error);
}

const char *rd_role_name(enum rd_role role) {
  return role == RD_ROLE_SENDER ? "rdsend" : "rdrecv";
}

void rd_options_write_help(enum rd_role role, FILE *out) {
  if (role == RD_ROLE_SENDER)
    fputs("usage: rdsend [options] HOST PORT KEY [FILE | -- COMMAND...]\n"
          "Sends standard input, FILE, or the output of COMMAND to rdrecv on HOST.\n"
          "FILE may be a directory: a tree arrives as DIR, with DIR/ what is in it.\n\n",
          out);
  else
    fputs("usage: rdrecv [options] PORT [KEY [FILE]] [-- COMMAND...]\n"
          "Receives what rdsend sends, to standard output, FILE, or the input of COMMAND.\n"
          "Where FILE is a directory, or ends with /, a tree is written into it.\n"
          "PORT 0 is a free port, which is printed on standard error. Without KEY rdrecv\n"
          "generates one, and shows it on the terminal with the command for the sender.\n"
          "rdrecv --serve DIR serves copies to clients (rdrecv --serve DIR --help).\n\n",
          out);
  for (size_t i = 0; i < ROWS; i++)
    if (rows[i].help != NULL && is_for(&rows[i], role)) write_row(out, &rows[i]);
  fputs("\n"
        "KEY is the eight words that rdrecv generates, 64 hexadecimal digits, or any\n"
        "text of at least 16 characters; - asks for it on the terminal.\n"
        "Status: 0 delivered, 2 usage, 3 cannot connect, 4 key refused, 5 peer lost or\n"
        "stalled, 6 source unreadable, 7 sink unwritable, 8 data damaged, 9 ended by\n"
        "the other side, 10 internal, 23 some paths of a tree failed; SIGPIPE when the\n"
        "consumer closed early.\n",
        out);
}

static void make_long_options(struct option long_options[ROWS + 1]) {
  for (size_t i = 0; i < ROWS; i++)
    long_options[i] = (struct option){.name = rows[i].name,
                                      .has_arg = rows[i].parse != NULL ? required_argument : no_argument,
                                      .val = LONG_ONLY + (int)i};
  long_options[ROWS] = (struct option){0};
}

static void set_defaults(struct rd_options *options, enum rd_role role) {
  *options = (struct rd_options){.mode = RD_MODE_STANDALONE, .role = role, .agent_fd = -1, .key_fd = -1};
  options->settings = (struct rd_settings){
      .run = "-",
      .encrypt = RD_ENCRYPT_AUTO,
      .numa = true,
      .buffer_bytes = RD_BUFFER_DEFAULT_BYTES,
      .connect_timeout_ms = CONNECT_TIMEOUT_MS,
      .stall_timeout_ms = STALL_TIMEOUT_MS,
      .retry_refused = true,
      .listen_timeout_ms = CONNECT_TIMEOUT_MS,
  };
}

// `option` is the result of getopt_long(), which leaves the option's value in `optarg`.
static bool take_option(struct rd_options *options, int option, char *const *argv, struct rd_error *error) {
  const struct option_row *row = find_row(option);
  if (row == NULL)
    rd_error_set(error, RD_CODE_USAGE, option == ':' ? "%s needs a value" : "unknown option %s", argv[optind - 1]);
  else if (!is_for(row, options->role))
    rd_error_set(error, RD_CODE_USAGE, "--%s is for %s", row->name,
                 rd_role_name(row->users == RDSEND ? RD_ROLE_SENDER : RD_ROLE_RECEIVER));
  else if (row->parse != NULL && !row->parse(options, optarg))
    rd_error_set(error, RD_CODE_USAGE, "--%s is %s, not %s", row->name, row->expected, optarg);
  else {
    if (row->flag != 0) *(bool *)((char *)options + row->flag) = true;
    if (row->mode != RD_MODE_STANDALONE) options->mode = row->mode;
    return true;
  }
  return false;
}

static const struct option_row *find_row(int option) {
  if (option >= LONG_ONLY) return &rows[option - LONG_ONLY];
  for (size_t i = 0; i < ROWS; i++)
    if (rows[i].letter == option) return &rows[i];
  return NULL;
}

static bool is_for(const struct option_row *row, enum rd_role role) {
  return row->users == BOTH || row->users == (role == RD_ROLE_SENDER ? RDSEND : RDRECV);
}

static bool take_operands(struct rd_options *options, int count, char **operands, struct rd_error *error) {
  bool is_sender = options->role == RD_ROLE_SENDER;
  bool has_key = options->key_text[0] != '\0';
  int port_at = is_sender ? 1 : 0;
  if (count <= port_at || (is_sender && !has_key)) {
    rd_error_set(error, RD_CODE_USAGE, "%s", is_sender ? "HOST, PORT and KEY are needed" : "PORT is needed");
    return false;
  }
  if (is_sender) options->host = operands[0];
  if (!read_port(operands[port_at], is_sender ? 1 : 0, &options->port, error)) return false;
  char **rest = operands + port_at + (has_key ? 2 : 1);
  if (rest[0] == NULL) return true;
  if (strcmp(rest[0], "--") == 0 && rest[1] != NULL) {
    options->command = rest + 1;
    return true;
  }
  options->file = rest[0];
  if (rest[0][0] != '-' && rest[0][0] != '\0' && rest[1] == NULL) return true;
  rd_error_set(error, RD_CODE_USAGE, "one FILE, or -- and a COMMAND, may follow KEY; options come first");
  return false;
}

static bool take_key(struct rd_options *options, char *operand) {
  size_t length = strlen(operand);
  bool good = length > 0 && length < sizeof options->key_text;
  if (good) memcpy(options->key_text, operand, length + 1);
  if (strcmp(operand, "-") != 0) memset(operand, '*', length);
  return good;
}

// The lines of its help begin at HELP_COLUMN.
static void write_row(FILE *out, const struct option_row *row) {
  int column = row->letter != 0 ? fprintf(out, "  -%c, ", row->letter) : fprintf(out, "%6s", "");
  column += fprintf(out, "--%s %s", row->name, row->value != NULL ? row->value : "");
  for (const char *line = row->help; line != NULL; column = 0) {
    const char *end = strchrnul(line, '\n');
    fprintf(out, "%*s%.*s\n", HELP_COLUMN - column, "", (int)(end - line), line);
    line = *end != '\0' ? end + 1 : NULL;
  }
}

static bool parse_bind(struct rd_options *options, const char *text) {
  int length = snprintf(options->settings.bind_host, sizeof options->settings.bind_host, "%s", text);
  return length > 0 && (size_t)length < sizeof options->settings.bind_host;
}

static bool parse_connect_timeout(struct rd_options *options, const char *text) {
  struct rd_settings *settings = &options->settings;
  options->limits_waiting = true;
  if (options->role == RD_ROLE_SENDER) return read_seconds(text, 1, &settings->connect_timeout_ms);
  settings->listen_timeout_ms = 0; // 0: a listener waits without a limit
  return strcmp(text, "0") == 0 || read_seconds(text, 1, &settings->listen_timeout_ms);
}

static bool parse_compress(struct rd_options *options, const char *text) {
  long level = strcmp(text, "zstd") == 0 ? COMPRESS_LEVEL_DEFAULT : 0;
  bool has_level = strncmp(text, "zstd:", 5) == 0;
  if (has_level && !read_number(text + 5, 1, RD_COMPRESS_LEVEL_MOST, &level)) return false;
  options->settings.compress_level = (int)level;
  return level > 0 || strcmp(text, "none") == 0;
}

static bool parse_limit(struct rd_options *options, const char *text) {
  double bytes = 0;
  bool is_none = strcmp(text, "none") == 0;
  if (!is_none && (!rd_read_rate(text, &bytes) || bytes < 1 || bytes > (double)RD_LIMIT_MOST_BYTES_PER_S)) return false;
  options->settings.limit_bytes_per_s = (int64_t)bytes;
  return true;
}

static bool parse_progress(struct rd_options *options, const char *text) {
  int found = index_of(text, (const char *const[]){"auto", "live", "plain", "none", NULL});
  options->progress = (enum rd_progress)found;
  return found >= 0;
}

static bool parse_transport(struct rd_options *options, const char *text) {
  int found = index_of(text, (const char *const[]){"auto", "rdma", "tcp", NULL});
  options->transport = (enum rd_transport_choice)found;
  return found >= 0;
}

static bool parse_encrypt(struct rd_options *options, const char *text) {
  int found = index_of(text, (const char *const[]){"auto", "always", "auth", "never", NULL});
  options->settings.encrypt = (enum rd_encrypt)found;
  return found >= 0;
}

static bool parse_numa(struct rd_options *options, const char *text) {
  int found = index_of(text, (const char *const[]){"off", "auto", NULL});
  options->settings.numa = found > 0;
  return found >= 0;
}

// The index of `text` in `names`, which end with NULL; -1: it is none of them.
static int index_of(const char *text, const char *const *names) {
  for (int i = 0; names[i] != NULL; i++)
    if (strcmp(text, names[i]) == 0) return i;
  return -1;
}

static bool parse_jobs(struct rd_options *options, const char *text) {
  long jobs;
  if (!read_number(text, 0, RD_JOBS_MOST, &jobs)) return false;
  options->settings.jobs = (unsigned)jobs;
  return true;
}

static bool parse_buffer(struct rd_options *options, const char *text) {
  double bytes;
  if (!rd_read_size(text, &bytes) || bytes < RD_BUFFER_LEAST_BYTES || bytes > RD_BUFFER_MOST_BYTES) return false;
  options->settings.buffer_bytes = (size_t)bytes;
  return true;
}

static bool parse_stall_timeout(struct rd_options *options, const char *text) {
  return read_seconds(text, RD_STALL_TIMEOUT_LEAST_MS, &options->settings.stall_timeout_ms);
}

static bool parse_key_fd(struct rd_options *options, const char *text) {
  return read_descriptor(text, &options->key_fd);
}

static bool parse_agent_fd(struct rd_options *options, const char *text) {
  options->mode = RD_MODE_AGENT;
  return read_descriptor(text, &options->agent_fd);
}

static bool read_seconds(const char *text, int64_t least_ms, int64_t *out_ms) {
  char *end;
  double seconds = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(seconds)) return false;
  if (seconds * 1000 < (double)least_ms || seconds > SECONDS_MOST) return false;
  *out_ms = (int64_t)(seconds * 1000);
  return true;
}

static bool read_descriptor(const char *text, int *out) {
  long value;
  if (!read_number(text, 0, INT_MAX, &value)) return false;
  *out = (int)value;
  return true;
}

static bool read_port(const char *text, uint16_t least, uint16_t *out, struct rd_error *error) {
  long value;
  if (read_number(text, least, UINT16_MAX, &value)) {
    *out = (uint16_t)value;
    return true;
  }
  rd_error_set(error, RD_CODE_USAGE, "PORT is a number from %u to 65535, not %s", least, text);
  return false;
}

static bool read_number(const char *text, long least, long most, long *out) {
  char *end;
  errno = 0;
  *out = strtol(text, &end, 10);
  return end != text && *end == '\0' && errno == 0 && *out >= least && *out <= most;
}
