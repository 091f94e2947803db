// SPDX-License-Identifier: Apache-2.0
// rdtree in each of its roles, taken over.
#include "confinement.h"
#include "taken_over.h"

#include "test.h"

#include <fcntl.h>
#include <string.h>

static void confine(enum rd_tree_role role, bool is_served) {
  char source[96];
  snprintf(source, sizeof source, "%s/", taken_over_places.directory);
  char *sources[] = {source};
  int root_fd = is_served ? open(taken_over_places.directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  rd_tree_confine(&(struct rd_tree_settings){.role = role, .sources = sources, .source_count = 1, .target = source},
                  root_fd);
}

static void confine_reader(void) {
  confine(RD_TREE_READ, false);
}

static void confine_cleaner(void) {
  confine(RD_TREE_CLEAN, false);
}

static void confine_uniter(void) {
  confine(RD_TREE_UNITE, false);
}

static void confine_comparer(void) {
  confine(RD_TREE_COMPARE, false);
}

static void confine_writer(void) {
  confine(RD_TREE_WRITE, false);
}

static void confine_served_reader(void) {
  confine(RD_TREE_READ, true);
}

static void confine_served_writer(void) {
  confine(RD_TREE_WRITE, true);
}

int main(int argc, char **argv) {
  (void)argv;
  static const struct taken_over_program programs[] = {
      {ROLE_TREE_READ, "rdtree read", confine_reader},
      {ROLE_TREE_CLEAN, "rdtree clean", confine_cleaner},
      {ROLE_TREE_UNITE, "rdtree unite", confine_uniter},
      {ROLE_TREE_COMPARE, "rdtree compare", confine_comparer},
      {ROLE_TREE_WRITE, "rdtree write", confine_writer},
      {ROLE_SERVED_READ, "rdtree read of a server", confine_served_reader},
      {ROLE_SERVED_WRITE, "rdtree write of a server", confine_served_writer},
  };
  return taken_over_suite("taken_over_tree", programs, sizeof programs / sizeof *programs, argc);
}
