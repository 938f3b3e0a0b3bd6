import { RUNTIME_SAMPLES } from './runtime/index.js';
import { NEAR } from './runtime/near.js';
import type { SampleSet } from './sample.js';
import { TOOL_SAMPLES } from './tool/index.js';

/** The samples of each rule. */
export const SAMPLES: SampleSet = merged({ ...RUNTIME_SAMPLES, ...TOOL_SAMPLES }, NEAR);

function merged(samples: SampleSet, more: SampleSet): SampleSet {
  const entries = Object.entries(more).map(([id, own]) => [
    id,
    [...(samples[id as keyof SampleSet] ?? []), ...own],
  ]);
  return { ...samples, ...Object.fromEntries(entries) };
}
