import { homedir, userInfo } from 'node:os';
import { expect } from 'chai';
import { configuredPaths, expandTokens, sentEnvironment } from '../../src/session/config-values.ts';
import { destinationOf } from '../../src/session/destination.ts';
import type { Target } from '../../src/session/resolve.ts';

function routeWith(config: Readonly<Record<string, readonly string[]>>): Target {
  return {
    destination: destinationOf(
      { name: 'alias', user: undefined, label: 'alias' },
      { configFile: undefined, options: [] },
    ),
    hostname: '10.0.0.1',
    user: 'ann',
    port: 2222,
    via: undefined,
    controlPath: undefined,
    identity: '',
    config: new Map(Object.entries(config)),
  };
}

describe('configuration that ssh2 does not read', () => {
  it('expands ~ and percent signs in file names', () => {
    const route = routeWith({ identityfile: ['~/.ssh/id %r', '/keys/%h-%%', 'none'], userknownhostsfile: ['~/a /b'] });
    expect(configuredPaths(route, 'identityfile')).to.deep.equal([`${homedir()}/.ssh/id ann`, '/keys/10.0.0.1-%']);
    expect(configuredPaths(route, 'userknownhostsfile')).to.deep.equal([`${homedir()}/a`, '/b']);
    expect(configuredPaths(route, 'globalknownhostsfile')).to.deep.equal([]);
  });

  it('expands the tokens of ssh_config(5), and leaves others', () => {
    expect(expandTokens('%n %h %p %r %u %d %% %Z', routeWith({}))).to.equal(
      `alias 10.0.0.1 2222 ann ${userInfo().username} ${homedir()} % %Z`,
    );
  });

  it('sends variables that SendEnv matches and SetEnv sets', () => {
    const route = routeWith({ sendenv: ['LANG LC_*', 'X?'], setenv: ['A=b=c', 'LANG=C'] });
    const env = { LANG: 'de', LC_ALL: 'en', LCX: 'no', XY: '1', XYZ: 'no', PATH: 'no' };
    expect(sentEnvironment(route, env)).to.deep.equal({ LANG: 'C', LC_ALL: 'en', XY: '1', A: 'b=c' });
  });
});
