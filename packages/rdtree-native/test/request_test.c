// SPDX-License-Identifier: Apache-2.0
// The request of the user: streams of hostile and honest hosts, and records at random.
#include "pattern/request.h"

#include "base/cleanup.h"
#include "entry/source_path.h"
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 16

static struct rd_error error;
static int target_fd;

// Everything that an option is needed for.
enum { R = 1, A = 2, ACLS = 4, XATTRS = 8, DELETE = 16, ALONE = 32, LINK_DEST = 64 };

struct cell {
  enum rd_tree_role role;
  int options;
  const char *sources, *patterns, *target; // words
  const char *stream;                      // see add_record()
  const char *fault;                       // of the last record; NULL: all are accepted
};

static const struct cell cells[] = {
    // Names of depth 0.
    {RD_TREE_WRITE, R, "a b/c", "", "dir", "P f:a 1f:c", NULL},
    {RD_TREE_WRITE, R, "h/a/ b", "", "dir", "P d: f:x d:y f:z - - 1f:b", NULL},
    {RD_TREE_WRITE, R, "a", "", "dir", "P f:b", "not a source"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P f:.ssh", "not a source"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P d:", "not a source"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P s:b", "not a source"},
    {RD_TREE_WRITE, R | A, "a", "", "dir", "P c:b", "not a source"},
    {RD_TREE_WRITE, R | A, "a", "", "dir", "P f:a l:b>a", "not a source"},
    {RD_TREE_WRITE, R, "a b", "", "dir", "P f:a f:b", "not a source"},
    {RD_TREE_WRITE, R, "a b", "", "dir", "P 1f:a", "not a source"},
    {RD_TREE_WRITE, R, "a b", "", "dir", "P 2f:a", "not a source"},
    {RD_TREE_WRITE, R, "a/", "", "dir", "P f:a", "not a source"},
    {RD_TREE_WRITE, R, "a/. . ..", "", "dir", "P d: - 1d: - 2d: -", NULL},
    {RD_TREE_WRITE, R, "a", "", "dir", "f:a", "the target is not yet known"},
    {RD_TREE_WRITE, R, "~ ~/b", "", "dir", "P d:ann f:.x - 1f:b", NULL},
    {RD_TREE_WRITE, R, "~ ~", "", "dir", "P s:ann 1d:bob", "not a source"},
    {RD_TREE_WRITE, R, "~", "", "dir", "P d:.ssh", "not a source"},
    {RD_TREE_WRITE, R, "~", "", "dir", "P d:", "not a source"},
    {RD_TREE_WRITE, R, "~", "", "dir", "P f:ann", "not a source"},
    {RD_TREE_WRITE, R, "~/", "", "dir", "P d: f:.x -", NULL},
    {RD_TREE_COMPARE, R, "a", "", "dir", "f:b", "not a source"},
    {RD_TREE_COMPARE, R, "a", "", "dir", "d:a f:b -", NULL},
    {RD_TREE_READ, R, "a", "", "", "f:b", "not a source"},
    {RD_TREE_READ, R, "a", "", "", "A d:a r:x - r:y", NULL},
    {RD_TREE_WRITE, R | A | ALONE, "", "", "dir", "d: f:x - f:any x:user.x f:y o:ann", NULL},
    // Types.
    {RD_TREE_WRITE, 0, "a", "", "dir", "P d:a", "without -r"},
    {RD_TREE_READ, 0, "a", "", "", "d:a", "without -r"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P c:a", "without -a"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P d:a c:b", "without -a"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P d:a f:b l:c>a/b", "without -a"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P o:root", "without -a"},
    {RD_TREE_WRITE, R | A, "a", "", "dir", "P o:root d:a c:b s:x f:c l:d>a/c -", NULL},
    {RD_TREE_WRITE, R, "a", "", "dir", "P x:user.x", "without -A or -X"},
    {RD_TREE_WRITE, R | ACLS, "a", "", "dir", "P x:user.x", "without -A or -X"},
    {RD_TREE_WRITE, R | XATTRS, "a", "", "dir", "P x:system.posix_acl_access", "without -A or -X"},
    {RD_TREE_WRITE, R | XATTRS, "a", "", "dir", "P x:security.selinux", "without -A or -X"},
    {RD_TREE_WRITE, R | XATTRS | ACLS, "a", "", "dir", "P x:security.capability x:system.posix_acl_default f:a", NULL},
    // Patterns.
    {RD_TREE_WRITE, R, "a", "*.o /k/", "dir", "P d:a f:k d:b d:k f:x - - - ", NULL},
    {RD_TREE_WRITE, R, "a", "*.o /k/", "dir", "P d:a f:x.o", "excluded"},
    {RD_TREE_WRITE, R, "a", "*.o /k/", "dir", "P d:a d:b - s:x.o", "excluded"},
    {RD_TREE_WRITE, R, "a", "*.o /k/", "dir", "P d:a d:k", "excluded"},
    {RD_TREE_WRITE, R, "a/", "*.o /k/", "dir", "P d: d:k", "excluded"},
    {RD_TREE_WRITE, R, "a.o", "*.o", "dir", "P d:a.o f:b -", NULL},
    {RD_TREE_COMPARE, R, "a", "*.o", "dir", "d:a f:x.o", "excluded"},
    {RD_TREE_READ, R, "a", "*.o", "", "d:a f:x.o", "excluded"},
    {RD_TREE_WRITE, R | A, "a b/", "*.o /k/", "dir", "P d:a f:x l:y>a/x l:z>m - l:w>o", "not a source"},
    {RD_TREE_WRITE, R | A, "a", "*.o /k/", "dir", "P d:a l:y>a/k/x", "a link to"},
    {RD_TREE_WRITE, R | A, "a", "*.o /k/", "dir", "P d:a l:y>a/x.o", "a link to"},
    {RD_TREE_WRITE, R | A, "b/", "*.o /k/", "dir", "P d: l:y>k/x", "a link to"},
    // Links.
    {RD_TREE_WRITE, R | A, "a b", "", "dir", "P f:a 1d:b l:x>a l:y>b/x", NULL},
    {RD_TREE_WRITE, R | A, "a b", "", "dir", "P f:a 1d:b l:x>c", "a link to"},
    {RD_TREE_WRITE, R | A, "a", "", "dir", "P d:a l:x>.ssh/id", "a link to"},
    {RD_TREE_WRITE, R | A, "a", "", "dir", "P d:a l:x>aa/b", "a link to"},
    {RD_TREE_WRITE, R | A, "~", "", "dir", "P d:ann l:x>bob/y", "a link to"},
    {RD_TREE_WRITE, R | A, "~", "", "dir", "P d:ann l:x>ann/y", NULL},
    {RD_TREE_WRITE, R, "a", "", "dir", "P k:a", "without --link-dest"},
    {RD_TREE_WRITE, R | LINK_DEST, "a", "", "dir", "P k:a", NULL},
    {RD_TREE_READ, R, "a", "", "", "k:a", NULL},
    // Removals.
    {RD_TREE_WRITE, R, "a", "", "dir", "P d:a r:x", "without --delete"},
    {RD_TREE_WRITE, R | DELETE, "a", "", "dir", "P d:a d:b r:x - r:y -", NULL},
    {RD_TREE_WRITE, R | DELETE, "a", "", "dir", "r:x", "not in a copied directory"},
    {RD_TREE_WRITE, R | DELETE, "a", "", "dir", "P r:Documents", "not in a copied directory"},
    {RD_TREE_WRITE, R | DELETE, "a", "", "dir", "P d:a - r:x", "not in a copied directory"},
    {RD_TREE_WRITE, R | DELETE, "a b/", "", "dir", "P d:a - r:x", "not in a copied directory"},
    {RD_TREE_WRITE, R | DELETE, "a/", "", "dir", "P d: - r:x", NULL},
    {RD_TREE_WRITE, R | DELETE, "a/", "x keep/", "dir", "P d: - r:x", "excluded"},
    {RD_TREE_WRITE, R | DELETE, "a/", "x keep/", "dir", "P d: r:keep", "excluded"},
    {RD_TREE_WRITE, R | DELETE, "a/", "x file/", "dir", "P d: r:file", NULL},
    {RD_TREE_WRITE, R | DELETE, "a", "/b/x", "dir", "P d:a r:x d:b r:x", "excluded"},
    {RD_TREE_WRITE, R | DELETE, "a/", "", "dir", "P d: r:.rdcp", "a file of a running copy"},
    {RD_TREE_WRITE, R | DELETE, "a/", "", "dir", "P d: - r:.rdcp", "a file of a running copy"},
    {RD_TREE_WRITE, R | DELETE, "a/", "", "dir", "P d: d:b r:.rdcp r:.rdcp-1-2", "a file of a running copy"},
    {RD_TREE_WRITE, R | DELETE, "a", "", "dir", "P d:a r:.rdcp-0123456789abcdef0123456789abcdef r:.rdcp -", NULL},
    // The place.
    {RD_TREE_WRITE, 0, "a", "", "new", "A f:a", NULL},
    {RD_TREE_WRITE, 0, "a", "", "file", "A s:a", NULL},
    {RD_TREE_WRITE, 0, "a", "", "dir", "A", "it is a directory"},
    {RD_TREE_WRITE, 0, "a", "", "new/", "A", "it is a directory"},
    {RD_TREE_WRITE, 0, "a b", "", "new", "A", "it is a directory"},
    {RD_TREE_WRITE, 0, "a", "", "new", "P f:a", "the target is not a directory"},
    {RD_TREE_WRITE, 0, "a b", "", "new", "P 1f:b", NULL},
    {RD_TREE_WRITE, R, "a", "", "new", "P d:a f:x -", NULL},
    {RD_TREE_WRITE, R, "a", "", "new", "A d:a", "the target is one file"},
    {RD_TREE_WRITE, 0, "a", "", "new", "A f:a f:a", "the target is one file"},
    {RD_TREE_WRITE, R | A, "a", "", "new", "A l:a>sibling", "the target is one file"},
    {RD_TREE_WRITE, R | DELETE, "a", "", "new", "A r:sibling", "not in a copied directory"},
    {RD_TREE_WRITE, R | DELETE, "a", "", "new", "A f:a r:sibling", "not in a copied directory"},
    {RD_TREE_WRITE, 0, "a", "", "new", "P A", "too late"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P d:a - P", "too late"},
    {RD_TREE_COPY, 0, "a", "", "dir", "P f:b", "not a source"},
    // Sources of which nothing comes, and special files that are skipped.
    {RD_TREE_COMPARE, R, "a", "", "dir", "E", "nothing of a source that was asked for: \"a\""},
    {RD_TREE_COMPARE, R, "h/a b/", "", "dir", "f:a E", "nothing of a source that was asked for: \"b/\""},
    {RD_TREE_COMPARE, R, "a b c", "", "dir", "f:a f:a 2f:c 1E", NULL},
    {RD_TREE_COMPARE, R, "a b c", "", "dir", "d:a d:b f:c - - 1E", "nothing of a source that was asked for: \"b\""},
    {RD_TREE_COMPARE, R, "~ a/", "", "dir", "d:ann - E", "nothing of a source that was asked for: \"a/\""},
    {RD_TREE_COMPARE, R, "~", "", "dir", "E", "nothing of a source that was asked for: \"~\""},
    {RD_TREE_COMPARE, R, "a a", "", "dir", "d:a - 1d:a - E", NULL},
    {RD_TREE_COMPARE, 0, "a", "", "dir", "c:a E", NULL},
    {RD_TREE_COMPARE, 0, "a", "", "dir", "c:b", "not a source"},
    {RD_TREE_WRITE, R, "a", "", "dir", "P E", NULL},
};

static void begin(void) {
  static char directory[] = "/tmp/rdtree-request-XXXXXX";
  REQUIRE(mkdtemp(directory) != NULL && chdir(directory) == 0);
  REQUIRE(mkdir("dir", 0755) == 0 && mkdir("dir/keep", 0755) == 0);
  REQUIRE(close(creat("file", 0644)) == 0 && close(creat("dir/file", 0644)) == 0);
  target_fd = open("dir", O_PATH | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(target_fd >= 0);
}

static void end(void) {
  char directory[PATH_MAX];
  close(target_fd);
  REQUIRE(getcwd(directory, sizeof directory) != NULL);
  CHECK(unlink("dir/file") == 0 && rmdir("dir/keep") == 0 && rmdir("dir") == 0 && unlink("file") == 0);
  CHECK(rmdir(directory) == 0);
}

// Cuts the text. Returns the number of words.
static size_t split(char *text, char *words[WORDS_MAX]) {
  size_t count = 0;
  char *rest = text;
  for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count < WORDS_MAX;) words[count++] = word;
  return count;
}

static struct rd_record entry(enum rd_record_type type, uint32_t mode, const char *name) {
  return (struct rd_record){.type = type, .entry = {.name = rd_bytes_of(name), .metadata = {.mode = mode}}};
}

// `P` and `A`: the place, into and as; `-`: LEAVE; `E`: END, after a digit with as many failures; else a type, `:` and
// a name: d a directory, f a file, s a symbolic link, c a special file, l a hard link to the path after `>`,
// k a file of --link-dest, x an attribute, o an owner, r a removal. A digit before it is the number of the source.
// Of a name that is a path no entry can be.
static struct rd_record parse(char *word) {
  uint32_t source = *word >= '0' && *word <= '9' ? (uint32_t)(*word++ - '0') : 0;
  char type = *word, *name = type != '\0' && word[1] == ':' ? word + 2 : word + 1, *target = strchr(name, '>');
  if (target != NULL) *target++ = '\0';
  struct rd_record record = {0};
  switch (type) {
  case 'P':
    return (struct rd_record){.type = RD_RECORD_PLACE, .place = RD_PLACE_INTO};
  case 'A':
    return (struct rd_record){.type = RD_RECORD_PLACE, .place = RD_PLACE_AS};
  case '-':
    return (struct rd_record){.type = RD_RECORD_LEAVE, .leave = {true}};
  case 'E':
    return (struct rd_record){.type = RD_RECORD_END, .end = {.failures = source}};
  case 'd':
    record = entry(RD_RECORD_ENTER, S_IFDIR | 0755, name);
    break;
  case 'f':
    record = entry(RD_RECORD_FILE, S_IFREG | 0644, name);
    break;
  case 'k':
    record = entry(RD_RECORD_FILE, S_IFREG | 0644, name);
    record.entry.want = RD_WANT_LINK;
    break;
  case 's':
    record = entry(RD_RECORD_SYMLINK, S_IFLNK | 0777, name);
    break;
  case 'c':
    record = entry(RD_RECORD_SPECIAL, S_IFCHR | 0600, name);
    break;
  case 'l':
    record = entry(RD_RECORD_LINK, S_IFREG | 0644, name);
    record.entry.target = rd_bytes_of(target);
    break;
  case 'x':
    return (struct rd_record){.type = RD_RECORD_XATTR, .xattr = {.name = rd_bytes_of(name)}};
  case 'o':
    return (struct rd_record){.type = RD_RECORD_OWNER, .owner = {.name = rd_bytes_of(name)}};
  default:
    return (struct rd_record){.type = RD_RECORD_REMOVE, .entry = {.name = rd_bytes_of(name)}};
  }
  record.entry.source = source;
  return record;
}

static struct rd_tree_settings settings_of(enum rd_tree_role role, int options) {
  return (struct rd_tree_settings){.role = role,
                                   .recursive = options & R,
                                   .archive = options & A,
                                   .acls = options & ACLS,
                                   .xattrs = options & XATTRS,
                                   .remove = options & DELETE,
                                   .link_dest_count = options & LINK_DEST ? 1 : 0,
                                   .alone = options & ALONE};
}

static void check_cell(const struct cell *cell) {
  char sources[128], patterns[128], stream[256], target[32];
  char *source_words[WORDS_MAX], *pattern_words[WORDS_MAX], *words[WORDS_MAX];
  struct rd_tree_pattern list[WORDS_MAX];
  struct rd_tree_settings settings = settings_of(cell->role, cell->options);
  snprintf(sources, sizeof sources, "%s", cell->sources);
  snprintf(patterns, sizeof patterns, "%s", cell->patterns);
  snprintf(stream, sizeof stream, "%s", cell->stream);
  snprintf(target, sizeof target, "%s", cell->target);
  settings.sources = source_words;
  settings.source_count = split(sources, source_words);
  settings.target = *target == '\0' ? NULL : target;
  settings.patterns = list;
  settings.pattern_count = split(patterns, pattern_words);
  for (size_t i = 0; i < settings.pattern_count; i++) list[i] = (struct rd_tree_pattern){false, pattern_words[i]};
  struct rd_request *request = rd_request_create(&settings, &error);
  REQUIRE(request != NULL);
  size_t count = split(stream, words), taken = 0;
  bool is_right = true;
  while (is_right && taken < count) {
    struct rd_record record = parse(words[taken++]);
    is_right = rd_request_check(request, &record, target_fd, &error);
  }
  bool is_expected = taken == count && is_right == (cell->fault == NULL);
  if (!is_right) is_expected &= cell->fault != NULL && strstr(error.message, cell->fault) != NULL;
  if (!CHECK(is_expected)) fprintf(stderr, "%s | %s\n", cell->stream, is_right ? "" : error.message);
  if (!is_right) CHECK(error.code == RD_CODE_NOT_REQUESTED && strstr(error.message, " asked for: \""));
  rd_request_destroy(request);
}

static void tells_what_was_sent(void) {
  static const struct {
    char stream[16];
    const char *message;
  } messages[] = {
      {"P d:a s:x.o", "a symbolic link that was not asked for: \"a/x.o\" (excluded)"},
      {"P r:\xff\x1b", "a removal that was not asked for: \"??\" (without --delete)"},
      {"A", "a target that was not asked for: \"dir\" (it is a directory)"},
  };
  static char pattern[] = "*.o", target[] = "dir", source[] = "a";
  char *sources[] = {source};
  struct rd_tree_pattern list[] = {{false, pattern}};
  struct rd_tree_settings settings = settings_of(RD_TREE_WRITE, R);
  settings.sources = sources;
  settings.source_count = settings.pattern_count = 1;
  settings.patterns = list;
  settings.target = target;
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
    char stream[16], *words[WORDS_MAX];
    memcpy(stream, messages[i].stream, sizeof stream);
    struct rd_request *request = rd_request_create(&settings, &error);
    size_t count = split(stream, words);
    for (size_t at = 0; at < count; at++) {
      struct rd_record record = parse(words[at]);
      (void)rd_request_check(request, &record, -1, &error);
    }
    if (!CHECK(strcmp(error.message, messages[i].message) == 0)) fprintf(stderr, "%s\n", error.message);
    rd_request_destroy(request);
  }
}

// Also of the part that the target's host gets, which does not know the source's $HOME.
static void names_are_those_of_scan(void) {
  static const char *const texts[] = {"a",  "a/",  "a/.", "a/..", ".",   "..",  "/",   "/a", "//a//b", "a/b",
                                      "~/", "~/a", "~/.", "~a",   "./~", "...", "a/ ", ".a", "a//",    "~/a/~"};
  setenv("HOME", "/home/ann", 1);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct rd_source_path path;
    const char *slash = strrchr(texts[i], '/'), *name = rd_source_path_name(texts[i]);
    REQUIRE(rd_source_path_parse(texts[i], &path) && name != NULL);
    CHECK(strcmp(path.name, name) == 0);
    CHECK(strcmp(path.name, rd_source_path_name(slash == NULL ? texts[i] : slash)) == 0);
    rd_source_path_clear(&path);
  }
  CHECK(rd_source_path_name("~") == NULL);
}

static void refuses_what_is_too_deep(void) {
  struct rd_tree_settings settings = settings_of(RD_TREE_READ, R);
  static char source[] = "d";
  char *sources[] = {source};
  settings.sources = sources;
  settings.source_count = 1;
  struct rd_request *request = rd_request_create(&settings, &error);
  struct rd_record record = entry(RD_RECORD_ENTER, S_IFDIR | 0755, "d"), leave = {.type = RD_RECORD_LEAVE};
  unsigned depth = 0;
  while (depth <= RD_DEPTH_MAX && rd_request_check(request, &record, -1, &error)) depth++;
  CHECK(depth == RD_DEPTH_MAX && error.code == RD_CODE_NOT_REQUESTED && strlen(error.message) > 256);
  while (depth > 0) CHECK(rd_request_check(request, &leave, -1, &error)), depth--;
  struct rd_record other = entry(RD_RECORD_FILE, S_IFREG | 0644, "e");
  CHECK(!rd_request_check(request, &other, -1, &error));
  rd_request_destroy(request);
}

// Streams at random of few names, so that many records are accepted. Whatever was accepted has a path that the user
// named, found out by another path than the module's.
struct walk {
  char path[64];      // from the target, with a slash after each name
  size_t lengths[17]; // of the paths above
  unsigned depth, entries;
  bool is_as, has_entered;
};

static const char *const random_words[] = {
    "P",       "A",    "-",     "-",      "d:",   "d:a",      "d:k",    "d:b", "1d:b",    "2d:",     "f:a",
    "1f:b",    "2f:c", "f:x.o", "f:k",    "f:f",  "s:f",      "s:a",    "c:f", "l:f>a/f", "l:f>k/f", "l:f>b",
    "l:f>x.o", "r:f",  "r:x.o", "r:keep", "3f:a", "x:user.x", "o:root", "r:k", "f:.rdcp", "r:.rdcp"};

static bool is_below_a_source(const char *path, const char *sources) {
  size_t first = strcspn(path, "/");
  return strchr(sources, '.') != NULL || (first == 1 && strchr(sources, *path) != NULL);
}

// Below the source; `path` begins with its name, if it has one.
static bool has_excluded(const char *path, bool has_source_name) {
  const char *rest = has_source_name ? path + strcspn(path, "/") : path;
  rest += *rest == '/';
  size_t count = strlen(rest);
  bool is_object = count > 2 && strcmp(rest + count - 2, ".o") == 0;
  return strncmp(rest, "k/", 2) == 0 || strstr(rest, ".o/") != NULL || is_object;
}

// `sources`: their names; `.`: the only one is the contents of a directory.
static void check_accepted(struct walk *walk, const struct rd_record *record, int options, const char *sources) {
  char path[96];
  int name = (int)record->entry.name.count;
  bool is_directory = record->type == RD_RECORD_ENTER, is_removal = record->type == RD_RECORD_REMOVE;
  if (record->type == RD_RECORD_LEAVE) walk->path[walk->lengths[--walk->depth]] = '\0';
  if (record->type == RD_RECORD_PLACE) walk->is_as = record->place == RD_PLACE_AS;
  if (record->type == RD_RECORD_XATTR) CHECK(options & XATTRS);
  if (record->type == RD_RECORD_OWNER || record->type == RD_RECORD_SPECIAL || record->type == RD_RECORD_LINK)
    CHECK(options & A);
  if (!rd_record_is_entry(record->type) && !is_removal) return;
  snprintf(path, sizeof path, "%s%.*s%s", walk->path, name, (const char *)record->entry.name.at,
           is_directory && name > 0 ? "/" : "");
  if (is_removal)
    CHECK((options & DELETE) && !walk->is_as && walk->has_entered && strcmp(path, ".rdcp") != 0 &&
          (walk->depth > 0 || *sources == '.'));
  else
    CHECK(is_below_a_source(path, sources) && (!is_directory || (options & R)));
  if (walk->is_as) CHECK(walk->entries == 0 && !is_directory && record->type != RD_RECORD_LINK);
  CHECK((walk->depth == 0 && !is_removal) || !has_excluded(path, *sources != '.'));
  walk->entries += !is_removal;
  if (!is_directory) return;
  walk->lengths[walk->depth++] = strlen(walk->path);
  walk->has_entered = true;
  memcpy(walk->path, path, strlen(path) + 1);
}

static void accepts_only_what_was_asked_for(void) {
  static char a[] = "a", b[] = "x/b", contents[] = "c/", target[] = "dir", new_target[] = "new", o[] = "*.o",
              k[] = "/k/";
  char *lists[][3] = {{a, NULL, NULL}, {a, b, NULL}, {contents, NULL, NULL}};
  static const char *const names[] = {"a", "ab", "."};
  struct rd_tree_pattern list[] = {{false, o}, {false, k}};
  unsigned seed = 1, accepted = 0;
  for (int round = 0; round < 60000; round++) {
    size_t which = (size_t)rand_r(&seed) % 3;
    int options = rand_r(&seed) % 64 & ~ALONE;
    struct rd_tree_settings settings = settings_of(RD_TREE_WRITE, options);
    settings.sources = lists[which];
    while (settings.source_count < 3 && lists[which][settings.source_count] != NULL) settings.source_count++;
    settings.patterns = list;
    settings.pattern_count = 2;
    settings.target = rand_r(&seed) % 2 ? target : new_target;
    struct rd_request *request = rd_request_create(&settings, &error);
    struct walk walk = {0};
    for (int i = 0; i < 16; i++) {
      char word[16];
      size_t count = sizeof random_words / sizeof *random_words;
      snprintf(word, sizeof word, "%s",
               i == 0 ? (rand_r(&seed) % 2 ? "P" : "A") : random_words[(size_t)rand_r(&seed) % count]);
      struct rd_record record = parse(word);
      bool is_possible =
          walk.depth < 16 && !(walk.depth > 0 && record.entry.name.count == 0 && record.type == RD_RECORD_ENTER);
      if (!is_possible || (record.type == RD_RECORD_LEAVE && walk.depth == 0)) continue;
      // The property is of streams that continue after a refusal too: the module's state has not changed.
      if (!rd_request_check(request, &record, target_fd, &error)) continue;
      accepted++;
      check_accepted(&walk, &record, options, names[which]);
    }
    rd_request_destroy(request);
  }
  CHECK(accepted > 100000);
}

// Of one list in both forms: the words of `list`, each with an end.
static void covers_the_paths_of_a_list(void) {
  static const struct {
    const char *list, *stream, *fault;
  } lists[] = {
      {"b/c a ./x//y/ ../z /e", "P d: f:a d:a f:any d:deep - - d:b f:c - d:x d:y f:1 - - -", NULL},
      {"b/c", "P d: f:a", "\"a\" (not in the list)"},
      {"b/c", "P d: f:b", "\"b\" (not in the list)"},
      {"b/c", "P d: s:b", "not in the list"},
      {"b/c", "P d: d:b f:d", "\"b/d\" (not in the list)"},
      {"b/c", "P d: d:b d:d", "not in the list"},
      {"b/c bb b- b.c", "P d: d:b f:b", "not in the list"},
      {"b/cc", "P d: d:b f:c", "not in the list"},
      {"b/c", "P d: d:b d:c f:d - f:cc", "not in the list"},
      {"../b /c", "P d: f:b", "not in the list"},
      {"", "P d: -", NULL},
      {"", "P d: d:b", "not in the list"},
      {"x ./", "P d: f:any d:d f:x", NULL},
      {"b/c b/d", "P d: d:b f:c l:d>b/c", NULL},
      {"b/c b/d", "P d: d:b f:c l:d>b/e", "a link to"},
      {"b/c b/d", "P d: d:b f:c l:d>b", "a link to"},
  };
  static char source[] = "s/", target[] = "dir";
  char *sources[] = {source};
  for (size_t i = 0; i < 2 * (sizeof lists / sizeof *lists); i++) {
    char text[64], stream[128], *words[WORDS_MAX];
    struct rd_tree_settings settings = settings_of(RD_TREE_WRITE, R | A);
    snprintf(text, sizeof text, "%s", lists[i / 2].list);
    snprintf(stream, sizeof stream, "%s", lists[i / 2].stream);
    settings.list = i % 2 ? RD_LIST_NUL : RD_LIST_LINES;
    settings.list_text = text;
    settings.list_bytes = strlen(text);
    for (char *at = text; (at = strchr(at, ' ')) != NULL;) *at = settings.list == RD_LIST_NUL ? '\0' : '\n', at++;
    settings.sources = sources;
    settings.source_count = 1;
    settings.target = target;
    struct rd_request *request = rd_request_create(&settings, &error);
    size_t count = split(stream, words), taken = 0;
    bool is_right = true;
    while (is_right && taken < count) {
      struct rd_record record = parse(words[taken++]);
      is_right = rd_request_check(request, &record, -1, &error);
    }
    const char *fault = lists[i / 2].fault;
    bool is_expected = taken == count && (is_right ? fault == NULL : fault != NULL && strstr(error.message, fault));
    if (!CHECK(is_expected)) fprintf(stderr, "%s: %s\n", lists[i / 2].stream, is_right ? "" : error.message);
    rd_request_destroy(request);
  }
}

int main(void) {
  begin();
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) check_cell(&cells[i]);
  tells_what_was_sent();
  names_are_those_of_scan();
  refuses_what_is_too_deep();
  covers_the_paths_of_a_list();
  accepts_only_what_was_asked_for();
  end();
  rd_request_destroy(NULL);
  return test_end("request");
}
