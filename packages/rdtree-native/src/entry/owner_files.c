// SPDX-License-Identifier: Apache-2.0
#include "entry/owner_files.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>

static bool read_one(FILE *file, bool is_group, uint32_t *id, const char **name);

void rd_owner_files_read(bool is_group, rd_owner_seen *seen, void *context) {
  uint32_t id;
  const char *name;
  FILE *file = fopen(is_group ? "/etc/group" : "/etc/passwd", "re");
  if (file == NULL) return;
  while (read_one(file, is_group, &id, &name) && seen(context, id, name)) continue;
  fclose(file);
}

static bool read_one(FILE *file, bool is_group, uint32_t *id, const char **name) {
  const struct group *group = is_group ? fgetgrent(file) : NULL;
  const struct passwd *user = is_group ? NULL : fgetpwent(file);
  if (group == NULL && user == NULL) return false;
  *id = is_group ? group->gr_gid : user->pw_uid;
  *name = is_group ? group->gr_name : user->pw_name;
  return true;
}
