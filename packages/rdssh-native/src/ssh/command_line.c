// SPDX-License-Identifier: Apache-2.0
#include "ssh/command_line.h"

#include "base/memory.h"
#include "ssh/keywords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Options as OpenSSH 9.2 declares them to getopt(3). A command line with any other option is left to ssh.
#define FLAGS "1246afgkntqsvxACKMNTVXYyG"
#define WITH_VALUE "bceiIlmopBDEFJLOPQRSWw"

// -T overrides RequestTTY of the configuration. So does a single -t, with which rdssh runs only commands without a
// terminal.
#define NO_TERMINAL "RequestTTY=no"

enum order {
  FIRST_COUNTS, // ssh keeps the first value that it reads, of -o or of the equivalent option
  LAST_COUNTS,  // the option overrides any previous value
};

// Options that are equivalent to an -o.
static const struct {
  char letter;
  enum order order;
  const char *keyword; // up to its value; for an option without a value, including it
} equivalents[] = {
    {'p', FIRST_COUNTS, "Port="},
    {'l', FIRST_COUNTS, "User="},
    {'o', FIRST_COUNTS, ""},
    {'i', FIRST_COUNTS, "IdentityFile="},
    {'J', FIRST_COUNTS, "ProxyJump="},
    {'b', LAST_COUNTS, "BindAddress="},
    {'B', LAST_COUNTS, "BindInterface="},
    {'c', LAST_COUNTS, "Ciphers="},
    {'m', LAST_COUNTS, "MACs="},
    {'I', LAST_COUNTS, "PKCS11Provider="},
    {'S', LAST_COUNTS, "ControlPath="},
    {'4', LAST_COUNTS, "AddressFamily=inet"},
    {'6', LAST_COUNTS, "AddressFamily=inet6"},
    {'a', LAST_COUNTS, "ForwardAgent=no"},
    {'A', LAST_COUNTS, "ForwardAgent=yes"},
    {'C', LAST_COUNTS, "Compression=yes"},
    {'K', LAST_COUNTS, "GSSAPIAuthentication=yes"},
    {'K', LAST_COUNTS, "GSSAPIDelegateCredentials=yes"},
    {'k', LAST_COUNTS, "GSSAPIDelegateCredentials=no"},
    {'x', LAST_COUNTS, "ForwardX11=no"},
};

struct parser {
  struct rd_ssh_command_line *line;
  char **words;
  int count, next; // words[next] is parsed next
  struct rd_ssh_words last_counts;
  unsigned terminal; // number of -t; 0 after -T
  bool no_command, jumps, is_terminal;
};

static bool parse_words(struct parser *parser);
static bool parse_options(struct parser *parser, bool *terminated);
static bool parse_cluster(struct parser *parser, const char *word);
static bool take_own(struct parser *parser, const char *word);
static void take_option(struct parser *parser, char letter, const char *value);
static void take_flag(struct parser *parser, char letter);
static void take_equivalent(struct parser *parser, char letter, const char *value);
static void take_forward(struct parser *parser, char letter, const char *spec);
static bool leads_somewhere(const char *spec);
static bool takes_host(struct parser *parser, const char *word);
static bool take_uri(struct parser *parser, const char *rest);
static enum rd_ssh_use use_of(struct parser *parser);
static const char *reason_of_use(const struct parser *parser);
static void leave_keywords(struct parser *parser);
static bool leave(struct parser *parser, const char *reason);
static bool leave_option(struct parser *parser, char letter);
static void settle_options(struct parser *parser);
static const char *joined(struct parser *parser, const char *begin, const char *end, size_t end_bytes);
static void append(struct rd_ssh_words *words, const char *word);

void rd_ssh_command_line_parse(struct rd_ssh_command_line *line, int argc, char **argv, bool is_terminal) {
  *line = (struct rd_ssh_command_line){.use = RD_SSH_ITSELF};
  struct parser parser = {.line = line, .words = argv, .count = argc, .next = 1, .is_terminal = is_terminal};
  if (parse_words(&parser)) line->use = use_of(&parser);
  if (line->use != RD_SSH_ITSELF) line->reason = NULL;
  settle_options(&parser);
}

void rd_ssh_command_line_destroy(struct rd_ssh_command_line *line) {
  if (line == NULL) return;
  for (size_t i = 0; i < line->texts.count; i++) free((char *)(size_t)line->texts.items[i]);
  free(line->options.items);
  free(line->own.items);
  free(line->forwards.items);
  free(line->command.items);
  free(line->keys.items);
  free(line->texts.items);
  *line = (struct rd_ssh_command_line){0};
}

// Options may be given before and after the host, until -- or the command.
static bool parse_words(struct parser *parser) {
  bool terminated = false;
  if (!parse_options(parser, &terminated)) return false;
  if (parser->line->use == RD_SSH_HELP) return true;
  if (parser->next >= parser->count) return leave(parser, "it has no host");
  if (!takes_host(parser, parser->words[parser->next++])) return leave(parser, "only ssh can parse its host");
  if (!terminated && !parse_options(parser, &terminated)) return false;
  for (; parser->next < parser->count; parser->next++) append(&parser->line->command, parser->words[parser->next]);
  return true;
}

static bool parse_options(struct parser *parser, bool *terminated) {
  for (; parser->next < parser->count; parser->next++) {
    const char *word = parser->words[parser->next];
    if (word[0] != '-' || word[1] == '\0') return true;
    if (strcmp(word, "--") == 0) {
      *terminated = true;
      parser->next++;
      return true;
    }
    if (word[1] == '-' ? !take_own(parser, word) : !parse_cluster(parser, word + 1)) return false;
    if (parser->line->use == RD_SSH_HELP) return true;
  }
  return true;
}

// `-vvp22` and `-vvp 22` are -v -v -p 22.
static bool parse_cluster(struct parser *parser, const char *word) {
  for (; *word != '\0'; word++) {
    if (strchr(FLAGS, *word) != NULL) {
      take_flag(parser, *word);
      continue;
    }
    bool has_value = word[1] != '\0' || parser->next + 1 < parser->count;
    if (strchr(WITH_VALUE, *word) == NULL || !has_value) return leave_option(parser, *word);
    take_option(parser, *word, word[1] != '\0' ? word + 1 : parser->words[++parser->next]);
    return true;
  }
  return true;
}

// ssh has no such options. After the host they would be an error, which ssh reports.
static bool take_own(struct parser *parser, const char *word) {
  static const char program[] = "--ssh-program=";
  if (parser->line->host != NULL) return leave(parser, "an option that begins with -- follows the host");
  if (strcmp(word, "--help") == 0 || strcmp(word, "--version") == 0) parser->line->use = RD_SSH_HELP;
  if (strncmp(word, program, sizeof program - 1) == 0) parser->line->ssh_program = word + sizeof program - 1;
  append(&parser->line->own, word);
  return true;
}

static void take_option(struct parser *parser, char letter, const char *value) {
  switch (letter) {
  case 'F':
    parser->line->config_file = value;
    return;
  case 'E':
    parser->line->log_file = value;
    return;
  case 'e': // there is no terminal to escape from, but ssh reports a wrong character
    if (!rd_ssh_is_escape(value)) leave_option(parser, letter);
    return;
  case 'L':
  case 'R':
    take_forward(parser, letter, value);
    return;
  case 'i':
    append(&parser->line->keys, value);
    break;
  case 'J': // ssh refuses a second one
    if (parser->jumps) leave(parser, "it has -J twice");
    parser->jumps = true;
    break;
  default:
    break;
  }
  take_equivalent(parser, letter, value);
}

static void take_flag(struct parser *parser, char letter) {
  struct rd_ssh_command_line *line = parser->line;
  switch (letter) {
  case 't':
    parser->terminal++;
    append(&parser->last_counts, NO_TERMINAL);
    return;
  case 'T':
    parser->terminal = 0;
    append(&parser->last_counts, NO_TERMINAL);
    return;
  case 'N':
    parser->no_command = true;
    return;
  case 'n':
    line->no_input = true;
    return;
  case 'q':
    line->quiet = true;
    return;
  case 'v':
    line->verbose++;
    return;
  case 's':
    line->subsystem = true;
    return;
  case 'f':
    line->background = true;
    return;
  case 'g':
    line->gateway_ports = true;
    return;
  case '2':
    return;
  case 'C':
    line->compress = true;
    break;
  default:
    break;
  }
  take_equivalent(parser, letter, "");
}

static void take_equivalent(struct parser *parser, char letter, const char *value) {
  bool is_known = false;
  for (size_t i = 0; i < sizeof equivalents / sizeof *equivalents; i++) {
    if (equivalents[i].letter != letter) continue;
    const char *text = joined(parser, equivalents[i].keyword, value, strlen(value));
    append(equivalents[i].order == LAST_COUNTS ? &parser->last_counts : &parser->line->options, text);
    is_known = true;
  }
  if (!is_known) leave_option(parser, letter);
}

static void take_forward(struct parser *parser, char letter, const char *spec) {
  if (!leads_somewhere(spec)) leave(parser, "only ssh supports a forward without a target");
  append(&parser->line->forwards, letter == 'L' ? "-L" : "-R");
  append(&parser->line->forwards, spec);
}

// `-R [BIND:]PORT` without a target is a SOCKS proxy.
static bool leads_somewhere(const char *spec) {
  const char *address_end = *spec == '[' ? strchr(spec, ']') : spec;
  if (address_end == NULL) return false;
  const char *colon = strpbrk(address_end, ":/");
  return colon != NULL && (*spec == '/' || strchr(spec, '/') != NULL || strchr(colon + 1, ':') != NULL);
}

// `[user@]host`, or a URI. As in ssh, a user or port that was given before takes precedence.
static bool takes_host(struct parser *parser, const char *word) {
  static const char scheme[] = "ssh://";
  if (strncmp(word, scheme, sizeof scheme - 1) == 0) return take_uri(parser, word + sizeof scheme - 1);
  const char *at = strrchr(word, '@');
  if (at == word) return false;
  if (at != NULL) append(&parser->line->options, joined(parser, "User=", word, (size_t)(at - word)));
  parser->line->host = at != NULL ? at + 1 : word;
  return *parser->line->host != '\0' && *parser->line->host != '-';
}

// `[user@]host[:port]`, an IPv6 address in brackets. Other forms (%-escapes, a path) are left to ssh.
static bool take_uri(struct parser *parser, const char *rest) {
  if (strpbrk(rest, "%/?#") != NULL) return false;
  const char *at = strrchr(rest, '@');
  const char *host = at != NULL ? at + 1 : rest;
  const char *close = *host == '[' ? strchr(host, ']') : NULL;
  if (*host == '[' && close == NULL) return false;
  const char *port = strchr(close != NULL ? close : host, ':');
  if (at == rest || (close != NULL && close[1] != '\0' && close + 1 != port)) return false;
  if (at != NULL) append(&parser->line->options, joined(parser, "User=", rest, (size_t)(at - rest)));
  if (port != NULL) append(&parser->line->options, joined(parser, "Port=", port + 1, strlen(port + 1)));
  const char *end = close != NULL ? close : (port != NULL ? port : host + strlen(host));
  if (close != NULL) host++;
  parser->line->host = joined(parser, "", host, (size_t)(end - host));
  return *parser->line->host != '\0' && *parser->line->host != '-' && (port == NULL || port[1] != '\0');
}

static enum rd_ssh_use use_of(struct parser *parser) {
  if (parser->line->use == RD_SSH_HELP) return RD_SSH_HELP;
  const char *reason = reason_of_use(parser);
  if (reason != NULL) leave(parser, reason);
  if (!parser->no_command) leave_keywords(parser);
  if (parser->line->reason != NULL) return RD_SSH_ITSELF;
  return parser->no_command ? RD_SSH_FORWARDS : RD_SSH_COMMAND;
}

// Returns why only ssh supports the combination of options and command; NULL if rdssh does.
static const char *reason_of_use(const struct parser *parser) {
  const struct rd_ssh_command_line *line = parser->line;
  bool has_command = line->command.count > 0;
  if (parser->terminal > 1) return "-tt requests a terminal";
  if (parser->terminal == 1 && parser->is_terminal) return "-t requests a terminal";
  if (parser->no_command && (has_command || line->subsystem)) return "it has -N and a command";
  if (parser->no_command) return line->forwards.count > 0 ? NULL : "it has -N without -L or -R";
  if (!has_command) return "it has no command";
  if (line->background) return "only ssh supports -f with a command";
  if (line->forwards.count > 0) return "only ssh supports -L and -R with a command";
  bool is_sftp = line->command.count == 1 && strcmp(line->command.items[0], "sftp") == 0;
  return line->subsystem && !is_sftp ? "only ssh supports subsystems other than sftp" : NULL;
}

static void leave_keywords(struct parser *parser) {
  for (size_t i = 0; i < parser->line->options.count; i++) {
    const char *keyword = rd_ssh_keyword_for_ssh(parser->line->options.items[i]);
    if (keyword != NULL) leave(parser, joined(parser, "only ssh supports ", keyword, strlen(keyword)));
  }
}

// Keeps the first reason. Returns false.
static bool leave(struct parser *parser, const char *reason) {
  if (parser->line->reason == NULL) parser->line->reason = reason;
  return false;
}

static bool leave_option(struct parser *parser, char letter) {
  return leave(parser, joined(parser, "only ssh supports -", &letter, 1));
}

// The last of the options that override previous values comes first.
static void settle_options(struct parser *parser) {
  struct rd_ssh_words ordered = {0};
  for (size_t i = parser->last_counts.count; i > 0; i--) append(&ordered, parser->last_counts.items[i - 1]);
  for (size_t i = 0; i < parser->line->options.count; i++) append(&ordered, parser->line->options.items[i]);
  free(parser->last_counts.items);
  free(parser->line->options.items);
  parser->line->options = ordered;
}

static const char *joined(struct parser *parser, const char *begin, const char *end, size_t end_bytes) {
  size_t begin_bytes = strlen(begin);
  char *text = rd_memory_new(begin_bytes + end_bytes + 1, 1);
  memcpy(text, begin, begin_bytes);
  memcpy(text + begin_bytes, end, end_bytes);
  append(&parser->line->texts, text);
  return text;
}

static void append(struct rd_ssh_words *words, const char *word) {
  words->items = rd_memory_resize(words->items, words->count + 1, sizeof *words->items);
  words->items[words->count++] = word;
}
