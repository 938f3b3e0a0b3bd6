import type { Rule } from '../rule.js';
import { onEchoes } from './shared/echo.js';

/** TOOL-ID: a result or a question names its call. The `tool_call_id` of an event is of TOOL-SUB. */
export const keepsId: Rule = {
  id: 'TOOL-ID',
  masks: ['TOOL-ONCE', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-SUB'],
  absent: 'no result or question came that could be read',
  observe: ({ calls }) => onEchoes(calls, 'id', ({ message }) => ('id' in message ? message.id : undefined)),
};
