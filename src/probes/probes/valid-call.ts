import type { Probe } from '../probe.js';

/** Every operation that may be called, called well. */
export const validCall: Probe = {
  id: 'valid-call',
  checks: [
    'TOOL-ACK',
    'TOOL-ASYNC',
    'TOOL-ALWAYS',
    'TOOL-POST',
    'TOOL-GROUP',
    'TOOL-ID',
    'TOOL-CALLID',
    'TOOL-ONCE',
    'TOOL-SECRET',
  ],
  shows: [
    'TOOL-ERRPREFIX',
    'TOOL-NOLEAK',
    'TOOL-FALLBACK',
    'TOOL-DIFF',
    'TOOL-IMAGE',
    'TOOL-SUB',
    'TOOL-CHOICE',
    'TOOL-OAUTH',
  ],
  run: (_, { tryAll }) => tryAll().finished,
};
