# SPDX-License-Identifier: Apache-2.0
# Completion of rdssh in fish: the same as for ssh.
complete -c rdssh -w ssh
