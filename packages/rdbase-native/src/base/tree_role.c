// SPDX-License-Identifier: Apache-2.0
#include "base/tree_role.h"

#include "base/option_table.h"

#include <string.h>

static const char *const rights_names[] = {"none", "read", "write", "both", NULL};

#define ROW(name, NAME, sources, has_target, rights) {#name, sources, has_target, rights},
const struct rd_tree_role_row rd_tree_roles[] = {RD_TREE_ROLES(ROW)};

bool rd_tree_role_sends_contents(enum rd_tree_role role) {
  return role == RD_TREE_READ || role == RD_TREE_SEND;
}

bool rd_tree_role_takes_contents(enum rd_tree_role role) {
  return role == RD_TREE_WRITE;
}

bool rd_tree_role_named(const char *name, enum rd_tree_role *role) {
  for (size_t i = 0; name != NULL && i < sizeof rd_tree_roles / sizeof *rd_tree_roles; i++) {
    if (strcmp(name, rd_tree_roles[i].name) != 0) continue;
    *role = (enum rd_tree_role)i;
    return true;
  }
  return false;
}

const char *rd_rights_name(enum rd_rights rights) {
  return rights_names[rights & RD_RIGHTS_BOTH];
}

bool rd_rights_named(const char *name, enum rd_rights *rights) {
  int found = rd_option_word(name, rights_names);
  *rights = found > RD_RIGHTS_NONE ? (enum rd_rights)found : RD_RIGHTS_NONE;
  return found > RD_RIGHTS_NONE;
}
