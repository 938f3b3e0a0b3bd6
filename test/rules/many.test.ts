import { expect, test } from 'vitest';
import { gather } from '../../src/rules/evidence/gather.js';
import { checksOf } from '../../src/rules/report.js';
import { eventsOf } from '../exchange/build.js';
import { discovery, someCall } from './samples/parts.js';

const CALLBACKS = 4_000;
const CALLS = 2_000;
/** Far more than it takes, and far less than comparing each with each. */
const MOST_MS = 20_000;

test('a call with thousands of events is judged in time', { timeout: 60_000 }, async () => {
  const a = someCall('a');
  const text = 'x'.repeat(2_000);
  const news = Array.from({ length: CALLBACKS }, (_, index) => a.news({ text: `${text} ${index}` }));
  const events = eventsOf(discovery(), a.sent(), a.answered(), a.result({ subscription: true }), ...news);
  const begun = performance.now();
  for (const side of ['tool', 'runtime'] as const) checksOf(side, [await gather(events, 'runtime', side)]);
  expect(performance.now() - begun).toBeLessThan(MOST_MS);
});

test('so are as many calls of one operation with extra fields', { timeout: 60_000 }, async () => {
  const failure = { text: 'Error: nothing there.' };
  const stories = Array.from({ length: CALLS }, (_, index) => {
    const call = someCall(`call_${index}`, index % 2 === 0 ? { x_trace: 1 } : {});
    return [call.sent(), call.answered(), call.result(failure)];
  });
  const events = eventsOf(discovery(), ...stories.flat());
  const begun = performance.now();
  for (const side of ['tool', 'runtime'] as const) checksOf(side, [await gather(events, 'runtime', side)]);
  expect(performance.now() - begun).toBeLessThan(MOST_MS);
});
