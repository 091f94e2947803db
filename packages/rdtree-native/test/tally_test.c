// SPDX-License-Identifier: Apache-2.0
// The tally of decisions: each record that is left out, changed or moved gives another digest.
#include "stream/tally.h"

#include "test.h"

#include <string.h>

static struct rd_record made(enum rd_record_type type, const char *name, enum rd_want want) {
  return (struct rd_record){.type = type, .entry = {.name = rd_bytes_of(name), .want = want}};
}

// A letter a record: d, f and l the entries `d`, `f` and the link `l`; m the metadata of `f`, r the rest of it, y and z
// a hard link to that of the first or second directory; n the directory `d` that is the same; R a removal, L a LEAVE.
// The digest leaves out b (blocks), x (an attribute) and D (a file that is dropped).
static struct rd_record parse(char letter) {
  struct rd_record link = made(RD_RECORD_LINK, "l", RD_WANT_ALL);
  switch (letter) {
  case 'd':
    return made(RD_RECORD_ENTER, "d", RD_WANT_ALL);
  case 'n':
    return made(RD_RECORD_ENTER, "d", RD_WANT_NOTHING);
  case 'f':
    return made(RD_RECORD_FILE, "f", RD_WANT_ALL);
  case 'm':
    return made(RD_RECORD_FILE, "f", RD_WANT_METADATA);
  case 'y':
  case 'z':
    link = made(RD_RECORD_FILE, "f", RD_WANT_LINK);
    link.entry.link_dest = letter == 'z';
    return link;
  case 'r':
    return made(RD_RECORD_FILE, "f", RD_WANT_RESUME);
  case 'l':
  case 'k':
    link.entry.target = rd_bytes_of(letter == 'l' ? "f" : "ff");
    return link;
  case 'R':
    return made(RD_RECORD_REMOVE, "f", RD_WANT_ALL);
  case 'L':
    return (struct rd_record){.type = RD_RECORD_LEAVE};
  case 'b':
    return (struct rd_record){.type = RD_RECORD_BLOCKS};
  case 'x':
    return (struct rd_record){.type = RD_RECORD_XATTR};
  default:
    return (struct rd_record){.type = RD_RECORD_FILE_END, .file_end = {.state = RD_FILE_DROPPED}};
  }
}

static unsigned char key[RD_SIPHASH_KEY_BYTES];

static uint64_t digest_of(const char *records, unsigned char digest[RD_DIGEST_TREE_BYTES]) {
  struct rd_tally *tally = rd_tally_create(key);
  for (; *records != '\0'; records++) {
    struct rd_record record = parse(*records);
    rd_tally_add(tally, &record);
  }
  rd_tally_digest(tally, digest);
  uint64_t dropped = rd_tally_dropped(tally);
  rd_tally_destroy(tally);
  return dropped;
}

int main(void) {
  static const struct {
    const char *one, *other;
    bool are_same;
  } pairs[] = {
      {"", "", true},      {"dfL", "dfL", true}, {"dfL", "dfDL", true},  {"dfL", "drL", true},  {"dbrL", "drL", true},
      {"xf", "f", true},   {"dfL", "dL", false}, {"dfL", "d", false},    {"dfL", "dmL", false}, {"dfL", "dLf", false},
      {"df", "nf", false}, {"f", "R", false},    {"dfRL", "dfL", false}, {"fl", "fk", false},   {"fl", "lf", false},
      {"f", "ff", false},  {"f", "y", false},    {"y", "m", false},      {"y", "z", false},
  };
  unsigned char one[RD_DIGEST_TREE_BYTES], other[RD_DIGEST_TREE_BYTES];
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    (void)digest_of(pairs[i].one, one);
    (void)digest_of(pairs[i].other, other);
    if (!CHECK((memcmp(one, other, sizeof one) == 0) == pairs[i].are_same))
      fprintf(stderr, "%s %s\n", pairs[i].one, pairs[i].other);
  }
  (void)digest_of("df", one);
  key[sizeof key - 1] = 1;
  (void)digest_of("df", other);
  CHECK(memcmp(one, other, sizeof one) != 0);
  CHECK(digest_of("dfDfDL", one) == 2 && digest_of("dfL", one) == 0);
  rd_tally_destroy(NULL);
  return test_end("tally");
}
