import type { RequirementId } from '../../../src/protocol/requirements.js';
import type { Samples } from './sample.js';
import { ackSamples } from './tool/ack.js';

/** The samples of each rule. */
export const SAMPLES: Readonly<Partial<Record<RequirementId, Samples>>> = {
  'TOOL-ACK': ackSamples,
};
