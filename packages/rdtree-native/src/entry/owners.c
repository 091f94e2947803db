// SPDX-License-Identifier: Apache-2.0
#include "entry/owners.h"

#include "base/memory.h"
#include "entry/owner_files.h"

#include <stdlib.h>
#include <string.h>

struct name {
  uint32_t id;
  bool is_sent;
  size_t order;
  char *text;
};

// Users or groups, sorted by number; if several have one number, the first of them in the file.
struct names {
  struct name *at;
  size_t count, room;
};

struct rd_owner_names {
  struct names users, groups;
  bool has_last;
  uint32_t last_uid, last_gid; // most entries have the same owner as the entry before
};

static bool add(void *context, uint32_t id, const char *text);
static void sort(struct names *names);
static int by_id(const void *one, const void *other);
static void free_names(struct names *names);
static bool put(struct names *names, bool is_group, uint32_t id, struct rd_stream_writer *writer,
                struct rd_error *error);

struct rd_owner_names *rd_owner_names_create(void) {
  struct rd_owner_names *names = rd_memory_new(1, sizeof *names);
  rd_owner_files_read(false, add, &names->users);
  rd_owner_files_read(true, add, &names->groups);
  sort(&names->users);
  sort(&names->groups);
  return names;
}

void rd_owner_names_destroy(struct rd_owner_names *names) {
  if (names == NULL) return;
  free_names(&names->users);
  free_names(&names->groups);
  free(names);
}

bool rd_owner_names_put(struct rd_owner_names *names, const struct rd_metadata *metadata,
                        struct rd_stream_writer *writer, struct rd_error *error) {
  if (names->has_last && names->last_uid == metadata->uid && names->last_gid == metadata->gid) return true;
  names->has_last = true;
  names->last_uid = metadata->uid;
  names->last_gid = metadata->gid;
  return put(&names->users, false, metadata->uid, writer, error) &&
         put(&names->groups, true, metadata->gid, writer, error);
}

static bool add(void *context, uint32_t id, const char *text) {
  struct names *names = context;
  size_t count = strlen(text);
  if (count < 1 || count > RD_NAME_MAX_BYTES) return true;
  if (names->count == names->room) {
    names->room = 2 * names->room + 64;
    names->at = rd_memory_resize(names->at, names->room, sizeof *names->at);
  }
  names->at[names->count] = (struct name){.id = id, .order = names->count, .text = rd_memory_copy(text, count)};
  names->count++;
  return true;
}

static void sort(struct names *names) {
  size_t kept = 0;
  if (names->count > 0) qsort(names->at, names->count, sizeof *names->at, by_id);
  for (size_t i = 0; i < names->count; i++) {
    if (kept > 0 && names->at[kept - 1].id == names->at[i].id)
      free(names->at[i].text);
    else
      names->at[kept++] = names->at[i];
  }
  names->count = kept;
}

static int by_id(const void *one, const void *other) {
  const struct name *a = one, *b = other;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

static void free_names(struct names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->at[i].text);
  free(names->at);
}

// A number without a name is not remembered: it costs a search at each change of owner, but no memory.
static bool put(struct names *names, bool is_group, uint32_t id, struct rd_stream_writer *writer,
                struct rd_error *error) {
  size_t from = 0, to = names->count;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (names->at[middle].id < id)
      from = middle + 1;
    else
      to = middle;
  }
  struct name *found = from < names->count && names->at[from].id == id ? &names->at[from] : NULL;
  if (found == NULL || found->is_sent) return true;
  found->is_sent = true;
  struct rd_record record = {.type = RD_RECORD_OWNER, .owner = {is_group, id, rd_bytes_of(found->text)}};
  return rd_stream_put(writer, &record, error);
}
