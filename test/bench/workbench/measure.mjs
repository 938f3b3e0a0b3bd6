import { firstSight } from '../first-letter.mjs';
import { inPairs } from '../pairs.mjs';
import { nothing, ours } from '../programs.mjs';
import { wholeProcess } from '../whole-process.mjs';
import { measureKeys } from './keys.mjs';
import { measureStorm } from './storm.mjs';

const SLOWEST_START = 4;

/** The workbench: how soon it is there, and what it does with much. */
export async function measureWorkbench(pairs) {
  const start = await firstFrame(pairs);
  const { ratios, memory } = await measureKeys(pairs);
  return { ratios: [start, ...ratios], memory, storm: await measureStorm() };
}

async function firstFrame(pairs) {
  const isSeen = text => text.includes('Tools');
  const figures = await inPairs(
    {
      ours: () => firstSight(ours('invoke', '--interactive', '--demo'), isSeen),
      theirs: () => wholeProcess(nothing),
    },
    pairs,
  );
  return {
    what: 'first frame of the workbench',
    against: '`node -e 0`',
    target: SLOWEST_START,
    ...figures,
    isMet: figures.ratio.median <= SLOWEST_START,
  };
}
