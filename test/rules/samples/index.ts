import { RUNTIME_SAMPLES } from './runtime/index.js';
import type { SampleSet } from './sample.js';
import { TOOL_SAMPLES } from './tool/index.js';

/** The samples of each rule. */
export const SAMPLES: SampleSet = { ...RUNTIME_SAMPLES, ...TOOL_SAMPLES };
