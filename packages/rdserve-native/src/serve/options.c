// SPDX-License-Identifier: Apache-2.0
#include "serve/options.h"

#include "base/option_table.h"

#include <string.h>

#define CLIENTS_MAX 4096
#define DRAIN_MAX_S 1000000

// Versions of clang-format differ here.
// clang-format off
#define FLAG(letter, name, member, help) RD_OPTION_FLAG(letter, name, struct rd_serve_options, member, help)
#define TEXT(name, value, member, help) RD_OPTION_TEXT(name, value, struct rd_serve_options, member, help)
// clang-format on

static bool parse_port(void *to, const char *text);
static bool parse_clients(void *to, const char *text);
static bool parse_ports(void *to, const char *text);
static bool parse_drain(void *to, const char *text);

// The order is that of --help.
static const struct rd_option_row rows[] = {
    TEXT("serve", "DIR", directory, "serve DIR; clients cannot reach anything outside it"),
    RD_OPTION_VALUE("port", "PORT", parse_port, "a number from 0 to 65535",
                    "listen on PORT (10470); 0: choose a free port"),
    TEXT("bind", "ADDRESS", bind, "listen only on this address (default: all)"),
    TEXT("keyfile", "FILE", key_file,
         "read the key of the client `default` from FILE, which\nmust be one line and readable only by you"),
    TEXT("config", "FILE", client_file,
         "read clients, their keys, directories and rights from\nFILE (JSON); reload it on HUP"),
    FLAG(0, "read-only", reads_only, "allow clients only to copy from here"),
    FLAG(0, "write-only", writes_only, "allow clients only to copy to here"),
    RD_OPTION_VALUE("max-clients", "N", parse_clients, "a number from 1 to 4096",
                    "allow at most N sessions at a time (32)"),
    RD_OPTION_VALUE("ports", "A-B", parse_ports, "two ports, A-B", "listen for data only on these ports"),
    RD_OPTION_VALUE("drain-timeout", "S", parse_drain, "a number of seconds up to 1000000",
                    "after TERM, end sessions that are still running after\nS seconds (default: let them finish)"),
    FLAG(0, "json", json, "print events as JSON objects on standard error"),
    FLAG('h', "help", help, "print this help"),
    {0},
};
static const struct rd_option_table table = {.own = rows};

static bool check(struct rd_serve_options *options, struct rd_error *error);
static bool usage(struct rd_error *error, const char *reason);

bool rd_serve_is_asked_for(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--serve") == 0 || strncmp(argv[i], "--serve=", 8) == 0) return true;
  return false;
}

bool rd_serve_options_parse(int argc, char **argv, struct rd_serve_options *options, struct rd_error *error) {
  *options = (struct rd_serve_options){.port = RD_SERVE_PORT, .most_clients = RD_SERVE_CLIENTS};
  int operand = rd_option_table_parse(&table, argc, argv, options, error);
  if (error->code != RD_CODE_OK) return false;
  if (options->help) return true;
  if (operand < argc) return usage(error, "--serve takes only options (set the port with --port PORT)");
  return check(options, error);
}

void rd_serve_options_write_help(FILE *out) {
  fputs("Usage: rdrecv --serve DIR {--keyfile FILE | --config FILE} [options]\n"
        "Let every client that has a key copy files to and from DIR, without ssh:\n"
        "rdcp --keyfile FILE SRC... rd://HOST[:PORT]/PATH, or from rd://... to DST.\n\n",
        out);
  rd_option_table_write_help(&table, out);
  fputs("\n"
        "HUP reloads the keys. TERM lets sessions finish; a second TERM ends them.\n",
        out);
}

static bool check(struct rd_serve_options *options, struct rd_error *error) {
  if (options->directory[0] == '\0') return usage(error, "--serve needs a directory");
  if (options->key_file == NULL && options->client_file == NULL)
    return usage(error, "--serve needs the keys of its clients (--keyfile FILE or --config FILE)");
  if (options->reads_only && options->writes_only)
    return usage(error, "--read-only and --write-only cannot be combined");
  options->rights = options->reads_only ? RD_RIGHTS_READ : options->writes_only ? RD_RIGHTS_WRITE : RD_RIGHTS_BOTH;
  return true;
}

static bool parse_port(void *to, const char *text) {
  struct rd_serve_options *options = to;
  long port;
  if (!rd_option_number(text, 0, UINT16_MAX, &port)) return false;
  options->port = (uint16_t)port;
  return true;
}

static bool parse_clients(void *to, const char *text) {
  struct rd_serve_options *options = to;
  long clients;
  if (!rd_option_number(text, 1, CLIENTS_MAX, &clients)) return false;
  options->most_clients = (unsigned)clients;
  return true;
}

static bool parse_ports(void *to, const char *text) {
  struct rd_serve_options *options = to;
  char low_text[8] = "";
  const char *dash = strchr(text, '-');
  long low, high;
  if (dash == NULL || (size_t)(dash - text) >= sizeof low_text) return false;
  memcpy(low_text, text, (size_t)(dash - text));
  if (!rd_option_number(low_text, 1, UINT16_MAX, &low) || !rd_option_number(dash + 1, low, UINT16_MAX, &high))
    return false;
  options->low_port = (uint16_t)low;
  options->high_port = (uint16_t)high;
  return true;
}

static bool parse_drain(void *to, const char *text) {
  struct rd_serve_options *options = to;
  long seconds;
  if (!rd_option_number(text, 0, DRAIN_MAX_S, &seconds)) return false;
  options->drain_ms = seconds * 1000;
  return true;
}

static bool usage(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_USAGE, "%s", reason);
  return false;
}
