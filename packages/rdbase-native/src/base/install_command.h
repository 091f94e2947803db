// SPDX-License-Identifier: Apache-2.0
// The command that installs a package on this machine, for advice in messages.
#ifndef RD_BASE_INSTALL_COMMAND_H
#define RD_BASE_INSTALL_COMMAND_H

#include <stddef.h>

#define RD_OS_RELEASE "/etc/os-release"

// The names of the same packages for each package manager.
struct rd_packages {
  const char *apt;    // Debian, Ubuntu
  const char *dnf;    // RHEL, Fedora
  const char *zypper; // SUSE
};

// Writes "apt install NAMES", "dnf install NAMES" or "zypper install NAMES", according to the file `os_release`; all of
// them, separated by "; ", if the file does not exist or names another system.
void rd_install_command(char *command, size_t command_bytes, const char *os_release,
                        const struct rd_packages *packages);

#endif
