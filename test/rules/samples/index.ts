import type { RequirementId } from '../../../src/protocol/requirements.js';
import { RUNTIME_SAMPLES } from './runtime/index.js';
import type { Samples } from './sample.js';
import { ackSamples } from './tool/ack.js';

/** The samples of each rule. */
export const SAMPLES: Readonly<Partial<Record<RequirementId, Samples>>> = {
  ...RUNTIME_SAMPLES,
  'TOOL-ACK': ackSamples,
};
