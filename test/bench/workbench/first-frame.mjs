import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstSight } from '../first-letter.mjs';
import { inPairs } from '../pairs.mjs';
import { nothing, ours, wholeProcess } from '../programs.mjs';

const SLOWEST = 4;
/** No one is there, and no one is waited for. */
const CONFIG = { tool_sets: [{ type: 'toolset_server', server_url: 'http://127.0.0.1:9' }] };

/** How soon a person sees the workbench: with the demo, and by its name alone where a folder names its tools. */
export async function measureFirstFrame(pairs) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    await mkdir(join(folder, '.infinity'));
    await writeFile(join(folder, '.infinity', 'rap.json'), JSON.stringify(CONFIG));
    return [
      await rowOf('first frame of the workbench', ours('invoke', '--interactive', '--demo'), folder, pairs),
      await rowOf('first frame of the workbench, by `.infinity/rap.json`', ours(), folder, pairs),
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function rowOf(what, args, cwd, pairs) {
  const sides = {
    ours: () => firstSight(args, text => text.includes('Tools'), { cwd }),
    theirs: () => wholeProcess(nothing),
  };
  const figures = await inPairs(sides, pairs);
  const isMet = figures.ratio.median <= SLOWEST;
  return { what, against: '`node -e 0`', target: SLOWEST, ...figures, isMet };
}
