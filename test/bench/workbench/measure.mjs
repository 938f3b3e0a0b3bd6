import { measureFirstFrame } from './first-frame.mjs';
import { measureKeys } from './keys.mjs';
import { measureStorm } from './storm.mjs';

/** The workbench: how soon it is there, and what it does with much. */
export async function measureWorkbench(pairs) {
  const starts = await measureFirstFrame(pairs);
  const { ratios, memory } = await measureKeys(pairs);
  return { ratios: [...starts, ...ratios], memory, storm: await measureStorm() };
}
