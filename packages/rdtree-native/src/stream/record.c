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

enum field_kind {
  NO_FIELD,
  U32, // also enums
  U64,
  FLAG,
  METADATA,
  DIGEST,
  FILE_DIGEST, // of an entry: a flag, and the digest if there is one
  WANT,        // of an entry, with the number of its directory of --link-dest
  SIZED,       // bytes after their count
  REST,        // bytes up to the end
};

struct field {
  enum field_kind kind;
  size_t at; // in struct rd_record
};

#define FIELD(kind, member)                                                                                            \
  { kind, offsetof(struct rd_record, member) }
#define ENTRY                                                                                                          \
  FIELD(SIZED, entry.name), FIELD(METADATA, entry.metadata), FIELD(U32, entry.source), FIELD(WANT, entry.want)

// The fields of each type, in their order in the stream.
static const struct field fields[][8] = {
    [RD_RECORD_HEAD] = {FIELD(U32, head.version), FIELD(U32, head.phase)},
    [RD_RECORD_OWNER] = {FIELD(FLAG, owner.is_group), FIELD(U32, owner.id), FIELD(REST, owner.name)},
    [RD_RECORD_PLACE] = {FIELD(U32, place)},
    [RD_RECORD_ENTER] = {ENTRY, FIELD(REST, entry.target)}, // which is empty
    [RD_RECORD_LEAVE] = {FIELD(FLAG, leave.is_whole)},
    [RD_RECORD_FILE] = {ENTRY, FIELD(U64, entry.size), FIELD(FILE_DIGEST, entry.digest)},
    [RD_RECORD_SYMLINK] = {ENTRY, FIELD(REST, entry.target)},
    [RD_RECORD_SPECIAL] = {ENTRY, FIELD(U64, entry.device)},
    [RD_RECORD_LINK] = {ENTRY, FIELD(U64, entry.size), FIELD(REST, entry.target)},
    [RD_RECORD_XATTR] = {FIELD(SIZED, xattr.name), FIELD(REST, xattr.value)},
    [RD_RECORD_BLOCKS] = {FIELD(U64, blocks.block_bytes), FIELD(U64, blocks.bytes), FIELD(REST, blocks.digests)},
    [RD_RECORD_DATA] = {FIELD(U64, data.offset), FIELD(REST, data.bytes)},
    [RD_RECORD_FILE_END] = {FIELD(U32, file_end.state), FIELD(U64, file_end.size), FIELD(DIGEST, file_end.digest),
                            FIELD(METADATA, file_end.metadata)},
    [RD_RECORD_REMOVE] = {FIELD(REST, entry.name)},
    [RD_RECORD_FAILED] = {FIELD(REST, entry.name)},
    [RD_RECORD_DONE] = {FIELD(U32, done.source), FIELD(METADATA, done.metadata), FIELD(U64, done.size),
                        FIELD(REST, done.path)},
    [RD_RECORD_END] = {FIELD(U64, end.entries), FIELD(U64, end.bytes), FIELD(U64, end.failures)},
    [RD_RECORD_SKIP] = {FIELD(U64, skip)},
    [RD_RECORD_WANTS] = {FIELD(REST, wants)},
    [RD_RECORD_PAD] = {FIELD(REST, pad)},
};

static void encode_field(const struct rd_record *record, const struct field *field, struct cursor *to);
static bool decode_field(struct rd_record *record, const struct field *field, struct cursor *from);
static bool decode_flag(bool *flag, struct cursor *from);
static void decode_want(struct rd_record *record, struct cursor *from);
static bool is_valid(const struct rd_record *record);
static bool is_valid_entry(const struct rd_record *record);
static bool are_blocks(const struct rd_blocks *blocks);
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
  size_t bound = RD_RECORD_HEAD_BYTES + 128;
  for (const struct field *field = fields[record->type]; field->kind != NO_FIELD; field++)
    if (field->kind == SIZED || field->kind == REST)
      bound += ((const struct rd_bytes *)(const void *)((const char *)record + field->at))->count;
  return bound;
}

size_t rd_record_encode(const struct rd_record *record, unsigned char *out) {
  struct cursor to = {.out = out + RD_RECORD_HEAD_BYTES};
  for (const struct field *field = fields[record->type]; field->kind != NO_FIELD; field++)
    encode_field(record, field, &to);
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
  if (type < RD_RECORD_HEAD || type > RD_RECORD_PAD) return damaged(error, "a record of an unknown type");
  *record = (struct rd_record){.type = (enum rd_record_type)type};
  struct cursor from = {.in = encoded + RD_RECORD_HEAD_BYTES, .left = payload};
  bool is_right = true;
  for (const struct field *field = fields[type]; field->kind != NO_FIELD && is_right; field++)
    is_right = decode_field(record, field, &from);
  return (is_right && is_valid(record) && !from.is_short && from.left == 0) ||
         damaged(error, "a record has an invalid field");
}

bool rd_record_decode_data(const unsigned char head[RD_RECORD_DATA_HEAD_BYTES], const unsigned char *bytes,
                           size_t count, struct rd_record *record, struct rd_error *error) {
  size_t payload;
  if (!rd_record_payload_bytes(head, &payload, error)) return false;
  *record = (struct rd_record){.type = (enum rd_record_type)rd_get_u32(head + 4)};
  record->data.offset = rd_get_u64(head + RD_RECORD_HEAD_BYTES);
  record->data.bytes = (struct rd_bytes){bytes, count};
  bool is_data = record->type == RD_RECORD_DATA && payload == RD_RECORD_DATA_HEAD_BYTES - RD_RECORD_HEAD_BYTES + count;
  return (is_data && is_valid(record)) || damaged(error, "a record has an invalid field");
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

static void encode_field(const struct rd_record *record, const struct field *field, struct cursor *to) {
  const struct rd_entry *entry = &record->entry;
  const void *at = (const char *)record + field->at;
  switch (field->kind) {
  case NO_FIELD:
    break;
  case U32:
    put(to, *(const uint32_t *)at, 4);
    break;
  case U64:
    put(to, *(const uint64_t *)at, 8);
    break;
  case FLAG:
    put(to, *(const bool *)at, 4);
    break;
  case METADATA:
    put_metadata(to, at);
    break;
  case FILE_DIGEST:
    put(to, entry->has_digest, 4);
    if (!entry->has_digest) break;
    // fall through
  case DIGEST:
    put_bytes(to, (struct rd_bytes){at, RD_DIGEST_TREE_BYTES});
    break;
  case WANT:
    put(to, entry->want + (entry->want == RD_WANT_LINK ? entry->link_dest : 0), 4);
    break;
  case SIZED:
    put_sized(to, *(const struct rd_bytes *)at);
    break;
  case REST:
    put_bytes(to, *(const struct rd_bytes *)at);
    break;
  }
}

// Returns false if a flag is neither 0 nor 1.
static bool decode_field(struct rd_record *record, const struct field *field, struct cursor *from) {
  void *at = (char *)record + field->at;
  switch (field->kind) {
  case NO_FIELD:
    break;
  case U32:
    *(uint32_t *)at = (uint32_t)get(from, 4);
    break;
  case U64:
    *(uint64_t *)at = get(from, 8);
    break;
  case FLAG:
    return decode_flag(at, from);
  case METADATA:
    *(struct rd_metadata *)at = get_metadata(from);
    break;
  case FILE_DIGEST:
    if (!decode_flag(&record->entry.has_digest, from)) return false;
    if (record->entry.has_digest) get_digest(from, at);
    break;
  case DIGEST:
    get_digest(from, at);
    break;
  case WANT:
    decode_want(record, from);
    break;
  case SIZED:
    *(struct rd_bytes *)at = get_sized(from);
    break;
  case REST:
    *(struct rd_bytes *)at = get_rest(from);
    break;
  }
  return true;
}

static bool decode_flag(bool *flag, struct cursor *from) {
  uint64_t value = get(from, 4);
  *flag = value != 0;
  return value <= 1;
}

static void decode_want(struct rd_record *record, struct cursor *from) {
  uint32_t want = (uint32_t)get(from, 4);
  bool is_link = want >= RD_WANT_LINK && record->type != RD_RECORD_ENTER && record->type != RD_RECORD_LINK;
  record->entry.want = is_link ? RD_WANT_LINK : (enum rd_want)want;
  record->entry.link_dest = is_link ? want - RD_WANT_LINK : 0;
}

static bool is_valid(const struct rd_record *record) {
  switch (record->type) {
  case RD_RECORD_HEAD:
    return record->head.phase >= RD_STREAM_ENTRIES && record->head.phase <= RD_STREAM_SHARE;
  case RD_RECORD_OWNER:
    return is_owner_name(record->owner.name);
  case RD_RECORD_PLACE:
    return record->place <= RD_PLACE_AS;
  case RD_RECORD_ENTER:
  case RD_RECORD_FILE:
  case RD_RECORD_SYMLINK:
  case RD_RECORD_SPECIAL:
  case RD_RECORD_LINK:
    return is_valid_entry(record);
  case RD_RECORD_XATTR:
    return record->xattr.name.count >= 1 && record->xattr.name.count <= RD_NAME_MAX_BYTES &&
           memchr(record->xattr.name.at, '\0', record->xattr.name.count) == NULL &&
           record->xattr.value.count <= XATTR_VALUE_MAX_BYTES;
  case RD_RECORD_BLOCKS:
    return are_blocks(&record->blocks);
  case RD_RECORD_DATA:
    return record->data.bytes.count >= 1 && record->data.bytes.count <= RD_RECORD_DATA_MAX_BYTES &&
           record->data.offset <= INT64_MAX - RD_RECORD_DATA_MAX_BYTES;
  case RD_RECORD_FILE_END:
    return record->file_end.state <= RD_FILE_DROPPED && record->file_end.size <= INT64_MAX &&
           is_metadata(&record->file_end.metadata);
  case RD_RECORD_REMOVE:
  case RD_RECORD_FAILED:
    return rd_name_is_valid(record->entry.name);
  case RD_RECORD_DONE:
    return (record->done.path.count == 0 || rd_path_is_valid(record->done.path)) && record->done.size <= INT64_MAX &&
           is_metadata(&record->done.metadata);
  case RD_RECORD_SKIP:
    return record->skip >= 1 && record->skip <= INT64_MAX;
  case RD_RECORD_WANTS:
    return are_wants(record->wants);
  case RD_RECORD_PAD:
    return record->pad.count < 2 * RD_RECORD_ALIGN_BYTES;
  case RD_RECORD_LEAVE:
  case RD_RECORD_END:
    break;
  }
  return true;
}

static bool is_valid_entry(const struct rd_record *record) {
  const struct rd_entry *entry = &record->entry;
  bool is_symlink = record->type == RD_RECORD_SYMLINK, is_enter = record->type == RD_RECORD_ENTER;
  if (is_enter && entry->target.count > 0) return false;
  if (record->type == RD_RECORD_LINK && !rd_path_is_valid(entry->target)) return false;
  if (is_symlink && (entry->target.count < 1 || entry->target.count > SYMLINK_MAX_BYTES ||
                     memchr(entry->target.at, '\0', entry->target.count) != NULL))
    return false;
  bool has_name = rd_name_is_valid(entry->name) || (is_enter && entry->name.count == 0);
  enum rd_want most = is_enter || record->type == RD_RECORD_LINK ? RD_WANT_RESUME : RD_WANT_LINK;
  return has_name && fits_type(record->type, entry->metadata.mode) && is_metadata(&entry->metadata) &&
         entry->want <= most && entry->link_dest < RD_LINK_DESTS_MAX && entry->size <= INT64_MAX;
}

static bool are_blocks(const struct rd_blocks *blocks) {
  if (blocks->block_bytes < BLOCK_MIN_BYTES || blocks->block_bytes > BLOCK_MAX_BYTES || blocks->bytes > INT64_MAX)
    return false;
  uint64_t count = blocks->bytes / blocks->block_bytes;
  return count <= RD_BLOCKS_MAX && blocks->bytes % blocks->block_bytes == 0 &&
         blocks->digests.count == count * RD_DIGEST_TREE_BYTES;
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
