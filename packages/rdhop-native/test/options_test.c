// SPDX-License-Identifier: Apache-2.0
// Tests of the command lines of rdsend and rdrecv.
#include "base/size_text.h"
#include "receiver_options.h"
#include "sender_options.h"
#include "size_cases.h"
#include "test.h"

#include <stdarg.h>
#include <string.h>

#define WORDS_MAX 16

static char memory[WORDS_MAX][64];
static char *argv[WORDS_MAX + 1];
static struct rd_options options;
static struct rd_error error;

static const struct rd_command_line *line_of(enum rd_role role) {
  return role == RD_ROLE_SENDER ? &rd_sender_command_line : &rd_receiver_command_line;
}

// The words end with a NULL.
static bool parse(enum rd_role role, ...) {
  va_list words;
  int argc = 0;
  argv[argc++] = strcpy(memory[0], "program");
  va_start(words, role);
  for (const char *word; (word = va_arg(words, const char *)) != NULL; argc++) argv[argc] = strcpy(memory[argc], word);
  va_end(words);
  argv[argc] = NULL;
  error = (struct rd_error){.code = RD_CODE_OK};
  return rd_options_parse(line_of(role), argc, argv, &options, &error);
}

#define SEND(...) parse(RD_ROLE_SENDER, __VA_ARGS__, (char *)NULL)
#define RECV(...) parse(RD_ROLE_RECEIVER, __VA_ARGS__, (char *)NULL)

static void test_words(void) {
  CHECK(SEND("host", "7000", "secret") && options.mode == RD_MODE_STANDALONE);
  CHECK(strcmp(options.host, "host") == 0 && options.port == 7000 && strcmp(options.key_text, "secret") == 0);
  CHECK(options.file == NULL && options.command == NULL);
  CHECK(options.settings.buffer == 8u << 20 && options.settings.connect_timeout_ms == 10000);
  CHECK(options.settings.stall_timeout_ms == 60000 && options.settings.encrypt == RD_ENCRYPT_AUTO);
  CHECK(RECV("0", "secret", "file") && options.port == 0 && strcmp(options.file, "file") == 0);
  CHECK(options.settings.listen_timeout_ms == 10000);
  CHECK(RECV("-v", "7000", "secret", "--", "rev", "-v") && options.verbose);
  CHECK(options.command != NULL && strcmp(options.command[0], "rev") == 0 && strcmp(options.command[1], "-v") == 0);
  CHECK(options.command[2] == NULL && options.file == NULL);
}

static void test_key_is_wiped(void) {
  CHECK(SEND("host", "7000", "secret") && strcmp(argv[3], "******") == 0);
  CHECK(RECV("--buffer", "1M", "7000", "secret") && strcmp(argv[4], "******") == 0);
  CHECK(!SEND("--bogus", "host", "no port", "secret") && strcmp(argv[4], "******") == 0);
  CHECK(RECV("7000", "-") && strcmp(argv[2], "-") == 0);
}

// rdrecv generates a key.
static void test_no_key(void) {
  CHECK(RECV("7000") && options.port == 7000 && options.key_text[0] == '\0' && !options.limits_waiting);
  CHECK(options.file == NULL && options.command == NULL);
  CHECK(RECV("--connect-timeout", "10", "7000") && options.limits_waiting);
  CHECK(RECV("7000", "--", "rev") && options.key_text[0] == '\0' && strcmp(argv[2], "--") == 0);
  CHECK(options.command != NULL && strcmp(options.command[0], "rev") == 0);
  CHECK(!RECV("7000", "--") && !RECV("7000", "") && !SEND("host", "7000") && !SEND("host", "7000", "--", "rev"));
}

static void test_values(void) {
  CHECK(SEND("--buffer", "1.5MiB", "h", "1", "k") && options.settings.buffer == 3u << 19);
  CHECK(SEND("--buffer", "64KiB", "h", "1", "k") && options.settings.buffer == 64u << 10);
  CHECK(SEND("--buffer", "100000", "h", "1", "k") && options.settings.buffer == 100000);
  CHECK(SEND("--buffer", "1MB", "h", "1", "k") && options.settings.buffer == 1000000);
  CHECK(SEND("h", "1", "k") && options.settings.compress == 0 && options.settings.jobs == 0);
  CHECK(options.settings.limit == 0 && options.settings.numa);
  CHECK(SEND("--compress", "zstd", "h", "1", "k") && options.settings.compress == 1);
  CHECK(SEND("--compress", "zstd:19", "--jobs", "64", "h", "1", "k") && options.settings.compress == 19);
  CHECK(options.settings.jobs == 64);
  CHECK(SEND("--compress", "zstd", "--compress", "none", "h", "1", "k") && options.settings.compress == 0);
  CHECK(SEND("--limit", "1.5Gbit/s", "h", "1", "k") && options.settings.limit == 187500000);
  CHECK(SEND("--limit", "1PiB", "h", "1", "k"));
  CHECK(options.settings.limit == RD_LIMIT_MAX);
  CHECK(SEND("--limit", "2T", "h", "1", "k") && options.settings.limit == INT64_C(2000000000000));
  CHECK(SEND("--limit", "1", "--limit", "none", "h", "1", "k") && options.settings.limit == 0);
  CHECK(RECV("--jobs", "1", "--numa", "off", "1", "k") && options.settings.jobs == 1 && !options.settings.numa);
  CHECK(RECV("--numa", "auto", "1", "k") && options.settings.numa);
  CHECK(options.settings.congestion && options.settings.streams == 0);
  CHECK(RECV("--streams", "16", "1", "k") && options.settings.streams == 16);
  CHECK(RECV("--streams", "auto", "1", "k") && options.settings.streams == 0);
  CHECK(RECV("--congestion", "keep", "1", "k") && !options.settings.congestion);
  CHECK(SEND("--encrypt", "always", "h", "1", "k") && options.settings.encrypt == RD_ENCRYPT_ALWAYS);
  CHECK(SEND("--encrypt", "auth", "h", "1", "k") && options.settings.encrypt == RD_ENCRYPT_AUTH);
  CHECK(SEND("--encrypt", "never", "h", "1", "k") && options.settings.encrypt == RD_ENCRYPT_NEVER);
  CHECK(SEND("h", "1", "k") && options.transport == RD_TRANSPORT_AUTO && !options.settings.poll);
  CHECK(SEND("--transport", "rdma", "--poll", "h", "1", "k") && options.transport == RD_TRANSPORT_RDMA);
  CHECK(options.settings.poll && RECV("--transport", "tcp", "1", "k") && options.transport == RD_TRANSPORT_TCP);
  CHECK(SEND("--connect-timeout", "0.5", "h", "1", "k") && options.settings.connect_timeout_ms == 500);
  CHECK(RECV("--connect-timeout", "2", "1", "k") && options.settings.listen_timeout_ms == 2000);
  CHECK(RECV("--connect-timeout", "0", "1", "k") && options.settings.listen_timeout_ms == 0);
  CHECK(RECV("--bind", "::1", "1", "k") && strcmp(options.settings.bind_host, "::1") == 0);
  CHECK(SEND("--progress", "plain", "--json", "-q", "h", "1", "k") && options.progress == RD_PROGRESS_PLAIN);
  CHECK(options.json && options.quiet);
  CHECK(SEND("--key-fd", "5", "h", "1", "-") && options.key_fd == 5);
}

static void test_sizes_and_rates(void) {
  for (size_t i = 0; i < sizeof size_cases / sizeof size_cases[0]; i++) {
    double size = -1, rate = -1;
    if (!rd_read_size(size_cases[i].text, &size)) size = -1;
    if (!rd_read_rate(size_cases[i].text, &rate)) rate = -1;
    CHECK(size == size_cases[i].size);
    CHECK(rate == size_cases[i].rate);
  }
}

static void test_words_of_sizes_and_rates(void) {
  char words[RD_SIZE_TEXT_BYTES];
  rd_size_text(1536 * 1024, words, sizeof words);
  CHECK(strcmp(words, "1.5 MiB") == 0);
  rd_rate_text(1536 * 1024, words, sizeof words);
  CHECK(strcmp(words, "1.500 MiB/s") == 0);
  rd_rate_text(999, words, sizeof words);
  CHECK(strcmp(words, "999 B/s") == 0);
}

static void test_modes(void) {
  CHECK(SEND("--agent-fd", "3") && options.mode == RD_MODE_AGENT && options.agent_fd == 3);
  CHECK(SEND("-h") && options.mode == RD_MODE_HELP);
  CHECK(RECV("--rdma-check") && options.mode == RD_MODE_RDMA_CHECK);
  CHECK(!SEND("--rdma-check") && error.code == RD_CODE_USAGE);
  CHECK(RECV("--version") && options.mode == RD_MODE_VERSION);
}

static void test_mistakes(void) {
  static const char *const values[][2] = {
      {"--buffer", "65k"},        {"--buffer", "1025MiB"},
      {"--buffer", "8X"},         {"--buffer", ""},
      {"--buffer", "nan"},        {"--encrypt", "sometimes"},
      {"--progress", "fast"},     {"--transport", ""},
      {"--transport", "quic"},    {"--stall-timeout", "1.9"},
      {"--stall-timeout", "inf"}, {"--stall-timeout", "5s"},
      {"--key-fd", "-1"},         {"--key-fd", "99999999999"},
      {"--connect-timeout", "x"}, {"--connect-timeout", "nan"},
      {"--bogus", "--verbose"},   {"--jobs", "65"},
      {"--jobs", "-1"},           {"--jobs", ""},
      {"--numa", "on"},           {"--compress", "zstd"},
      {"--streams", "17"},        {"--congestion", "cubic"},
      {"--limit", "1M"},          {"--buffer", "1Mbit"},
  };
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    CHECK(!RECV(values[i][0], values[i][1], "1", "k"));
    CHECK(error.code == RD_CODE_USAGE && error.message[0] != '\0');
  }
  static const char *const of_sender[][2] = {
      {"--compress", "zstd:0"}, {"--compress", "zstd:20"}, {"--compress", "zstd:"}, {"--compress", "lz4"},
      {"--limit", "0"},         {"--limit", "0.4"},        {"--limit", "1.1PiB"},   {"--limit", "-1"},
      {"--limit", "nan"},       {"--limit", "fast"},       {"--limit", ""},
  };
  for (size_t i = 0; i < sizeof of_sender / sizeof of_sender[0]; i++) {
    CHECK(!SEND(of_sender[i][0], of_sender[i][1], "h", "1", "k"));
    CHECK(error.code == RD_CODE_USAGE && error.message[0] != '\0');
  }
  CHECK(!SEND("--connect-timeout", "0", "h", "1", "k") && error.code == RD_CODE_USAGE);
  CHECK(!RECV("--connect-timeout", "0.0001", "1", "k")); // not taken as no limit
  CHECK(!SEND("h", "1"));
  CHECK(!SEND("h", "0", "k"));
  CHECK(!SEND("h", "65536", "k"));
  CHECK(!SEND("h", "1x", "k"));
  CHECK(!SEND("h", "1", ""));
  CHECK(!SEND("h", "1", "k", "--"));
  CHECK(!SEND("h", "1", "k", "one", "two"));
  CHECK(!SEND("h", "1", "k", "-v"));
  CHECK(!SEND("--bind", "::1", "h", "1", "k"));
  CHECK(!SEND("--buffer"));
}

static void test_help_fits(void) {
  for (int role = RD_ROLE_SENDER; role <= RD_ROLE_RECEIVER; role++) {
    char help[4096];
    FILE *out = fmemopen(help, sizeof help, "w");
    rd_options_write_help(line_of((enum rd_role)role), out);
    fclose(out);
    const char *line = help;
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) CHECK(end - line < 80);
    CHECK(*line == '\0');
  }
}

int main(void) {
  test_words();
  test_key_is_wiped();
  test_no_key();
  test_values();
  test_sizes_and_rates();
  test_words_of_sizes_and_rates();
  test_modes();
  test_mistakes();
  test_help_fits();
  return test_end("options");
}
