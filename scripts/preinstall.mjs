// SPDX-License-Identifier: Apache-2.0
// Tells a user who types `npm install` in a checkout, by habit, what installs rdpipe; pnpm runs it too, in silence.
const { npm_config_user_agent: agent = '', npm_config_global: isGlobal } = process.env;

if (isGlobal === 'true') {
  console.error("rdpipe: a checkout is no package: 'npm run build', then 'sudo make install' (README.md, Install)");
  process.exitCode = 1;
} else if (agent.startsWith('npm/')) {
  console.error("rdpipe: 'npm run build' installs what is needed, and builds; 'npm install' does not");
}
