// SPDX-License-Identifier: Apache-2.0
// Raw video frames from a studio to a player: each frame arrives unchanged.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';

const SOURCE = '-f lavfi -i testsrc=size=1280x720:rate=30 -frames:v 60 -pix_fmt yuv420p';
const RAW = '-f rawvideo -pixel_format yuv420p -video_size 1280x720 -framerate 30';

describe('raw video', () => {
  const lab = useLab();

  it('reaches the player frame by frame, and the report has the rate', async function () {
    needsTool(this, 'ffmpeg');
    const studio = `h1:'ffmpeg -nostdin -loglevel error ${SOURCE} -f rawvideo -'`;
    const player = `h2:'ffmpeg -nostdin -loglevel error ${RAW} -i - -f framemd5 -'`;
    const played = await lab.sh(`rdpipe -v ${studio} ${player}`);
    const direct = await lab.sh(`ffmpeg -nostdin -loglevel error ${SOURCE} -c:v rawvideo -f framemd5 -`);
    expect(played.status, played.stderr).to.equal(0);
    expect(frames(direct.text)).to.have.length(60);
    expect(frames(played.text)).to.deep.equal(frames(direct.text));
    expect(played.stderr).to.match(/^Bandwidth [\d.]+ [KMG]iB\/s/m);
  });
});

function frames(framemd5: string): string[] {
  return framemd5.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
