import { readAs } from '../../../dialects/index.js';
import { noted, savedAnswer } from './answer.js';
import type { Kind } from './kind.js';

/** What LM-Kit knows of a call that ended. */
export const lmkitKind: Kind = {
  name: 'a ToolCallResult of LM-Kit',
  dialect: 'lmkit',
  keys: ['Type', 'ResultJson', 'ToolCallId', 'ToolName'],
  isMeant: value => 'ResultJson' in value,
  async read({ value, notes }) {
    const reading = readAs('lmkit', value);
    return reading.ok ? { ok: true, saved: savedAnswer('ToolCallResult', noted(reading, notes)) } : reading;
  },
};
