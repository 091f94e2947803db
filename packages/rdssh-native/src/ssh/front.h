// SPDX-License-Identifier: Apache-2.0
// rdssh: turns a command line of ssh into one of rdpipe, or lets ssh itself run it.
#ifndef RD_SSH_FRONT_H
#define RD_SSH_FRONT_H

#define RD_SSH_NAME "rdssh"

// argv[1] is the path of bin/rdpipe; the user's words follow. Becomes rdpipe or ssh and does not return. With
// `--die-with-parent PATH ARGUMENT...` instead, becomes that program, which gets SIGTERM when its parent ends. On
// failure prints a message and returns 255, as ssh does.
int rd_ssh_main(int argc, char **argv);

#endif
