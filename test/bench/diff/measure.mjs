import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstSight } from '../first-letter.mjs';
import { inPairs } from '../pairs.mjs';
import { ours } from '../programs.mjs';
import { startTool } from '../tool.mjs';
import { patchOf } from './patch.mjs';
import { peakInTerminal } from './peak.mjs';

const TOOL = fileURLToPath(import.meta.resolve('../workbench/tool.mjs'));
const LONG = 100_000;
const SHORT = 100;
const SLOWEST = 2;
/** Three copies of the text, and what the program itself takes. */
const limitOf = bytes => 6 * bytes + 150_000_000;

/** A diff of 100,000 lines beside one of 100: when its first rows are seen, and what it takes of memory. */
export async function measureDiff(pairs) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const tool = await startTool(TOOL);
  try {
    const ways = await waysToShow(tool.url, folder);
    const measured = { ratios: [], memory: [] };
    for (const way of ways) {
      measured.ratios.push(await ratioRow(way, pairs));
      measured.memory.push(await memoryRow(way, join(folder, 'peak')));
    }
    return measured;
  } finally {
    tool.stop();
    await rm(folder, { recursive: true });
  }
}

/** Each with the arguments of `node` for so many lines. */
async function waysToShow(url, folder) {
  const fileOf = lines => join(folder, `${lines}.patch`);
  for (const lines of [SHORT, LONG]) await writeFile(fileOf(lines), patchOf(lines));
  return [
    { name: 'live view', args: lines => ours('invoke', url, 'diff', `lines:=${lines}`) },
    { name: '`render`', args: lines => ours('render', fileOf(lines)) },
  ];
}

async function ratioRow({ name, args }, pairs) {
  const first = lines => firstSight(args(lines), text => text.includes('@@ '));
  const figures = await inPairs({ ours: () => first(LONG), theirs: () => first(SHORT) }, pairs);
  return {
    what: `first frame of a diff of 100,000 lines, ${name}`,
    against: 'of 100 lines',
    target: SLOWEST,
    ...figures,
    isMet: figures.ratio.median <= SLOWEST,
  };
}

async function memoryRow({ name, args }, file) {
  await peakInTerminal(args(LONG), file);
  const peak = Number(await readFile(file, 'utf8')) * 1024;
  const bytes = Buffer.byteLength(patchOf(LONG));
  const limit = limitOf(bytes);
  return { kind: `a diff of 100,000 lines, ${name}`, bytes, peak, limit, isMet: peak <= limit };
}
