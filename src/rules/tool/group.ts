import type { Rule } from '../rule.js';
import { onEchoes } from './shared/echo.js';

/** TOOL-GROUP: every message belongs to the thread of its call. */
export const keepsThread: Rule = {
  id: 'TOOL-GROUP',
  masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
  absent: 'no callback came that could be read',
  observe: ({ calls }) => onEchoes(calls, 'group_id', ({ message }) => message.group_id),
};
