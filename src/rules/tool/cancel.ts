import { held } from '../observation.js';
import type { Rule } from '../rule.js';
import { noticeFault } from './shared/notices.js';

/** TOOL-CANCEL: 200, whatever is cancelled. */
export const takesCancels: Rule = {
  id: 'TOOL-CANCEL',
  absent: 'no call was cancelled',
  observe: ({ cancels }) => cancels.map(notice => noticeFault(notice, '/cancel_tool_call') ?? held([notice])),
};
