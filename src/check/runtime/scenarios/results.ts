import type { Scenario } from '../scenario.js';

const PLAIN = { fixtures: [{ match: { operation: 'answer' }, reply: { payload: 'the answer is 42' } }] };

/** Results as they should be: in full, unchanged, once. */
export const resultScenarios: readonly Scenario[] = [
  {
    name: 'result',
    title: 'a call with a plain result',
    checks: ['RT-TEXT', 'RT-FIELDS', 'RT-ID', 'RT-OP', 'RT-ARGS'],
    servers: [PLAIN],
    run: async session => {
      await session.call('answer', { question: 'life' });
    },
  },
];
