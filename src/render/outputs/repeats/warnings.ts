import { History } from '../../../events/history.js';
import type { Warning } from '../../../protocol/requirements.js';
import { counted, warningsOf } from '../../warnings.js';

/** The warnings of all calls, and of what was no call's. */
export function warningsOfAll(history: History): Warning[] {
  const ofCalls = [...history.exchanges.values()].flatMap(each =>
    warningsOf(new History(history.isWhole), each),
  );
  return counted([...warningsOf(history, undefined), ...ofCalls]);
}
