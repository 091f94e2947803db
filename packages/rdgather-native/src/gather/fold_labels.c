// SPDX-License-Identifier: Apache-2.0
#include "gather/fold_labels.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 9 // of a number in a list

// A name: `text` up to `begin`, a number of `digits` digits, and the rest.
struct name {
  const char *text;
  size_t begin, digits; // digits: 0: the name has no number
  unsigned long number;
  int width; // digits of a number with leading zeros; 0: without
  bool is_settled, is_listed;
};

static void parse(struct name *name, const char *text);
static void settle_widths(struct name *names, size_t count);
static void print_group(FILE *out, struct name *names, size_t count, size_t first);
static void print_ranges(FILE *out, const struct name *const *group, size_t count);
static bool differ_in_number(const struct name *one, const struct name *other);
static int by_number(const void *one, const void *other);

char *rd_fold_labels(const char *const *labels, size_t count) {
  char *text = NULL;
  size_t bytes = 0;
  struct name *names = rd_memory_new(count, sizeof *names);
  for (size_t i = 0; i < count; i++) parse(&names[i], labels[i]);
  settle_widths(names, count);
  FILE *out = open_memstream(&text, &bytes);
  if (out == NULL) abort();
  for (size_t i = 0; i < count; i++) {
    if (names[i].is_listed) continue;
    if (i > 0) fputc(',', out);
    print_group(out, names, count, i);
  }
  fclose(out);
  free(names);
  return text;
}

// The number is the last one of the name. Addresses of IPv6 stay as they are.
static void parse(struct name *name, const char *text) {
  *name = (struct name){.text = text};
  size_t end = strlen(text);
  if (strpbrk(text, "[:") != NULL) return;
  while (end > 0 && !isdigit((unsigned char)text[end - 1])) end--;
  size_t begin = end;
  while (begin > 0 && isdigit((unsigned char)text[begin - 1])) begin--;
  if (end == begin || end - begin > DIGITS_MAX) return;
  name->begin = begin;
  name->digits = end - begin;
  name->number = strtoul(text + begin, NULL, 10);
  name->width = text[begin] == '0' && name->digits > 1 ? (int)name->digits : 0;
}

// 10 follows 09 in n[09-10], but not 9 in n[9-10]: it takes its width from other names.
static void settle_widths(struct name *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (names[i].width == 0 || names[i].is_settled) continue;
    for (size_t j = 0; j < count; j++) {
      if (names[j].digits != names[i].digits || !differ_in_number(&names[i], &names[j])) continue;
      names[j].width = names[i].width;
      names[j].is_settled = true;
    }
  }
}

static void print_group(FILE *out, struct name *names, size_t count, size_t first) {
  const struct name *begin = &names[first];
  const struct name **group = rd_memory_new(count, sizeof *group);
  size_t members = 0;
  for (size_t i = first; i < count; i++) {
    bool is_member = i == first || (begin->digits > 0 && names[i].digits > 0 && names[i].width == begin->width &&
                                    differ_in_number(begin, &names[i]));
    if (!is_member) continue;
    names[i].is_listed = true;
    group[members++] = &names[i];
  }
  if (members == 1) {
    fputs(begin->text, out);
  } else {
    qsort(group, members, sizeof *group, by_number);
    fprintf(out, "%.*s[", (int)begin->begin, begin->text);
    print_ranges(out, group, members);
    fprintf(out, "]%s", begin->text + begin->begin + begin->digits);
  }
  free(group);
}

static void print_ranges(FILE *out, const struct name *const *group, size_t count) {
  for (size_t i = 0; i < count;) {
    size_t last = i;
    while (last + 1 < count && group[last + 1]->number == group[last]->number + 1) last++;
    fprintf(out, "%s%0*lu", i > 0 ? "," : "", group[i]->width, group[i]->number);
    if (last > i) fprintf(out, "-%0*lu", group[last]->width, group[last]->number);
    i = last + 1;
  }
}

static bool differ_in_number(const struct name *one, const struct name *other) {
  return one->begin == other->begin && strncmp(one->text, other->text, one->begin) == 0 &&
         strcmp(one->text + one->begin + one->digits, other->text + other->begin + other->digits) == 0;
}

static int by_number(const void *one, const void *other) {
  unsigned long first = (*(const struct name *const *)one)->number,
                second = (*(const struct name *const *)other)->number;
  return (first > second) - (first < second);
}
