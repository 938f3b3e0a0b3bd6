import type { Rule } from '../rule.js';
import { onEchoes } from './shared/echo.js';

/** TOOL-CALLID: a second name that was given comes back as it was, and none where none was given. */
export const keepsCallId: Rule = {
  id: 'TOOL-CALLID',
  absent: 'no call that had a call_id, or was given one, was answered',
  observe: ({ calls }) =>
    onEchoes(calls, 'call_id', ({ message }, { call_id: given }) =>
      'id' in message && (typeof given === 'string' || typeof message.call_id === 'string')
        ? (message.call_id ?? null)
        : undefined,
    ),
};
