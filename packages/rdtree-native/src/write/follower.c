// SPDX-License-Identifier: Apache-2.0
#include "write/follower.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "entry/link_dest.h"
#include "entry/owner_map.h"
#include "entry/xattrs.h"
#include "target/batch.h"
#include "target/directory_metadata.h"
#include "target/kept_entry.h"
#include "target/links.h"
#include "target/removal.h"
#include "target/special.h"
#include "target/target.h"
#include "write/copier.h"
#include "write/incoming.h"
#include "write/stop_signals.h"

#include <errno.h>
#include <fcntl.h>

#define WAIT_MS 250
#define FRAME_BYTES_MAX (64u << 20)

// A directory that was entered.
struct frame {
  struct rd_directory *directory; // NULL: nothing can be done in it; that was reported
  enum rd_want want;
  struct rd_wanted_metadata wanted;
  struct rd_attributes attributes;
};

struct rd_follower {
  struct rd_write *write;
  struct rd_later *later;
  struct rd_stream_reader *reader;
  enum rd_target_mode place;
  char *as_name; // RD_PLACE_AS
  struct frame *frames;
  size_t depth, room;
  size_t frame_bytes;              // of their attributes
  struct rd_attributes attributes; // of the next entry
  struct rd_blocks blocks;         // of the next file; its digests are `digests`
  unsigned char *digests;
  struct rd_target_file *file; // whose content comes; NULL: none, or it is not wanted
  struct rd_copier *copier;    // NULL: the content comes with the stream
  int64_t progress_ms;
};

static bool take_entry(struct rd_follower *follower, const struct rd_record *record, struct rd_error *error);
static bool open_target(struct rd_follower *follower, struct rd_error *error);
static bool enter(struct rd_follower *follower, const struct rd_entry *entry, struct rd_error *error);
static void open_frame(struct rd_follower *follower, struct rd_directory *parent, const char *name,
                       const struct rd_entry *entry, struct frame *frame);
static bool leave(struct rd_follower *follower, struct rd_error *error);
static void begin_entry(struct rd_follower *follower, const struct rd_record *record, const struct rd_entry *entry,
                        struct rd_directory *directory, const char *name);
static bool prepare_directory(struct rd_follower *follower, struct rd_directory *directory, const char *name);
static void end_file(struct rd_follower *follower, const struct rd_file_end *end);
static struct rd_directory *directory_at(const struct rd_follower *follower);
static struct rd_entry map_owner(const struct rd_follower *follower, const struct rd_entry *entry);
static void note(struct rd_follower *follower, struct rd_directory *directory, const struct rd_entry *entry);
static bool damaged(struct rd_error *error, const char *reason);

struct rd_follower *rd_follower_create(struct rd_write *write, struct rd_later *later,
                                       struct rd_stream_reader *reader) {
  struct rd_follower *follower = rd_memory_new(1, sizeof *follower);
  follower->write = write;
  follower->later = later;
  follower->reader = reader;
  if (write->settings->role == RD_TREE_COPY) follower->copier = rd_copier_create(write);
  return follower;
}

void rd_follower_destroy(struct rd_follower *follower) {
  if (follower == NULL) return;
  struct rd_error ignored;
  if (follower->file != NULL) rd_incoming_abandon(follower->file);
  while (follower->depth > 0) (void)leave(follower, &ignored);
  rd_attributes_clear(&follower->attributes);
  rd_copier_destroy(follower->copier);
  free(follower->digests);
  free(follower->as_name);
  free(follower->frames);
  free(follower);
}

bool rd_follower_take(struct rd_follower *follower, const struct rd_record *record, struct rd_error *error) {
  RD_AUTO_FREE char *name = NULL;
  switch (record->type) {
  case RD_RECORD_OWNER:
    rd_owner_map_add(follower->write->owners, record->owner.is_group, record->owner.id, record->owner.name);
    return true;
  case RD_RECORD_PLACE:
    follower->place = record->place;
    return true;
  case RD_RECORD_XATTR:
    rd_attributes_add(&follower->attributes, &record->xattr);
    return true;
  case RD_RECORD_BLOCKS:
    free(follower->digests);
    follower->blocks = record->blocks;
    follower->digests =
        (unsigned char *)rd_memory_copy((const char *)record->blocks.digests.at, record->blocks.digests.count);
    follower->blocks.digests.at = follower->digests;
    return true;
  case RD_RECORD_LEAVE:
    return leave(follower, error);
  case RD_RECORD_DATA:
    if (follower->file != NULL)
      rd_incoming_add(follower->file, record->data.offset, record->data.bytes, follower->reader);
    return true;
  case RD_RECORD_FILE_END:
    end_file(follower, &record->file_end);
    return true;
  case RD_RECORD_REMOVE:
    if (!open_target(follower, error)) return false;
    if (directory_at(follower) == NULL) return true;
    directory_at(follower)->is_changed = true;
    name = rd_memory_copy((const char *)record->entry.name.at, record->entry.name.count);
    return rd_removal_add(follower->later->removals, directory_at(follower), name, error);
  case RD_RECORD_FAILED:
    atomic_fetch_add(&follower->write->source_failures, 1);
    return true;
  default:
    return take_entry(follower, record, error);
  }
}

int rd_follower_directory(const struct rd_follower *follower) {
  const struct rd_directory *directory = directory_at(follower);
  return directory == NULL ? -1 : directory->fd;
}

void rd_follower_progress(struct rd_follower *follower) {
  int64_t now_ms = rd_now_ms();
  if (now_ms - follower->progress_ms < WAIT_MS) return;
  follower->progress_ms = now_ms;
  const struct rd_target_file *file = follower->file;
  const struct rd_directory *directory = file != NULL ? file->directory : directory_at(follower);
  RD_AUTO_FREE char *path = directory == NULL ? NULL : rd_directory_path(directory, file == NULL ? NULL : file->name);
  rd_write_progress(follower->write, path, false);
}

static bool take_entry(struct rd_follower *follower, const struct rd_record *record, struct rd_error *error) {
  if (!open_target(follower, error)) return false;
  while (!rd_batches_wait(follower->write->batches, false, WAIT_MS) && !rd_stop_signals_have_come())
    rd_follower_progress(follower);
  struct rd_entry entry = map_owner(follower, &record->entry);
  if (record->type == RD_RECORD_ENTER && follower->copier != NULL) rd_copier_enter(follower->copier, &entry);
  if (record->type == RD_RECORD_ENTER) return enter(follower, &entry, error);
  bool is_as = follower->place == RD_PLACE_AS && follower->depth == 0;
  RD_AUTO_FREE char *name = is_as ? rd_memory_copy(follower->as_name, strlen(follower->as_name))
                                  : rd_memory_copy((const char *)entry.name.at, entry.name.count);
  struct rd_directory *directory = directory_at(follower);
  if (directory != NULL && record->type == RD_RECORD_LINK) {
    if (!prepare_directory(follower, directory, name)) return true;
    return rd_links_add(follower->later->links, directory, name, &entry, error);
  }
  if (directory != NULL) begin_entry(follower, record, &entry, directory, name);
  rd_attributes_clear(&follower->attributes);
  return true;
}

static bool open_target(struct rd_follower *follower, struct rd_error *error) {
  struct rd_later *later = follower->later;
  if (later->top != NULL) return true;
  later->top = rd_write_target(follower->write, follower->place, &follower->as_name, error);
  if (later->top == NULL) return false;
  if (!rd_link_dests_open(follower->write->settings, follower->place, follower->write->link_dests, error)) return false;
  rd_batches_add_file_system(follower->write->batches, later->top);
  // A directory that holds one file of a copy may be any one, of another user too.
  if (follower->place == RD_PLACE_INTO) later->journal = rd_journal_open(follower->write, later->top->fd);
  return true;
}

static bool enter(struct rd_follower *follower, const struct rd_entry *entry, struct rd_error *error) {
  if (follower->place == RD_PLACE_AS) return damaged(error, "a directory where one file is expected");
  if (follower->frame_bytes > FRAME_BYTES_MAX) return damaged(error, "too many attributes of nested directories");
  if (follower->depth == follower->room) {
    follower->room = 2 * follower->room + 16;
    follower->frames = rd_memory_resize(follower->frames, follower->room, sizeof *follower->frames);
  }
  struct rd_directory *parent = directory_at(follower);
  struct frame *frame = &follower->frames[follower->depth];
  *frame = (struct frame){.want = entry->want, .attributes = follower->attributes};
  follower->attributes = (struct rd_attributes){0};
  follower->frame_bytes += frame->attributes.count;
  frame->wanted.metadata = entry->metadata;
  RD_AUTO_FREE char *name = rd_memory_copy((const char *)entry->name.at, entry->name.count);
  if (parent != NULL) open_frame(follower, parent, name, entry, frame);
  follower->depth++;
  return true;
}

static void open_frame(struct rd_follower *follower, struct rd_directory *parent, const char *name,
                       const struct rd_entry *entry, struct frame *frame) {
  struct rd_write *write = follower->write;
  struct stat now;
  bool is_new = parent->is_new, is_itself = *name == '\0';
  mode_t mode_before = 0;
  // The journal is there before anything is: scan knows the target by it where that is below the source.
  if (entry->want == RD_WANT_ALL && !is_itself && !prepare_directory(follower, parent, name)) return;
  int fd = is_itself ? fcntl(parent->fd, F_DUPFD_CLOEXEC, 0) : rd_directory_open(parent, name, &is_new, &mode_before);
  if (fd < 0) {
    int number = errno;
    RD_AUTO_FREE char *path = rd_directory_path(parent, name);
    rd_write_failed(write, parent->fd, path, number, "cannot create or open the directory: nothing in it was copied");
    return;
  }
  bool has_status = !is_new && fstat(fd, &now) == 0;
  if (is_itself && has_status) mode_before = now.st_mode & 07777;
  bool is_opened = has_status && (now.st_mode & 07777) != mode_before; // gets its mode back
  frame->directory = rd_directory_create(write, parent, name, fd, is_new);
  frame->directory->is_source = follower->depth == 0;
  frame->directory->source = entry->source;
  frame->directory->is_changed = is_new || is_opened;
  frame->wanted.plain_mode = is_new ? rd_plain_mode(write, &entry->metadata) : mode_before;
  frame->wanted.may_have_more = entry->want != RD_WANT_NOTHING && (!is_new || parent->has_default_acl);
  rd_batches_add_file_system(write->batches, frame->directory);
  if (is_new && !is_itself) parent->is_changed = true;
  if (is_new) rd_write_count(write, &(struct rd_tree_totals){.directories = 1});
  if (is_new || entry->want != RD_WANT_NOTHING) {
    rd_write_count(write, &(struct rd_tree_totals){.entries = 1});
    if (write->settings->paths) note(follower, frame->directory, entry);
  }
}

static bool leave(struct rd_follower *follower, struct rd_error *error) {
  struct frame *frame = &follower->frames[--follower->depth];
  struct rd_directory *directory = frame->directory;
  if (follower->copier != NULL) rd_copier_leave(follower->copier);
  bool is_kept = true;
  frame->wanted.attributes = &frame->attributes;
  // The journal comes and goes in the top directory.
  bool has_journal = directory != NULL && *directory->name == '\0' && rd_journal_is_begun(follower->later->journal);
  if (directory != NULL && (frame->want != RD_WANT_NOTHING || directory->is_changed || has_journal))
    is_kept = rd_directory_metadata_add(follower->later->directories, directory, &frame->wanted, error);
  rd_directory_release(directory);
  follower->frame_bytes -= frame->attributes.count;
  rd_attributes_clear(&frame->attributes);
  return is_kept;
}

// Of a file, symbolic link or special file.
static void begin_entry(struct rd_follower *follower, const struct rd_record *record, const struct rd_entry *entry,
                        struct rd_directory *directory, const char *name) {
  bool is_metadata = entry->want == RD_WANT_METADATA;
  if (!is_metadata && !prepare_directory(follower, directory, name)) return;
  struct rd_target_file *file = rd_target_file_create(follower->write, directory, name, entry, &follower->attributes);
  file->read = record->entry.metadata;
  bool is_compared = follower->write->settings->checksum && entry->has_digest;
  file->stays_at_source = is_metadata && record->type == RD_RECORD_FILE && !is_compared;
  if (is_metadata)
    rd_special_set_metadata(file);
  else if (entry->want == RD_WANT_LINK)
    rd_kept_entry_link(file, follower->write->link_dests[entry->link_dest]);
  else if (record->type == RD_RECORD_SYMLINK)
    rd_special_make_symlink(file, entry->target);
  else if (record->type == RD_RECORD_SPECIAL)
    rd_special_make(file, entry->device);
  else if (follower->copier != NULL)
    rd_copier_copy(follower->copier, entry, file);
  else
    follower->file = file;
  if (follower->file != NULL && entry->want == RD_WANT_RESUME) rd_incoming_resume(file, &follower->blocks);
}

// False: the journal cannot be written, which is reported.
static bool prepare_directory(struct rd_follower *follower, struct rd_directory *directory, const char *name) {
  struct rd_journal *journal = follower->later->journal;
  directory->is_changed = true;
  if (journal == NULL || rd_journal_begin(journal)) return true;
  int number = errno;
  RD_AUTO_FREE char *path = rd_directory_path(directory, name);
  rd_write_failed(follower->write, directory->fd, path, number,
                  "cannot create .rdcp, the mark of a running copy, in the target directory");
  return false;
}

static void end_file(struct rd_follower *follower, const struct rd_file_end *end) {
  struct rd_target_file *file = follower->file;
  if (end->state == RD_FILE_DROPPED) atomic_fetch_add(&follower->write->source_failures, 1);
  if (end->state != RD_FILE_AGAIN) follower->file = NULL;
  if (file == NULL) return;
  if (end->state == RD_FILE_AGAIN)
    rd_incoming_restart(file);
  else if (end->state == RD_FILE_DROPPED)
    rd_incoming_drop(file);
  else
    rd_incoming_end(file, end);
}

static struct rd_directory *directory_at(const struct rd_follower *follower) {
  return follower->depth == 0 ? follower->later->top : follower->frames[follower->depth - 1].directory;
}

static struct rd_entry map_owner(const struct rd_follower *follower, const struct rd_entry *entry) {
  struct rd_entry mapped = *entry;
  mapped.metadata.uid = rd_owner_map_user(follower->write->owners, entry->metadata.uid);
  mapped.metadata.gid = rd_owner_map_group(follower->write->owners, entry->metadata.gid);
  return mapped;
}

// A directory, to be reported when it is permanent.
static void note(struct rd_follower *follower, struct rd_directory *directory, const struct rd_entry *entry) {
  struct rd_attributes none = {0};
  struct rd_target_file *file = rd_target_file_create(follower->write, directory, "", entry, &none);
  file->kind = RD_KIND_NOTE;
  file->action = directory->is_new ? RD_ACTION_NEW : RD_ACTION_METADATA;
  file->size = 0;
  follower->write->add(follower->write->batches, file);
}

static bool damaged(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: %s", reason);
  return false;
}
