// SPDX-License-Identifier: Apache-2.0
#include "base/install_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum manager { UNKNOWN, APT, DNF, ZYPPER };

// IDs of systems, and of those that derive from them.
static const struct {
  const char *id;
  enum manager manager;
} MANAGERS[] = {{"debian", APT}, {"ubuntu", APT},  {"fedora", DNF},     {"rhel", DNF},
                {"centos", DNF}, {"suse", ZYPPER}, {"opensuse", ZYPPER}};

static enum manager manager_here(const char *os_release);
static enum manager manager_of(char *ids);

void rd_install_command(char *command, size_t command_bytes, const char *os_release,
                        const struct rd_packages *packages) {
  switch (manager_here(os_release)) {
  case APT:
    snprintf(command, command_bytes, "apt install %s", packages->apt);
    break;
  case DNF:
    snprintf(command, command_bytes, "dnf install %s", packages->dnf);
    break;
  case ZYPPER:
    snprintf(command, command_bytes, "zypper install %s", packages->zypper);
    break;
  case UNKNOWN:
    snprintf(command, command_bytes, "apt install %s; dnf install %s; zypper install %s", packages->apt, packages->dnf,
             packages->zypper);
  }
}

static enum manager manager_here(const char *os_release) {
  char line[256];
  enum manager found = UNKNOWN;
  FILE *file = fopen(os_release, "re");
  if (file == NULL) return UNKNOWN;
  while (found == UNKNOWN && fgets(line, sizeof line, file) != NULL) {
    char *value = strchr(line, '=');
    if (value == NULL || (strncmp(line, "ID=", 3) && strncmp(line, "ID_LIKE=", 8))) continue;
    found = manager_of(value + 1);
  }
  fclose(file);
  return found;
}

// `ids`: one or several, perhaps quoted: "rhel fedora".
static enum manager manager_of(char *ids) {
  char *rest;
  for (char *id = strtok_r(ids, " \"'\n", &rest); id != NULL; id = strtok_r(NULL, " \"'\n", &rest)) {
    for (size_t i = 0; i < sizeof MANAGERS / sizeof *MANAGERS; i++) {
      if (!strcmp(id, MANAGERS[i].id)) return MANAGERS[i].manager;
    }
  }
  return UNKNOWN;
}
