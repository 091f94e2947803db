// SPDX-License-Identifier: Apache-2.0
// Values of ssh's options with which a command needs ssh itself.
#ifndef RD_SSH_KEYWORDS_H
#define RD_SSH_KEYWORDS_H

#include <stdbool.h>

// `option` is a value of -o: `Keyword=value` or `Keyword value`. Returns its keyword, as ssh_config(5) spells it, if
// only ssh can run a command with this value; otherwise NULL.
const char *rd_ssh_keyword_for_ssh(const char *option);
bool rd_ssh_is_escape(const char *value); // true if ssh accepts it as a value of -e

#endif
