# SPDX-License-Identifier: Apache-2.0
# Completion of rdssh in bash: the same as for ssh, from the package bash-completion.
_completion_loader ssh 2>/dev/null
if _rdssh_as=$(complete -p ssh 2>/dev/null); then eval "${_rdssh_as% ssh} rdssh"; fi
unset _rdssh_as
