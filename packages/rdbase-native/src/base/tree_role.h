// SPDX-License-Identifier: Apache-2.0
// The roles of the programs of a copy, and the rights that each uses in a served directory.
#ifndef RD_BASE_TREE_ROLE_H
#define RD_BASE_TREE_ROLE_H

#include "base/option_rows.h"

#include <stdbool.h>

enum rd_rights { RD_RIGHTS_NONE, RD_RIGHTS_READ, RD_RIGHTS_WRITE, RD_RIGHTS_BOTH };
enum rd_sources { RD_SOURCES_NONE, RD_SOURCES_NAMES, RD_SOURCES_PATHS };

#define RD_TREE_ROLE_MEMBER(name, NAME, sources, has_target, rights) RD_TREE_##NAME,
enum rd_tree_role { RD_TREE_ROLES(RD_TREE_ROLE_MEMBER) };

struct rd_tree_role_row {
  const char *name;
  enum rd_sources sources; // paths are opened, names only compared
  bool has_target;
  enum rd_rights rights;
};

// By enum rd_tree_role.
extern const struct rd_tree_role_row rd_tree_roles[];

// Returns true if the role writes, or reads, a stream with the contents of files.
bool rd_tree_role_sends_contents(enum rd_tree_role role);
bool rd_tree_role_takes_contents(enum rd_tree_role role);

// Returns false if no role has that name, which may be NULL.
bool rd_tree_role_named(const char *name, enum rd_tree_role *role);

const char *rd_rights_name(enum rd_rights rights);              // "none", "read", "write", "both"
bool rd_rights_named(const char *name, enum rd_rights *rights); // false for other words, and for "none"

// An agent of a server begins the reason with this if it refuses what a client asks for.
#define RD_SERVED_REFUSAL "the server refuses this: "

#endif
