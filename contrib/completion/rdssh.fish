# SPDX-License-Identifier: Apache-2.0
# Completion of rdssh in fish, which is that of ssh.
complete -c rdssh -w ssh
