// SPDX-License-Identifier: Apache-2.0
// Tells a user who types `npm install` in a checkout how to install rdpipe; silent if pnpm runs it.
const { npm_config_user_agent: agent = '', npm_config_global: isGlobal } = process.env;

if (isGlobal === 'true') {
  console.error(
    "rdpipe: a checkout cannot be installed with npm: run 'npm run build', then 'sudo make install' (see README.md, Install)",
  );
  process.exitCode = 1;
} else if (agent.startsWith('npm/')) {
  console.error("rdpipe: run 'npm run build' instead of 'npm install'; it installs the dependencies and builds");
}
