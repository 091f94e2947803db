// SPDX-License-Identifier: Apache-2.0
// rdssh: a command line of ssh becomes one of rdpipe, or is run by ssh itself.
#ifndef RD_SSH_FRONT_H
#define RD_SSH_FRONT_H

#define RD_SSH_NAME "rdssh"

// argv[1] is the path of bin/rdpipe, the user's words follow. Becomes rdpipe or ssh and does not return.
// `--die-with-parent PATH ARGUMENT...` in their place becomes that program, which gets SIGTERM when its parent ends.
// Returns 255, as ssh does when it could not do its part, after its message.
int rd_ssh_main(int argc, char **argv);

#endif
