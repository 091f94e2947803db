// SPDX-License-Identifier: Apache-2.0
#include "serve/options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 27
#define FIRST_OPTION 256 // what getopt_long() returns for the first row
#define CLIENTS_MOST 4096
#define DRAIN_MOST_S 1000000

struct option_row {
  const char *name;
  const char *value; // as --help names it; NULL: it takes none
  bool (*parse)(struct rd_serve_options *options, const char *text);
  const char *expected; // for the message about another value
  size_t member;        // that it sets: where it is in struct rd_serve_options; of a value without `parse` a text
  const char *help;
};

// Versions of clang-format differ here.
// clang-format off
#define FLAG(name, member, help) \
  { name, NULL, NULL, NULL, offsetof(struct rd_serve_options, member), help }
#define TEXT(name, value, member, help) \
  { name, value, NULL, NULL, offsetof(struct rd_serve_options, member), help }
#define VALUE(name, value, parse, expected, help) \
  { name, value, parse, expected, 0, help }
// clang-format on

static bool parse_port(struct rd_serve_options *options, const char *text);
static bool parse_clients(struct rd_serve_options *options, const char *text);
static bool parse_ports(struct rd_serve_options *options, const char *text);
static bool parse_drain(struct rd_serve_options *options, const char *text);

// In the order of --help.
static const struct option_row rows[] = {
    TEXT("serve", "DIR", directory, "the directory; nothing outside it can be reached"),
    VALUE("port", "PORT", parse_port, "a number from 0 to 65535", "listen there (10470); 0 is a free port"),
    TEXT("bind", "ADDRESS", bind, "listen on this address only (default: every one)"),
    TEXT("keyfile", "FILE", key_file, "the key of the client `default`, in one line of a\nfile that only you may read"),
    TEXT("config", "FILE", client_file, "clients with keys, directories and rights of their\nown; read again on HUP"),
    FLAG("read-only", reads_only, "clients may copy from here only"),
    FLAG("write-only", writes_only, "clients may copy to here only"),
    VALUE("max-clients", "N", parse_clients, "a number from 1 to 4096", "sessions at a time (32)"),
    VALUE("ports", "A-B", parse_ports, "two ports, A-B", "the ports on which ends of hops may listen"),
    VALUE("drain-timeout", "S", parse_drain, "a number of seconds up to 1000000",
          "after TERM, end sessions that run for S seconds\nmore (default: let them finish)"),
    FLAG("json", json, "events as JSON objects on standard error"),
    FLAG("help", help, "print this"),
};
#define ROWS (sizeof rows / sizeof rows[0])

static bool take_option(struct rd_serve_options *options, int option, char *const *argv, struct rd_error *error);
static bool check(struct rd_serve_options *options, struct rd_error *error);
static void write_row(FILE *out, const struct option_row *row);
static bool read_number(const char *text, long least, long most, long *out);
static bool usage(struct rd_error *error, const char *reason);

const char *rd_serve_rights_name(enum rd_serve_rights rights) {
  static const char *const names[] = {"none", "read", "write", "both"};
  return names[rights & RD_RIGHTS_BOTH];
}

bool rd_serve_is_asked_for(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--serve") == 0 || strncmp(argv[i], "--serve=", 8) == 0) return true;
  return false;
}

bool rd_serve_options_parse(int argc, char **argv, struct rd_serve_options *options, struct rd_error *error) {
  struct option names[ROWS + 1] = {0};
  for (size_t i = 0; i < ROWS; i++)
    names[i] = (struct option){.name = rows[i].name,
                               .has_arg = rows[i].value != NULL ? required_argument : no_argument,
                               .val = FIRST_OPTION + (int)i};
  *options = (struct rd_serve_options){.port = RD_SERVE_PORT, .most_clients = RD_SERVE_CLIENTS};
  opterr = 0;
  optind = 0;
  for (int option; (option = getopt_long(argc, argv, "+:h", names, NULL)) != -1;)
    if (!take_option(options, option, argv, error)) return false;
  if (options->help) return true;
  if (optind < argc) return usage(error, "--serve takes options only: its port is --port PORT");
  return check(options, error);
}

void rd_serve_options_write_help(FILE *out) {
  fputs("usage: rdrecv --serve DIR {--keyfile FILE | --config FILE} [options]\n"
        "Serves copies below DIR to every client that has a key, without ssh:\n"
        "rdcp --keyfile FILE SRC... rd://HOST[:PORT]/PATH, and from there.\n\n",
        out);
  for (size_t i = 0; i < ROWS; i++) write_row(out, &rows[i]);
  fputs("\n"
        "HUP reads the keys again; TERM lets sessions finish, and a second one ends them.\n",
        out);
}

static bool take_option(struct rd_serve_options *options, int option, char *const *argv, struct rd_error *error) {
  if (option == 'h') return options->help = true;
  if (option < FIRST_OPTION) {
    rd_error_set(error, RD_CODE_USAGE, option == ':' ? "%s needs a value" : "unknown option %s of --serve",
                 argv[optind - 1]);
    return false;
  }
  const struct option_row *row = &rows[option - FIRST_OPTION];
  char *member = (char *)options + row->member;
  if (row->parse != NULL && !row->parse(options, optarg)) {
    rd_error_set(error, RD_CODE_USAGE, "--%s is %s, not %s", row->name, row->expected, optarg);
    return false;
  }
  if (row->parse == NULL && row->value != NULL) memcpy(member, &optarg, sizeof optarg);
  if (row->value == NULL) *(bool *)member = true;
  return true;
}

static bool check(struct rd_serve_options *options, struct rd_error *error) {
  if (options->directory[0] == '\0') return usage(error, "--serve needs a directory");
  if (options->key_file == NULL && options->client_file == NULL)
    return usage(error, "--serve needs the keys of its clients: --keyfile FILE or --config FILE");
  if (options->reads_only && options->writes_only) return usage(error, "--read-only and --write-only leave nothing");
  options->rights = options->reads_only ? RD_RIGHTS_READ : options->writes_only ? RD_RIGHTS_WRITE : RD_RIGHTS_BOTH;
  return true;
}

// The lines of its help begin at HELP_COLUMN.
static void write_row(FILE *out, const struct option_row *row) {
  int column = fprintf(out, "      --%s %s", row->name, row->value != NULL ? row->value : "");
  for (const char *line = row->help; line != NULL; column = 0) {
    const char *end = strchrnul(line, '\n');
    fprintf(out, "%*s%.*s\n", HELP_COLUMN - column, "", (int)(end - line), line);
    line = *end != '\0' ? end + 1 : NULL;
  }
}

static bool parse_port(struct rd_serve_options *options, const char *text) {
  long port;
  if (!read_number(text, 0, UINT16_MAX, &port)) return false;
  options->port = (uint16_t)port;
  return true;
}

static bool parse_clients(struct rd_serve_options *options, const char *text) {
  long clients;
  if (!read_number(text, 1, CLIENTS_MOST, &clients)) return false;
  options->most_clients = (unsigned)clients;
  return true;
}

static bool parse_ports(struct rd_serve_options *options, const char *text) {
  char low_text[8] = "";
  const char *dash = strchr(text, '-');
  long low, high;
  if (dash == NULL || (size_t)(dash - text) >= sizeof low_text) return false;
  memcpy(low_text, text, (size_t)(dash - text));
  if (!read_number(low_text, 1, UINT16_MAX, &low) || !read_number(dash + 1, low, UINT16_MAX, &high)) return false;
  options->low_port = (uint16_t)low;
  options->high_port = (uint16_t)high;
  return true;
}

static bool parse_drain(struct rd_serve_options *options, const char *text) {
  long seconds;
  if (!read_number(text, 0, DRAIN_MOST_S, &seconds)) return false;
  options->drain_ms = seconds * 1000;
  return true;
}

static bool read_number(const char *text, long least, long most, long *out) {
  char *end;
  errno = 0;
  *out = strtol(text, &end, 10);
  return end != text && *end == '\0' && errno == 0 && *out >= least && *out <= most;
}

static bool usage(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_USAGE, "%s", reason);
  return false;
}
