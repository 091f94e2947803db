import { expect } from 'chai';
import { pingPongPipeline, readTripUs } from '../../src/bench/ping-pong.ts';
import { RdpipeError } from '../../src/model/errors.ts';

const host = (name: string) => ({ name, user: undefined, label: name });

describe('ping-pong', () => {
  it('goes to the second host and back, and ends without a hop to this machine', () => {
    const { stages } = pingPongPipeline(host('h1'), host('h2'), '/tmp/x');
    expect(stages.map(({ number, kind, host: { name } }) => [number, kind, name])).to.deep.equal([
      [1, 'command', 'h1'],
      [2, 'command', 'h2'],
      [3, 'command', 'h1'],
      [4, 'sink', 'h1'],
    ]);
  });

  it('is timed by the first command', () => {
    expect(readTripUs('noise\nrdpipe-bench messages 5000 50\n')).to.equal(100);
    for (const stderr of ['', 'rdpipe-bench messages 10 0\n', 'mkfifo: no\n'])
      expect(() => readTripUs(stderr)).to.throw(RdpipeError, 'the ping-pong reported no time');
  });
});
