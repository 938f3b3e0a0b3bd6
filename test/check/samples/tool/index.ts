import type { SampleSet } from '../sample.js';
import { CONTENTS } from './contents.js';
import { CONVERSATION } from './conversation.js';
import { DELIVERY } from './delivery.js';
import { ENDINGS } from './endings.js';
import { IDS } from './ids.js';
import { INVOCATIONS } from './invocations.js';

export const TOOL_SAMPLES: SampleSet = {
  ...CONTENTS,
  ...CONVERSATION,
  ...DELIVERY,
  ...ENDINGS,
  ...IDS,
  ...INVOCATIONS,
};
