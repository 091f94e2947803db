// SPDX-License-Identifier: Apache-2.0
#include "stream/record.h"

#include "base/bytes.h"

#include <string.h>
#include <sys/stat.h>

#define XATTR_VALUE_MAX_BYTES (64u << 10)
#define XATTR_HEAD_BYTES 16u
#define BLOCK_MIN_BYTES (64u << 10)
#define BLOCK_MAX_BYTES (1u << 30)
#define SYMLINK_MAX_BYTES 4095u

// The rest of what is decoded or encoded.
struct cursor {
  const unsigned char *in;
  unsigned char *out;
  size_t left; // of `in`
  bool is_short;
};

static void encode_payload(const struct rd_record *record, struct cursor *to);
static void encode_entry(const struct rd_record *record, struct cursor *to);
static bool decode_payload(struct rd_record *record, struct cursor *from);
static bool decode_entry(struct rd_record *record, struct cursor *from);
static bool decode_blocks(struct rd_blocks *blocks, struct cursor *from);
static bool decode_file_end(struct rd_file_end *end, struct cursor *from);
static bool are_wants(struct rd_bytes wants);
static bool is_metadata(const struct rd_metadata *metadata);
static bool fits_type(enum rd_record_type type, uint32_t mode);
static bool is_owner_name(struct rd_bytes name);
static void put(struct cursor *to, uint64_t value, size_t bytes);
static void put_bytes(struct cursor *to, struct rd_bytes bytes);
static void put_sized(struct cursor *to, struct rd_bytes bytes);
static void put_metadata(struct cursor *to, const struct rd_metadata *metadata);
static uint64_t get(struct cursor *from, size_t bytes);
static struct rd_bytes get_bytes(struct cursor *from, size_t count);
static struct rd_bytes get_sized(struct cursor *from);
static struct rd_bytes get_rest(struct cursor *from);
static void get_digest(struct cursor *from, unsigned char digest[RD_DIGEST_TREE_BYTES]);
static struct rd_metadata get_metadata(struct cursor *from);
static bool damaged(struct rd_error *error, const char *reason);

size_t rd_record_bound(const struct rd_record *record) {
  size_t fixed = RD_RECORD_HEAD_BYTES + 128;
  switch (record->type) {
  case RD_RECORD_OWNER:
    return fixed + record->owner.name.count;
  case RD_RECORD_XATTR:
    return fixed + record->xattr.name.count + record->xattr.value.count;
  case RD_RECORD_BLOCKS:
    return fixed + record->blocks.digests.count;
  case RD_RECORD_DATA:
    return fixed + record->data.bytes.count;
  case RD_RECORD_DONE:
    return fixed + record->done.path.count;
  case RD_RECORD_WANTS:
    return fixed + record->wants.count;
  case RD_RECORD_REMOVE:
  case RD_RECORD_FAILED:
    return fixed + record->entry.name.count;
  default:
    return fixed + (rd_record_is_entry(record->type) ? record->entry.name.count + record->entry.target.count : 0);
  }
}

size_t rd_record_encode(const struct rd_record *record, unsigned char *out) {
  struct cursor to = {.out = out + RD_RECORD_HEAD_BYTES};
  encode_payload(record, &to);
  size_t bytes = (size_t)(to.out - out);
  rd_put_u32(out, (uint32_t)(bytes - RD_RECORD_HEAD_BYTES));
  rd_put_u32(out + 4, (uint32_t)record->type);
  return bytes;
}

bool rd_record_payload_bytes(const unsigned char head[RD_RECORD_HEAD_BYTES], size_t *bytes, struct rd_error *error) {
  *bytes = rd_get_u32(head);
  return *bytes <= RD_RECORD_MAX_BYTES || damaged(error, "a record is too long");
}

bool rd_record_decode(const unsigned char *encoded, size_t bytes, struct rd_record *record, struct rd_error *error) {
  size_t payload;
  if (bytes < RD_RECORD_HEAD_BYTES) return damaged(error, "a record is too short");
  if (!rd_record_payload_bytes(encoded, &payload, error)) return false;
  if (payload != bytes - RD_RECORD_HEAD_BYTES) return damaged(error, "a record does not have the length that it gives");
  uint32_t type = rd_get_u32(encoded + 4);
  if (type < RD_RECORD_HEAD || type > RD_RECORD_WANTS) return damaged(error, "a record of an unknown type");
  *record = (struct rd_record){.type = (enum rd_record_type)type};
  struct cursor from = {.in = encoded + RD_RECORD_HEAD_BYTES, .left = payload};
  bool is_right = decode_payload(record, &from);
  return (is_right && !from.is_short && from.left == 0) || damaged(error, "a record has an invalid field");
}

bool rd_name_is_valid(struct rd_bytes name) {
  if (name.count < 1 || name.count > RD_NAME_MAX_BYTES) return false;
  if (name.at[0] == '.' && (name.count == 1 || (name.count == 2 && name.at[1] == '.'))) return false;
  return memchr(name.at, '/', name.count) == NULL && memchr(name.at, '\0', name.count) == NULL;
}

bool rd_path_is_valid(struct rd_bytes path) {
  if (path.count > RD_PATH_MAX_BYTES) return false;
  while (path.count > 0) {
    const unsigned char *slash = memchr(path.at, '/', path.count);
    struct rd_bytes name = {path.at, slash == NULL ? path.count : (size_t)(slash - path.at)};
    if (!rd_name_is_valid(name)) return false;
    if (slash == NULL) return true;
    path = (struct rd_bytes){slash + 1, path.count - name.count - 1};
  }
  return false;
}

struct rd_bytes rd_bytes_of(const char *text) {
  return (struct rd_bytes){(const unsigned char *)text, strlen(text)};
}

size_t rd_xattr_bytes(const struct rd_xattr *xattr) {
  return XATTR_HEAD_BYTES + xattr->name.count + xattr->value.count;
}

bool rd_record_is_entry(enum rd_record_type type) {
  return type == RD_RECORD_ENTER || (type >= RD_RECORD_FILE && type <= RD_RECORD_LINK);
}

static void encode_payload(const struct rd_record *record, struct cursor *to) {
  switch (record->type) {
  case RD_RECORD_HEAD:
    put(to, record->head.version, 4);
    put(to, record->head.phase, 4);
    break;
  case RD_RECORD_OWNER:
    put(to, record->owner.is_group, 4);
    put(to, record->owner.id, 4);
    put_bytes(to, record->owner.name);
    break;
  case RD_RECORD_PLACE:
    put(to, record->place, 4);
    break;
  case RD_RECORD_ENTER:
  case RD_RECORD_FILE:
  case RD_RECORD_SYMLINK:
  case RD_RECORD_SPECIAL:
  case RD_RECORD_LINK:
    encode_entry(record, to);
    break;
  case RD_RECORD_LEAVE:
    put(to, record->leave.is_whole, 4);
    break;
  case RD_RECORD_XATTR:
    put_sized(to, record->xattr.name);
    put_bytes(to, record->xattr.value);
    break;
  case RD_RECORD_BLOCKS:
    put(to, record->blocks.block_bytes, 8);
    put(to, record->blocks.bytes, 8);
    put_bytes(to, record->blocks.digests);
    break;
  case RD_RECORD_DATA:
    put(to, record->data.offset, 8);
    put_bytes(to, record->data.bytes);
    break;
  case RD_RECORD_FILE_END:
    put(to, record->file_end.state, 4);
    put(to, record->file_end.size, 8);
    put_bytes(to, (struct rd_bytes){record->file_end.digest, RD_DIGEST_TREE_BYTES});
    put_metadata(to, &record->file_end.metadata);
    break;
  case RD_RECORD_REMOVE:
  case RD_RECORD_FAILED:
    put_bytes(to, record->entry.name);
    break;
  case RD_RECORD_DONE:
    put(to, record->done.source, 4);
    put_metadata(to, &record->done.metadata);
    put(to, record->done.size, 8);
    put_bytes(to, record->done.path);
    break;
  case RD_RECORD_END:
    put(to, record->end.entries, 8);
    put(to, record->end.bytes, 8);
    put(to, record->end.failures, 8);
    break;
  case RD_RECORD_SKIP:
    put(to, record->skip, 8);
    break;
  case RD_RECORD_WANTS:
    put_bytes(to, record->wants);
    break;
  }
}

static void encode_entry(const struct rd_record *record, struct cursor *to) {
  const struct rd_entry *entry = &record->entry;
  put_sized(to, entry->name);
  put_metadata(to, &entry->metadata);
  put(to, entry->source, 4);
  put(to, entry->want, 4);
  switch (record->type) {
  case RD_RECORD_FILE:
    put(to, entry->size, 8);
    put(to, entry->has_digest, 4);
    if (entry->has_digest) put_bytes(to, (struct rd_bytes){entry->digest, RD_DIGEST_TREE_BYTES});
    break;
  case RD_RECORD_SPECIAL:
    put(to, entry->device, 8);
    break;
  case RD_RECORD_LINK:
    put(to, entry->size, 8);
    put_bytes(to, entry->target);
    break;
  default:
    put_bytes(to, entry->target); // of a directory: none
    break;
  }
}

static bool decode_payload(struct rd_record *record, struct cursor *from) {
  uint64_t value;
  switch (record->type) {
  case RD_RECORD_HEAD:
    record->head.version = (uint32_t)get(from, 4);
    record->head.phase = (enum rd_stream_phase)get(from, 4);
    return record->head.phase >= RD_STREAM_ENTRIES && record->head.phase <= RD_STREAM_SHARE;
  case RD_RECORD_OWNER:
    value = get(from, 4);
    record->owner.is_group = value != 0;
    record->owner.id = (uint32_t)get(from, 4);
    record->owner.name = get_rest(from);
    return value <= 1 && is_owner_name(record->owner.name);
  case RD_RECORD_PLACE:
    record->place = (enum rd_target_mode)get(from, 4);
    return record->place <= RD_PLACE_AS;
  case RD_RECORD_ENTER:
  case RD_RECORD_FILE:
  case RD_RECORD_SYMLINK:
  case RD_RECORD_SPECIAL:
  case RD_RECORD_LINK:
    return decode_entry(record, from);
  case RD_RECORD_LEAVE:
    value = get(from, 4);
    record->leave.is_whole = value != 0;
    return value <= 1;
  case RD_RECORD_XATTR:
    record->xattr.name = get_sized(from);
    record->xattr.value = get_rest(from);
    return record->xattr.name.count >= 1 && record->xattr.name.count <= RD_NAME_MAX_BYTES &&
           memchr(record->xattr.name.at, '\0', record->xattr.name.count) == NULL &&
           record->xattr.value.count <= XATTR_VALUE_MAX_BYTES;
  case RD_RECORD_BLOCKS:
    return decode_blocks(&record->blocks, from);
  case RD_RECORD_DATA:
    record->data.offset = get(from, 8);
    record->data.bytes = get_rest(from);
    return record->data.bytes.count >= 1 && record->data.bytes.count <= RD_RECORD_DATA_MAX_BYTES &&
           record->data.offset <= INT64_MAX - RD_RECORD_DATA_MAX_BYTES;
  case RD_RECORD_FILE_END:
    return decode_file_end(&record->file_end, from);
  case RD_RECORD_REMOVE:
  case RD_RECORD_FAILED:
    record->entry.name = get_rest(from);
    return rd_name_is_valid(record->entry.name);
  case RD_RECORD_DONE:
    record->done.source = (uint32_t)get(from, 4);
    record->done.metadata = get_metadata(from);
    record->done.size = get(from, 8);
    record->done.path = get_rest(from);
    return (record->done.path.count == 0 || rd_path_is_valid(record->done.path)) && record->done.size <= INT64_MAX &&
           is_metadata(&record->done.metadata);
  case RD_RECORD_END:
    record->end.entries = get(from, 8);
    record->end.bytes = get(from, 8);
    record->end.failures = get(from, 8);
    return true;
  case RD_RECORD_SKIP:
    record->skip = get(from, 8);
    return record->skip >= 1 && record->skip <= INT64_MAX;
  case RD_RECORD_WANTS:
    record->wants = get_rest(from);
    return are_wants(record->wants);
  }
  return false;
}

static bool decode_entry(struct rd_record *record, struct cursor *from) {
  struct rd_entry *entry = &record->entry;
  uint64_t has_digest = 0;
  entry->name = get_sized(from);
  entry->metadata = get_metadata(from);
  entry->source = (uint32_t)get(from, 4);
  entry->want = (enum rd_want)get(from, 4);
  switch (record->type) {
  case RD_RECORD_FILE:
    entry->size = get(from, 8);
    has_digest = get(from, 4);
    entry->has_digest = has_digest != 0;
    if (entry->has_digest) get_digest(from, entry->digest);
    break;
  case RD_RECORD_SPECIAL:
    entry->device = get(from, 8);
    break;
  case RD_RECORD_LINK:
    entry->size = get(from, 8);
    entry->target = get_rest(from);
    if (!rd_path_is_valid(entry->target)) return false;
    break;
  case RD_RECORD_SYMLINK:
    entry->target = get_rest(from);
    if (entry->target.count < 1 || entry->target.count > SYMLINK_MAX_BYTES) return false;
    if (memchr(entry->target.at, '\0', entry->target.count) != NULL) return false;
    break;
  default:
    break;
  }
  bool has_name = rd_name_is_valid(entry->name) || (record->type == RD_RECORD_ENTER && entry->name.count == 0);
  return has_name && fits_type(record->type, entry->metadata.mode) && is_metadata(&entry->metadata) &&
         entry->want <= RD_WANT_RESUME && entry->size <= INT64_MAX && has_digest <= 1;
}

static bool decode_blocks(struct rd_blocks *blocks, struct cursor *from) {
  blocks->block_bytes = get(from, 8);
  blocks->bytes = get(from, 8);
  blocks->digests = get_rest(from);
  if (blocks->block_bytes < BLOCK_MIN_BYTES || blocks->block_bytes > BLOCK_MAX_BYTES || blocks->bytes > INT64_MAX)
    return false;
  uint64_t count = blocks->bytes / blocks->block_bytes;
  return count <= RD_BLOCKS_MAX && blocks->bytes % blocks->block_bytes == 0 &&
         blocks->digests.count == count * RD_DIGEST_TREE_BYTES;
}

static bool decode_file_end(struct rd_file_end *end, struct cursor *from) {
  end->state = (enum rd_file_state)get(from, 4);
  end->size = get(from, 8);
  get_digest(from, end->digest);
  end->metadata = get_metadata(from);
  return end->state <= RD_FILE_DROPPED && end->size <= INT64_MAX && is_metadata(&end->metadata);
}

static bool are_wants(struct rd_bytes wants) {
  for (size_t i = 0; i < wants.count; i++)
    if (wants.at[i] > RD_WANT_NOTHING) return false;
  return wants.count > 0;
}

static bool is_metadata(const struct rd_metadata *metadata) {
  return metadata->mode <= (S_IFMT | 07777) && metadata->mtime_ns < 1000000000;
}

static bool fits_type(enum rd_record_type type, uint32_t mode) {
  switch (type) {
  case RD_RECORD_ENTER:
    return S_ISDIR(mode);
  case RD_RECORD_SYMLINK:
    return S_ISLNK(mode);
  case RD_RECORD_SPECIAL:
    return S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode) || S_ISBLK(mode);
  case RD_RECORD_LINK:
    return fits_type(RD_RECORD_FILE, mode) || fits_type(RD_RECORD_SYMLINK, mode) || fits_type(RD_RECORD_SPECIAL, mode);
  default:
    return S_ISREG(mode);
  }
}

static bool is_owner_name(struct rd_bytes name) {
  return name.count >= 1 && name.count <= RD_NAME_MAX_BYTES && memchr(name.at, '\0', name.count) == NULL &&
         memchr(name.at, ':', name.count) == NULL && memchr(name.at, '\n', name.count) == NULL;
}

static void put(struct cursor *to, uint64_t value, size_t bytes) {
  unsigned char little[8];
  rd_put_u64(little, value);
  memcpy(to->out, little, bytes);
  to->out += bytes;
}

static void put_bytes(struct cursor *to, struct rd_bytes bytes) {
  if (bytes.count > 0) memcpy(to->out, bytes.at, bytes.count);
  to->out += bytes.count;
}

static void put_sized(struct cursor *to, struct rd_bytes bytes) {
  put(to, bytes.count, 2);
  put_bytes(to, bytes);
}

static void put_metadata(struct cursor *to, const struct rd_metadata *metadata) {
  put(to, metadata->mode, 4);
  put(to, metadata->uid, 4);
  put(to, metadata->gid, 4);
  put(to, metadata->mtime_ns, 4);
  put(to, (uint64_t)metadata->mtime_s, 8);
}

// 0, and `is_short`, where there are not so many bytes.
static uint64_t get(struct cursor *from, size_t bytes) {
  unsigned char little[8] = {0};
  struct rd_bytes taken = get_bytes(from, bytes);
  if (taken.count > 0) memcpy(little, taken.at, bytes);
  return rd_get_u64(little);
}

static struct rd_bytes get_bytes(struct cursor *from, size_t count) {
  if (count > from->left) {
    from->is_short = true;
    return (struct rd_bytes){0};
  }
  struct rd_bytes taken = {from->in, count};
  from->in += count;
  from->left -= count;
  return taken;
}

static struct rd_bytes get_sized(struct cursor *from) {
  return get_bytes(from, (size_t)get(from, 2));
}

static struct rd_bytes get_rest(struct cursor *from) {
  return get_bytes(from, from->left);
}

static void get_digest(struct cursor *from, unsigned char digest[RD_DIGEST_TREE_BYTES]) {
  struct rd_bytes taken = get_bytes(from, RD_DIGEST_TREE_BYTES);
  if (taken.count > 0) memcpy(digest, taken.at, RD_DIGEST_TREE_BYTES);
}

static struct rd_metadata get_metadata(struct cursor *from) {
  struct rd_metadata metadata = {.mode = (uint32_t)get(from, 4)};
  metadata.uid = (uint32_t)get(from, 4);
  metadata.gid = (uint32_t)get(from, 4);
  metadata.mtime_ns = (uint32_t)get(from, 4);
  metadata.mtime_s = (int64_t)get(from, 8);
  return metadata;
}

static bool damaged(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: %s", reason);
  return false;
}
