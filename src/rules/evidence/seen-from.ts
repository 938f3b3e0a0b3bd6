import type { Side } from '../../protocol/requirements.js';
import type { Recording } from '../recording.js';
import type { Evidence } from './evidence.js';
import { gather } from './gather.js';

/** What a recording has for the requirements of one side. */
export function seenFrom(side: Side): (recording: Recording) => Promise<Evidence> {
  return async ({ events, observer, isWhole, lines }) => ({
    ...(await gather(events, observer, side, isWhole)),
    ...(lines && { lines }),
  });
}
