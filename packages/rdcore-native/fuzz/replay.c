// SPDX-License-Identifier: Apache-2.0
// Gives a fuzz target every file of the folders and every file named, without libFuzzer: TARGET_fuzz PATH...
#include "base/cleanup.h"
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static unsigned replay_path(const char *path);
static unsigned replay_folder(const char *path, DIR *folder);
static void replay_file(const char *path);
static void fail(const char *path);

int main(int argc, char **argv) {
  unsigned inputs = 0;
  for (int i = 1; i < argc; i++) inputs += replay_path(argv[i]);
  const char *slash = strrchr(argv[0], '/');
  printf("%s: %u inputs\n", slash != NULL ? slash + 1 : argv[0], inputs);
  return inputs > 0 ? 0 : 1;
}

static unsigned replay_path(const char *path) {
  DIR *folder = opendir(path);
  if (folder != NULL) return replay_folder(path, folder);
  replay_file(path);
  return 1;
}

static unsigned replay_folder(const char *path, DIR *folder) {
  unsigned inputs = 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char name[PATH_MAX];
    if (entry->d_name[0] == '.') continue;
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    replay_file(name);
    inputs++;
  }
  closedir(folder);
  return inputs;
}

// Exactly as long as the file: what is read behind it is a finding.
static void replay_file(const char *path) {
  struct stat status;
  RD_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) < 0) fail(path);
  RD_AUTO_FREE uint8_t *bytes = malloc((size_t)status.st_size);
  if (status.st_size > 0 && (bytes == NULL || read(fd, bytes, (size_t)status.st_size) != status.st_size)) fail(path);
  LLVMFuzzerTestOneInput(bytes, (size_t)status.st_size);
}

static void fail(const char *path) {
  perror(path);
  exit(1);
}
