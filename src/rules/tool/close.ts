import type { Rule } from '../rule.js';
import { onNotices } from './shared/notices.js';

/** TOOL-CLOSE: 200 with nothing in it, whatever is closed. */
export const takesCloses: Rule = {
  id: 'TOOL-CLOSE',
  failsWhere: 'the tool dies of it',
  absent: 'no thread was closed',
  observe: evidence => onNotices(evidence.closes, '/close_thread', evidence),
};
