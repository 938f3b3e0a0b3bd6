import type { Rule } from '../rule.js';
import { onNotices } from './shared/notices.js';

/** TOOL-CANCEL: 200 with nothing in it, whatever is cancelled. */
export const takesCancels: Rule = {
  id: 'TOOL-CANCEL',
  failsWhere: 'the tool dies of it',
  absent: 'no call was cancelled',
  observe: evidence => onNotices(evidence.cancels, '/cancel_tool_call', evidence),
};
