// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include "base/size_text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 10000 // of a dial, and of a listener by hand
#define STALL_TIMEOUT_MS 60000
#define SECONDS_MOST 1000000.0
#define COMPRESS_LEVEL_DEFAULT 1

#define OPTIONS_HELP                                                                                                   \
  "  -v, --verbose            a summary on standard error, bandwidth first\n"                                          \
  "  -q, --quiet              on standard error only a failure\n"                                                      \
  "      --progress MODE      auto, live, plain (a line every 10 s) or none\n"                                         \
  "      --json               events as JSON objects on standard error\n"                                              \
  "      --transport NAME     auto (RDMA if available, else TCP), rdma or tcp\n"                                       \
  "      --poll               busy-wait while connected: lowest latency, but takes\n"                                  \
  "                           a whole processor\n"                                                                     \
  "      --encrypt WHEN       always; auth: in clear, each frame authenticated;\n"                                     \
  "                           never: a digest finds accidents, not attackers;\n"                                       \
  "                           or auto: always over TCP, auth over RDMA, never to\n"                                    \
  "                           a loopback address. The stronger end's choice counts\n"                                  \
  "      --jobs N             threads that compress and encrypt (default 0: one\n"                                     \
  "                           per processor, at most 8)\n"                                                             \
  "      --numa WHEN          auto (over RDMA, run near the device) or off\n"                                          \
  "      --buffer SIZE        the window: 64KiB to 1GiB (default 8MiB)\n"                                              \
  "      --stall-timeout S    give up when the peer is silent for S seconds (60)\n"                                    \
  "      --key-fd N           read the key from descriptor N; KEY must be -\n"                                         \
  "      --agent-fd N         take commands from rdstage over the socket N\n"                                          \
  "  -V, --version            print the version\n"                                                                     \
  "  -h, --help               print this\n"                                                                            \
  "\n"                                                                                                                 \
  "KEY is the eight words that rdrecv generates, 64 hexadecimal digits, or any\n"                                      \
  "text of at least 16 characters; - asks for it on the terminal.\n"                                                   \
  "Status: 0 delivered, 2 usage, 3 cannot connect, 4 key refused, 5 peer lost or\n"                                    \
  "stalled, 6 source unreadable, 7 sink unwritable, 8 data damaged, 9 ended by\n"                                      \
  "the other side, 10 internal; SIGPIPE when the consumer closed early.\n"

enum {
  OPTION_PROGRESS = 256,
  OPTION_JSON,
  OPTION_TRANSPORT,
  OPTION_POLL,
  OPTION_RDMA_CHECK,
  OPTION_ENCRYPT,
  OPTION_COMPRESS,
  OPTION_JOBS,
  OPTION_LIMIT,
  OPTION_NUMA,
  OPTION_BUFFER,
  OPTION_STALL,
  OPTION_CONNECT,
  OPTION_KEY_FD,
  OPTION_AGENT_FD,
  OPTION_BIND
};

static const struct option long_options[] = {
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"progress", required_argument, NULL, OPTION_PROGRESS},
    {"json", no_argument, NULL, OPTION_JSON},
    {"transport", required_argument, NULL, OPTION_TRANSPORT},
    {"poll", no_argument, NULL, OPTION_POLL},
    {"rdma-check", no_argument, NULL, OPTION_RDMA_CHECK}, // for rdstage
    {"encrypt", required_argument, NULL, OPTION_ENCRYPT},
    {"compress", required_argument, NULL, OPTION_COMPRESS},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"numa", required_argument, NULL, OPTION_NUMA},
    {"buffer", required_argument, NULL, OPTION_BUFFER},
    {"stall-timeout", required_argument, NULL, OPTION_STALL},
    {"connect-timeout", required_argument, NULL, OPTION_CONNECT},
    {"key-fd", required_argument, NULL, OPTION_KEY_FD},
    {"agent-fd", required_argument, NULL, OPTION_AGENT_FD},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void set_defaults(struct rd_options *options, enum rd_role role);
static bool parse_option(struct rd_options *options, int option, char *const *argv, struct rd_error *error);
static bool not_for_rdsend(const char *option, struct rd_error *error);
static bool not_for_rdrecv(const char *option, struct rd_error *error);
static bool parse_words(struct rd_options *options, int count, char **words, struct rd_error *error);
static bool take_key(struct rd_options *options, char *word);
static bool parse_progress(struct rd_options *options, const char *text, struct rd_error *error);
static bool parse_transport(struct rd_options *options, const char *text, struct rd_error *error);
static bool parse_encrypt(struct rd_options *options, const char *text, struct rd_error *error);
static unsigned find_word(const char *text, const char *const *names, unsigned count);
static bool parse_compress(struct rd_options *options, const char *text, struct rd_error *error);
static bool parse_jobs(struct rd_options *options, const char *text, struct rd_error *error);
static bool parse_limit(struct rd_options *options, const char *text, struct rd_error *error);
static bool parse_numa(struct rd_options *options, const char *text, struct rd_error *error);
static bool parse_buffer(struct rd_options *options, const char *text, struct rd_error *error);
static bool read_number(const char *text, long least, long most, long *out);
static bool parse_connect_timeout(struct rd_options *options, const char *text, struct rd_error *error);
static bool parse_seconds(const char *name, const char *text, int64_t least_ms, int64_t *out_ms,
                          struct rd_error *error);
static bool parse_descriptor(const char *name, const char *text, int *out, struct rd_error *error);
static bool parse_port(const char *text, uint16_t least, uint16_t *out, struct rd_error *error);
static bool parse_bind(struct rd_options *options, const char *text, struct rd_error *error);

bool rd_options_parse(enum rd_role role, int argc, char **argv, struct rd_options *options, struct rd_error *error) {
  set_defaults(options, role);
  bool good = true;
  int option;
  opterr = 0;
  optind = 0;
  // To the end also after a mistake, so that the key is found and wiped in any case.
  while ((option = getopt_long(argc, argv, "+:vqVh", long_options, NULL)) != -1) {
    struct rd_error mistake;
    if (parse_option(options, option, argv, &mistake)) continue;
    if (good) *error = mistake;
    good = false;
  }
  char **words = argv + optind;
  int key_at = role == RD_ROLE_SENDER ? 2 : 1;
  bool has_key = argc - optind > key_at && strcmp(words[key_at], "--") != 0;
  if (has_key && !take_key(options, words[key_at])) {
    rd_error_set(error, RD_CODE_USAGE, "the key is empty or too long");
    good = false;
  }
  if (!good || options->mode != RD_MODE_STANDALONE) return good;
  return parse_words(options, argc - optind, words, error);
}

const char *rd_options_help(enum rd_role role) {
  if (role == RD_ROLE_SENDER)
    return "usage: rdsend [options] HOST PORT KEY [FILE | -- COMMAND...]\n"
           "Sends standard input, FILE, or the output of COMMAND to rdrecv on HOST.\n"
           "\n"
           "      --connect-timeout S  keep trying for S seconds if no rdrecv listens (10)\n"
           "      --compress WHAT      zstd[:LEVEL] (1 to 19; 1) or none (default)\n"
           "      --limit RATE         of the stream: 200M, 200MiB, 1Gbit/s; or none\n" OPTIONS_HELP;
  return "usage: rdrecv [options] PORT [KEY [FILE]] [-- COMMAND...]\n"
         "Receives what rdsend sends, to standard output, FILE, or the input of COMMAND.\n"
         "PORT 0 is a free port, which is printed on standard error. Without KEY rdrecv\n"
         "generates one, and shows it on the terminal with the command for the sender.\n"
         "\n"
         "      --bind ADDRESS       listen there only (default: every address)\n"
         "      --connect-timeout S  give up when no sender connects in S seconds (10;\n"
         "                           0: no limit, the default with a generated key)\n" OPTIONS_HELP;
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

static bool parse_option(struct rd_options *options, int option, char *const *argv, struct rd_error *error) {
  struct rd_settings *settings = &options->settings;
  bool is_sender = options->role == RD_ROLE_SENDER;
  switch (option) {
  case 'v':
    return options->verbose = true;
  case 'q':
    return options->quiet = true;
  case 'V':
    options->mode = RD_MODE_VERSION;
    return true;
  case 'h':
    options->mode = RD_MODE_HELP;
    return true;
  case OPTION_JSON:
    return options->json = true;
  case OPTION_PROGRESS:
    return parse_progress(options, optarg, error);
  case OPTION_TRANSPORT:
    return parse_transport(options, optarg, error);
  case OPTION_POLL:
    return settings->poll = true;
  case OPTION_RDMA_CHECK:
    options->mode = RD_MODE_RDMA_CHECK;
    return !is_sender || not_for_rdsend("--rdma-check", error);
  case OPTION_ENCRYPT:
    return parse_encrypt(options, optarg, error);
  case OPTION_COMPRESS:
    return is_sender ? parse_compress(options, optarg, error) : not_for_rdrecv("--compress", error);
  case OPTION_JOBS:
    return parse_jobs(options, optarg, error);
  case OPTION_LIMIT:
    return is_sender ? parse_limit(options, optarg, error) : not_for_rdrecv("--limit", error);
  case OPTION_NUMA:
    return parse_numa(options, optarg, error);
  case OPTION_BUFFER:
    return parse_buffer(options, optarg, error);
  case OPTION_STALL:
    return parse_seconds("--stall-timeout", optarg, RD_STALL_TIMEOUT_LEAST_MS, &settings->stall_timeout_ms, error);
  case OPTION_CONNECT:
    return parse_connect_timeout(options, optarg, error);
  case OPTION_KEY_FD:
    return parse_descriptor("--key-fd", optarg, &options->key_fd, error);
  case OPTION_AGENT_FD:
    options->mode = RD_MODE_AGENT;
    return parse_descriptor("--agent-fd", optarg, &options->agent_fd, error);
  case OPTION_BIND:
    return is_sender ? not_for_rdsend("--bind", error) : parse_bind(options, optarg, error);
  default:
    rd_error_set(error, RD_CODE_USAGE, option == ':' ? "%s needs a value" : "unknown option %s", argv[optind - 1]);
    return false;
  }
}

static bool not_for_rdsend(const char *option, struct rd_error *error) {
  rd_error_set(error, RD_CODE_USAGE, "%s is for rdrecv", option);
  return false;
}

static bool not_for_rdrecv(const char *option, struct rd_error *error) {
  rd_error_set(error, RD_CODE_USAGE, "%s is for rdsend", option);
  return false;
}

static bool parse_words(struct rd_options *options, int count, char **words, struct rd_error *error) {
  bool is_sender = options->role == RD_ROLE_SENDER;
  bool has_key = options->key_text[0] != '\0';
  int port_at = is_sender ? 1 : 0;
  if (count <= port_at || (is_sender && !has_key)) {
    rd_error_set(error, RD_CODE_USAGE, "%s", is_sender ? "HOST, PORT and KEY are needed" : "PORT is needed");
    return false;
  }
  if (is_sender) options->host = words[0];
  if (!parse_port(words[port_at], is_sender ? 1 : 0, &options->port, error)) return false;
  char **rest = words + port_at + (has_key ? 2 : 1);
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

static bool take_key(struct rd_options *options, char *word) {
  size_t length = strlen(word);
  bool good = length > 0 && length < sizeof options->key_text;
  if (good) memcpy(options->key_text, word, length + 1);
  if (strcmp(word, "-") != 0) memset(word, '*', length);
  return good;
}

static bool parse_progress(struct rd_options *options, const char *text, struct rd_error *error) {
  static const char *const names[] = {"auto", "live", "plain", "none"};
  unsigned found = find_word(text, names, 4);
  if (found == 4) rd_error_set(error, RD_CODE_USAGE, "--progress is auto, live, plain or none, not %s", text);
  options->progress = (enum rd_progress)found;
  return found < 4;
}

static bool parse_transport(struct rd_options *options, const char *text, struct rd_error *error) {
  static const char *const names[] = {"auto", "rdma", "tcp"};
  unsigned found = find_word(text, names, 3);
  if (found == 3) rd_error_set(error, RD_CODE_USAGE, "--transport is auto, rdma or tcp, not %s", text);
  options->transport = (enum rd_transport_choice)found;
  return found < 3;
}

static bool parse_encrypt(struct rd_options *options, const char *text, struct rd_error *error) {
  static const char *const names[] = {"auto", "always", "auth", "never"};
  unsigned found = find_word(text, names, 4);
  if (found == 4) rd_error_set(error, RD_CODE_USAGE, "--encrypt is auto, always, auth or never, not %s", text);
  options->settings.encrypt = (enum rd_encrypt)found;
  return found < 4;
}

// `count`: it is none of them.
static unsigned find_word(const char *text, const char *const *names, unsigned count) {
  unsigned i = 0;
  while (i < count && strcmp(text, names[i]) != 0) i++;
  return i;
}

static bool parse_compress(struct rd_options *options, const char *text, struct rd_error *error) {
  long level = COMPRESS_LEVEL_DEFAULT;
  if (strcmp(text, "none") == 0) {
    level = 0;
  } else if (strcmp(text, "zstd") != 0 &&
             (strncmp(text, "zstd:", 5) != 0 || !read_number(text + 5, 1, RD_COMPRESS_LEVEL_MOST, &level))) {
    rd_error_set(error, RD_CODE_USAGE, "--compress is zstd, zstd:LEVEL (1 to 19) or none, not %s", text);
    return false;
  }
  options->settings.compress_level = (int)level;
  return true;
}

static bool parse_jobs(struct rd_options *options, const char *text, struct rd_error *error) {
  long jobs;
  if (read_number(text, 0, RD_JOBS_MOST, &jobs)) {
    options->settings.jobs = (unsigned)jobs;
    return true;
  }
  rd_error_set(error, RD_CODE_USAGE, "--jobs is a number of threads from 0 to 64, not %s", text);
  return false;
}

static bool parse_limit(struct rd_options *options, const char *text, struct rd_error *error) {
  double bytes = 0;
  bool none = strcmp(text, "none") == 0;
  if (none || (rd_read_rate(text, &bytes) && bytes >= 1 && bytes <= (double)RD_LIMIT_MOST_BYTES_PER_S)) {
    options->settings.limit_bytes_per_s = (int64_t)bytes;
    return true;
  }
  rd_error_set(error, RD_CODE_USAGE, "--limit is a rate from 1 B/s to 1 PiB/s, or none, not %s", text);
  return false;
}

static bool parse_numa(struct rd_options *options, const char *text, struct rd_error *error) {
  static const char *const names[] = {"auto", "off"};
  unsigned found = find_word(text, names, 2);
  if (found == 2) rd_error_set(error, RD_CODE_USAGE, "--numa is auto or off, not %s", text);
  options->settings.numa = found == 0;
  return found < 2;
}

static bool parse_buffer(struct rd_options *options, const char *text, struct rd_error *error) {
  double bytes;
  if (rd_read_size(text, &bytes) && bytes >= RD_BUFFER_LEAST_BYTES && bytes <= RD_BUFFER_MOST_BYTES) {
    options->settings.buffer_bytes = (size_t)bytes;
    return true;
  }
  rd_error_set(error, RD_CODE_USAGE, "--buffer is a size from 64KiB to 1GiB, not %s", text);
  return false;
}

static bool read_number(const char *text, long least, long most, long *out) {
  char *end;
  errno = 0;
  *out = strtol(text, &end, 10);
  return end != text && *end == '\0' && errno == 0 && *out >= least && *out <= most;
}

static bool parse_connect_timeout(struct rd_options *options, const char *text, struct rd_error *error) {
  struct rd_settings *settings = &options->settings;
  bool is_sender = options->role == RD_ROLE_SENDER;
  options->limits_waiting = true;
  int64_t *timeout_ms = is_sender ? &settings->connect_timeout_ms : &settings->listen_timeout_ms;
  if (is_sender || strcmp(text, "0") != 0) return parse_seconds("--connect-timeout", text, 1, timeout_ms, error);
  *timeout_ms = 0; // a listener may wait for ever
  return true;
}

static bool parse_seconds(const char *name, const char *text, int64_t least_ms, int64_t *out_ms,
                          struct rd_error *error) {
  char *end;
  double seconds = strtod(text, &end);
  if (end != text && *end == '\0' && isfinite(seconds) && seconds * 1000 >= (double)least_ms &&
      seconds <= SECONDS_MOST) {
    *out_ms = (int64_t)(seconds * 1000);
    return true;
  }
  rd_error_set(error, RD_CODE_USAGE, "%s is a number of seconds, at least %g, not %s", name, (double)least_ms / 1000,
               text);
  return false;
}

static bool parse_descriptor(const char *name, const char *text, int *out, struct rd_error *error) {
  long value;
  if (read_number(text, 0, INT_MAX, &value)) {
    *out = (int)value;
    return true;
  }
  rd_error_set(error, RD_CODE_USAGE, "%s is the number of a descriptor, not %s", name, text);
  return false;
}

static bool parse_port(const char *text, uint16_t least, uint16_t *out, struct rd_error *error) {
  long value;
  if (read_number(text, least, UINT16_MAX, &value)) {
    *out = (uint16_t)value;
    return true;
  }
  rd_error_set(error, RD_CODE_USAGE, "PORT is a number from %u to 65535, not %s", least, text);
  return false;
}

static bool parse_bind(struct rd_options *options, const char *text, struct rd_error *error) {
  int length = snprintf(options->settings.bind_host, sizeof options->settings.bind_host, "%s", text);
  if (length > 0 && (size_t)length < sizeof options->settings.bind_host) return true;
  rd_error_set(error, RD_CODE_USAGE, "--bind is an address of this machine");
  return false;
}
