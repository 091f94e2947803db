// SPDX-License-Identifier: Apache-2.0
// Chooses the package manager, by the os-release of each distribution.
#include "base/install_command.h"

#include "base/io.h"
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct rd_packages TLS = {.apt = "libssl3", .dnf = "openssl-libs", .zypper = "libopenssl3"};

static const struct {
  const char *os_release, *command;
} SYSTEMS[] = {
    {"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n", "apt install libssl3"},
    {"ID=ubuntu\nID_LIKE=debian\n", "apt install libssl3"},
    {"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "apt install libssl3"},
    {"ID=fedora\n", "dnf install openssl-libs"},
    {"NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install openssl-libs"},
    {"ID=\"ol\"\nID_LIKE=\"fedora\"\n", "dnf install openssl-libs"},
    {"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "zypper install libopenssl3"},
    {"ID_LIKE='suse'\nID='sles'\n", "zypper install libopenssl3"},
    {"ID=arch\n", "apt install libssl3; dnf install openssl-libs; zypper install libopenssl3"},
    {"VARIANT_ID=debian\nID\n", "apt install libssl3; dnf install openssl-libs; zypper install libopenssl3"},
    {"", "apt install libssl3; dnf install openssl-libs; zypper install libopenssl3"},
};

int main(void) {
  char path[] = "/tmp/rd-os-release-XXXXXX", command[256], short_one[8];
  int fd = mkostemp(path, O_CLOEXEC);
  REQUIRE(fd >= 0);
  for (size_t i = 0; i < sizeof SYSTEMS / sizeof *SYSTEMS; i++) {
    REQUIRE(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    REQUIRE(rd_write_all(fd, SYSTEMS[i].os_release, strlen(SYSTEMS[i].os_release)));
    rd_install_command(command, sizeof command, path, &TLS);
    if (strcmp(command, SYSTEMS[i].command)) printf("%zu: %s\n", i, command);
    CHECK(!strcmp(command, SYSTEMS[i].command));
  }
  rd_install_command(short_one, sizeof short_one, path, &TLS);
  CHECK(!strcmp(short_one, "apt ins"));
  CHECK(unlink(path) == 0 && close(fd) == 0);
  rd_install_command(command, sizeof command, path, &TLS);
  CHECK(strstr(command, "zypper") != NULL);
  return test_end("install_command");
}
