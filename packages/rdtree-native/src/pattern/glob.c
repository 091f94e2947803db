// SPDX-License-Identifier: Apache-2.0
#include "pattern/glob.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <ctype.h>
#include <string.h>

#define SHORT_TEXT_BYTES 512u

enum token_kind {
  BYTE,        // this byte
  SET,         // one of a set of bytes
  STAR,        // any number of bytes without a slash
  STARS,       // any number of bytes
  DIRECTORIES, // any number of names, each with its slash
};

struct token {
  enum token_kind kind : 8;
  unsigned char byte; // for BYTE
  unsigned set;       // for SET: its index
};

struct set {
  uint64_t bits[4];
};

struct rd_glob {
  struct token *tokens; // at most one per byte of the pattern
  size_t token_count;
  struct set *sets;
  unsigned set_count;
};

// The rest of a pattern that is being compiled.
struct source {
  const unsigned char *begin, *at, *end;
  size_t literal; // number of bytes at the beginning of the pattern without special characters
};

// The places in the text at which a match of the tokens so far may end: `at[i]` is true for these places. It has a
// meaning only from `low` to `high`, which are both such places.
struct places {
  bool *at;
  size_t low, high;
};

static bool compile(struct rd_glob *glob, struct source *from);
static void compile_stars(struct rd_glob *glob, struct source *from);
static bool compile_set(struct rd_glob *glob, struct source *from);
static bool add_members(struct set *set, struct source *from);
static bool add_class(struct set *set, struct source *from, bool *is_class);
static bool is_git_space(unsigned char byte);
static bool take(struct source *from, unsigned char *byte);
static struct token *add_token(struct rd_glob *glob, enum token_kind kind);
static void add_set(struct rd_glob *glob, struct set set);
static void add_range(struct set *set, unsigned first, unsigned last);
static bool fits(const struct rd_glob *glob, const struct token *token, unsigned char byte);
static bool advance(const struct rd_glob *glob, const struct token *token, struct rd_bytes text, struct places *places);
static void stretch(enum token_kind kind, struct rd_bytes text, struct places *places);

struct rd_glob *rd_glob_create(struct rd_bytes pattern) {
  struct rd_glob *glob = rd_memory_new(1, sizeof *glob);
  struct source from = {.begin = pattern.at, .at = pattern.at, .end = pattern.at + pattern.count};
  glob->tokens = rd_memory_new(pattern.count + 1, sizeof *glob->tokens);
  while (from.literal < pattern.count && memchr("*?[\\", pattern.at[from.literal], 4) == NULL) from.literal++;
  if (compile(glob, &from)) return glob;
  rd_glob_destroy(glob);
  return NULL;
}

void rd_glob_destroy(struct rd_glob *glob) {
  if (glob == NULL) return;
  free(glob->tokens);
  free(glob->sets);
  free(glob);
}

bool rd_glob_matches(const struct rd_glob *glob, struct rd_bytes text) {
  bool few[SHORT_TEXT_BYTES + 1];
  RD_AUTO_FREE bool *many = text.count > SHORT_TEXT_BYTES ? rd_memory_new(text.count + 1, sizeof *many) : NULL;
  struct places places = {.at = many != NULL ? many : few};
  places.at[0] = true;
  for (size_t i = 0; i < glob->token_count; i++) {
    const struct token *token = &glob->tokens[i];
    if (token->kind > SET)
      stretch(token->kind, text, &places);
    else if (!advance(glob, token, text, &places))
      return false;
  }
  return places.high == text.count;
}

static bool compile(struct rd_glob *glob, struct source *from) {
  while (from->at < from->end) {
    unsigned char byte = *from->at++;
    switch (byte) {
    case '*':
      compile_stars(glob, from);
      continue;
    case '[':
      if (!compile_set(glob, from)) return false;
      continue;
    case '?':
      add_set(glob, (struct set){{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}});
      continue;
    case '\\':
      if (!take(from, &byte)) return false;
    }
    add_token(glob, BYTE)->byte = byte;
  }
  return true;
}

// Called after the first star. Two or more stars match slashes only if nothing else is between the two slashes, or ends
// of the pattern, around them. git compares the literal bytes at the beginning separately, and the rest begins after
// them: `a**/b` matches ab and a/c/b.
static void compile_stars(struct rd_glob *glob, struct source *from) {
  const unsigned char *first = from->at - 1;
  while (from->at < from->end && *from->at == '*') from->at++;
  bool begins = first == from->begin + from->literal || first[-1] == '/';
  size_t left = (size_t)(from->end - from->at);
  bool is_slash = left >= 1 && from->at[0] == '/';
  bool ends = left == 0 || is_slash || (left >= 2 && from->at[0] == '\\' && from->at[1] == '/');
  if (from->at - first < 2 || !begins || !ends) {
    add_token(glob, STAR);
    return;
  }
  add_token(glob, is_slash ? DIRECTORIES : STARS);
  from->at += is_slash;
}

// Called after the bracket.
static bool compile_set(struct rd_glob *glob, struct source *from) {
  struct set set = {0};
  bool is_negated = from->at < from->end && (*from->at == '!' || *from->at == '^');
  from->at += is_negated;
  if (!add_members(&set, from)) return false;
  for (size_t i = 0; is_negated && i < 4; i++) set.bits[i] = ~set.bits[i];
  add_set(glob, set);
  return true;
}

// Reads until the closing `]`; as the first member, `]` is a member itself.
static bool add_members(struct set *set, struct source *from) {
  int before = -1; // the byte with which a range may begin; -1: none
  for (bool is_first = true;; is_first = false) {
    unsigned char byte;
    bool is_class = false;
    if (!take(from, &byte)) return false;
    if (byte == ']' && !is_first) return true;
    if (byte == '[' && !add_class(set, from, &is_class)) return false;
    if (is_class) {
      before = -1;
    } else if (byte == '-' && before >= 0 && from->at < from->end && *from->at != ']') {
      if (!take(from, &byte) || (byte == '\\' && !take(from, &byte))) return false;
      add_range(set, (unsigned)before, byte);
      before = -1;
    } else {
      if (byte == '\\' && !take(from, &byte)) return false;
      add_range(set, byte, byte);
      before = byte;
    }
  }
}

// Called after a bracket within brackets. Returns false if the class is unknown, or not closed. If this is not a class,
// the bracket is a member like any other byte.
static bool add_class(struct set *set, struct source *from, bool *is_class) {
  static const struct {
    const char *name;
    int (*has)(int byte);
  } classes[] = {
      {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
      {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
      {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
  };
  if (from->at == from->end || *from->at != ':') return true;
  const unsigned char *name = from->at + 1;
  const unsigned char *end = memchr(name, ']', (size_t)(from->end - name));
  if (end == NULL) return false;
  if (end == name || end[-1] != ':') return true;
  size_t count = (size_t)(end - name) - 1;
  from->at = end + 1;
  *is_class = true;
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    if (strlen(classes[i].name) != count || memcmp(classes[i].name, name, count) != 0) continue;
    for (unsigned byte = 0; byte < 128; byte++)
      if (classes[i].has == isspace ? is_git_space((unsigned char)byte) : classes[i].has((int)byte) != 0)
        add_range(set, byte, byte);
    return true;
  }
  return false;
}

// git's [:space:], without the vertical tab and the form feed.
static bool is_git_space(unsigned char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool take(struct source *from, unsigned char *byte) {
  if (from->at == from->end) return false;
  *byte = *from->at++;
  return true;
}

static struct token *add_token(struct rd_glob *glob, enum token_kind kind) {
  struct token *token = &glob->tokens[glob->token_count++];
  token->kind = kind;
  return token;
}

// No set matches a slash.
static void add_set(struct rd_glob *glob, struct set set) {
  set.bits['/' / 64] &= ~(UINT64_C(1) << '/' % 64);
  glob->sets = rd_memory_resize(glob->sets, glob->set_count + 1, sizeof *glob->sets);
  glob->sets[glob->set_count] = set;
  add_token(glob, SET)->set = glob->set_count++;
}

static void add_range(struct set *set, unsigned first, unsigned last) {
  for (unsigned byte = first; byte <= last; byte++) set->bits[byte / 64] |= UINT64_C(1) << byte % 64;
}

static bool fits(const struct rd_glob *glob, const struct token *token, unsigned char byte) {
  if (token->kind == BYTE) return byte == token->byte;
  return (glob->sets[token->set].bits[byte / 64] >> byte % 64 & 1) != 0;
}

// Advances all places by one byte. Returns false if no place is left.
static bool advance(const struct rd_glob *glob, const struct token *token, struct rd_bytes text,
                    struct places *places) {
  size_t end = places->high < text.count ? places->high + 1 : text.count; // end of the bytes that may fit
  size_t low = SIZE_MAX, high = 0;
  bool fitted = false; // whether the byte before this one fits; its place is overwritten
  for (size_t i = places->low; i < end; i++) {
    bool fits_here = places->at[i] && fits(glob, token, text.at[i]);
    places->at[i] = fitted;
    fitted = fits_here;
    if (!fitted) continue;
    high = i + 1;
    if (low == SIZE_MAX) low = high;
  }
  places->at[end] = fitted;
  places->low = low;
  places->high = high;
  return low != SIZE_MAX;
}

// Extends the places by any number of bytes.
static void stretch(enum token_kind kind, struct rd_bytes text, struct places *places) {
  size_t high = places->low;
  for (size_t i = places->low + 1; i <= text.count; i++) {
    bool is_slash = text.at[i - 1] == '/';
    bool is_reached = kind == STARS || (kind == STAR ? places->at[i - 1] && !is_slash : is_slash);
    places->at[i] = is_reached || (i <= places->high && places->at[i]);
    if (places->at[i]) high = i;
    if (kind == STAR && i > places->high && !places->at[i]) break;
  }
  places->high = high;
}
