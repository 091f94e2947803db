// SPDX-License-Identifier: Apache-2.0
#include "ssh/forward_settings.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void take_line(struct rd_ssh_forward_settings *settings, const char *line, size_t bytes);
static bool take_flag(bool *flag, const char *keyword, const char *line, size_t bytes);
static void take_forward(struct rd_ssh_forward_settings *settings, const char *option, const char *keyword,
                         const char *line, size_t bytes);
static bool leads_to_socket(const char *line, size_t bytes);
static bool begins(const char *line, size_t bytes, const char *keyword);

// ssh 9 prints a LocalForward to a socket as a DynamicForward too.
void rd_ssh_forward_settings_parse(struct rd_ssh_forward_settings *settings, const char *answer) {
  *settings = (struct rd_ssh_forward_settings){0};
  size_t dynamic = 0, to_sockets = 0;
  while (*answer != '\0') {
    size_t bytes = strcspn(answer, "\n");
    take_line(settings, answer, bytes);
    dynamic += begins(answer, bytes, "dynamicforward ");
    to_sockets += begins(answer, bytes, "localforward ") && leads_to_socket(answer, bytes);
    answer += bytes + (answer[bytes] == '\n');
  }
  settings->for_ssh = settings->for_ssh || dynamic > to_sockets;
}

void rd_ssh_forward_settings_destroy(struct rd_ssh_forward_settings *settings) {
  if (settings == NULL) return;
  for (size_t i = 1; i < settings->forwards.count; i += 2) free((char *)(size_t)settings->forwards.items[i]);
  free(settings->forwards.items);
  *settings = (struct rd_ssh_forward_settings){0};
}

static void take_line(struct rd_ssh_forward_settings *settings, const char *line, size_t bytes) {
  bool clears = false;
  if (take_flag(&settings->gateway_ports, "gatewayports ", line, bytes) ||
      take_flag(&settings->replace_sockets, "streamlocalbindunlink ", line, bytes) ||
      take_flag(&settings->all_or_none, "exitonforwardfailure ", line, bytes))
    return;
  if (take_flag(&clears, "clearallforwardings ", line, bytes)) settings->for_ssh = settings->for_ssh || clears;
  take_forward(settings, "-L", "localforward ", line, bytes);
  take_forward(settings, "-R", "remoteforward ", line, bytes);
}

// ssh prints yes or no.
static bool take_flag(bool *flag, const char *keyword, const char *line, size_t bytes) {
  if (!begins(line, bytes, keyword)) return false;
  size_t keyword_bytes = strlen(keyword);
  *flag = bytes == keyword_bytes + 3 && strncmp(line + keyword_bytes, "yes", 3) == 0;
  return true;
}

// ssh prints `keyword LISTEN TARGET`, with addresses in brackets; a RemoteForward without a target has [socks]:0.
static void take_forward(struct rd_ssh_forward_settings *settings, const char *option, const char *keyword,
                         const char *line, size_t bytes) {
  if (!begins(line, bytes, keyword)) return;
  size_t keyword_bytes = strlen(keyword), spec_bytes = bytes - keyword_bytes;
  char *spec = rd_memory_new(spec_bytes + 1, 1);
  memcpy(spec, line + keyword_bytes, spec_bytes);
  char *blank = strchr(spec, ' ');
  if (blank == NULL || strchr(blank + 1, ' ') != NULL || strcmp(blank, " [socks]:0") == 0) {
    settings->for_ssh = true;
    free(spec);
    return;
  }
  *blank = ':';
  struct rd_ssh_words *forwards = &settings->forwards;
  forwards->items = rd_memory_resize(forwards->items, forwards->count + 2, sizeof *forwards->items);
  forwards->items[forwards->count++] = option;
  forwards->items[forwards->count++] = spec;
}

static bool leads_to_socket(const char *line, size_t bytes) {
  const char *target = memrchr(line, ' ', bytes);
  return target != NULL && target[1] == '/';
}

static bool begins(const char *line, size_t bytes, const char *keyword) {
  return bytes > strlen(keyword) && strncmp(line, keyword, strlen(keyword)) == 0;
}
