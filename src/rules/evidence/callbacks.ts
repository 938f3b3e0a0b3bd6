import type { Verdict } from '../../exchange/verdict.js';
import { readCallback } from '../../protocol/callbacks/read.js';
import type { CallbackEvidence } from './evidence.js';
import type { Leg } from './leg.js';

export function callbackOf(leg: Leg, verdict: Verdict | null): CallbackEvidence {
  const { body } = leg.request;
  return { ...leg, reading: body ? readCallback(body.json) : null, verdict };
}
