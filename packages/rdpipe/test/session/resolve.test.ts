import { expect } from 'chai';
import type { Destination } from '../../src/session/destination.ts';
import { destinationOf } from '../../src/session/destination.ts';
import { type ConfigReader, resolveTarget, type Target } from '../../src/session/resolve.ts';

const NEVER = new AbortController().signal;

/** Reads the configuration of each host name. */
function reader(hosts: Readonly<Record<string, Readonly<Record<string, string>>>>): ConfigReader {
  return async ({ name, user, port, options }: Destination) => {
    const jump = options.find((option) => option.startsWith('ProxyJump='))?.slice('ProxyJump='.length);
    const given = { ...(user && { user }), ...(port && { port }), ...(jump && { proxyjump: jump }) };
    const config = { hostname: name, user: 'me', port: '22', ...hosts[name], ...given };
    return new Map(Object.entries(config).map(([keyword, value]) => [keyword, [value]]));
  };
}

function resolve(name: string, hosts: Parameters<typeof reader>[0]): Promise<Target> {
  const host = destinationOf({ name, user: undefined, label: name }, { configFile: undefined, options: [] });
  return resolveTarget(host, reader(hosts), NEVER);
}

function way(route: Target): string[] {
  return [...(route.via ? way(route.via) : []), route.hostname];
}

describe('the route to a host', () => {
  it('is direct if nothing is configured', async () => {
    const route = await resolve('h1', { h1: { hostname: '10.0.0.1', proxyjump: 'none', controlpath: 'none' } });
    expect(way(route)).to.deep.equal(['10.0.0.1']);
    expect(route.controlPath).to.equal(undefined);
  });

  it("goes through its jump host with that host's own configuration", async () => {
    const hosts = { h1: { proxyjump: 'inner' }, inner: { proxyjump: 'outer' }, outer: { hostname: '10.0.0.9' } };
    expect(way(await resolve('h1', hosts))).to.deep.equal(['10.0.0.9', 'inner', 'h1']);
  });

  it('goes through several jump hosts in order, whatever the later ones configure', async () => {
    const hosts = { h1: { proxyjump: 'a,b@c:2222' }, c: { proxyjump: 'elsewhere' } };
    const route = await resolve('h1', hosts);
    expect(way(route)).to.deep.equal(['a', 'c', 'h1']);
    expect(route.via).to.include({ user: 'b', port: 2222 });
  });

  it('is the same for names of one host', async () => {
    const hosts = {
      alias: { hostname: 'h1' },
      jumped: { hostname: 'h1', proxyjump: 'j' },
      piped: { hostname: 'h1', proxycommand: 'nc' },
    };
    const identities = await Promise.all(
      ['h1', 'alias', 'jumped', 'piped'].map(async (name) => (await resolve(name, hosts)).identity),
    );
    expect(identities[1]).to.equal(identities[0]);
    expect(new Set(identities).size).to.equal(3);
  });

  it('must not form a loop', async () => {
    const outcome = await resolve('h1', { h1: { proxyjump: 'h2' }, h2: { proxyjump: 'h1' } }).catch(
      (error: unknown) => error,
    );
    expect(outcome)
      .to.have.property('message')
      .that.matches(/^cannot reach h[12]: its ProxyJump forms a loop/);
  });
});
