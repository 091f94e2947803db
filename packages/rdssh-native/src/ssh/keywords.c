// SPDX-License-Identifier: Apache-2.0
#include "ssh/keywords.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define SPACE " \t"

// `plain`: values with which rdssh runs a command. Quoted and unknown values are left to ssh.
static const struct {
  const char *keyword;
  const char *plain[3];
} keywords[] = {
    {"SessionType", {"default"}},
    {"RemoteCommand", {"none"}},
    {"RequestTTY", {"auto", "no", "false"}},
    {"ForkAfterAuthentication", {"no", "false"}},
    {"StdinNull", {"no", "false"}},
    {"PermitLocalCommand", {"no", "false"}},
    {"VisualHostKey", {"no", "false"}},
    {"Tunnel", {"no", "false"}},
    {"LocalForward", {0}},
    {"RemoteForward", {0}},
    {"DynamicForward", {0}},
};

static const char *value_of(const char *option, const char *keyword);

const char *rd_ssh_keyword_for_ssh(const char *option) {
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
    const char *value = value_of(option, keywords[i].keyword);
    if (value == NULL) continue;
    for (size_t j = 0; j < sizeof keywords[i].plain / sizeof *keywords[i].plain; j++)
      if (keywords[i].plain[j] != NULL && strcasecmp(value, keywords[i].plain[j]) == 0) return NULL;
    return keywords[i].keyword;
  }
  return NULL;
}

bool rd_ssh_is_escape(const char *value) {
  size_t bytes = strlen(value);
  return bytes == 1 || strcmp(value, "none") == 0 ||
         (bytes == 2 && value[0] == '^' && (unsigned char)value[1] >= 64 && (unsigned char)value[1] < 128);
}

// Returns NULL if the option has another keyword.
static const char *value_of(const char *option, const char *keyword) {
  option += strspn(option, SPACE);
  size_t bytes = strlen(keyword);
  if (strncasecmp(option, keyword, bytes) != 0 || strchr(SPACE "=", option[bytes]) == NULL) return NULL;
  option += bytes + strspn(option + bytes, SPACE);
  if (*option == '=') option++;
  return option + strspn(option, SPACE);
}
