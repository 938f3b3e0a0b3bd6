import { LOSSY } from './lossy.js';
import { DRIVEN } from './runtime/driven.js';
import { DRIVEN_CONVERSATION } from './runtime/driven-conversation.js';
import { DRIVEN_REQUESTS } from './runtime/driven-requests.js';
import { RUNTIME_SAMPLES } from './runtime/index.js';
import { NEAR } from './runtime/near.js';
import type { SampleSet } from './sample.js';
import { TOOL_SAMPLES } from './tool/index.js';
import { NEAR_TOOL } from './tool/near.js';

/** The samples of each rule. */
export const SAMPLES: SampleSet = merged(
  merged(merged({ ...RUNTIME_SAMPLES, ...TOOL_SAMPLES }, { ...NEAR, ...NEAR_TOOL }), LOSSY),
  merged(merged(DRIVEN, DRIVEN_REQUESTS), DRIVEN_CONVERSATION),
);

function merged(samples: SampleSet, more: SampleSet): SampleSet {
  const own = new Map(Object.entries(samples));
  const both = Object.entries(more).map(([id, each]) => [id, [...(own.get(id) ?? []), ...each]]);
  return { ...samples, ...Object.fromEntries(both) };
}
