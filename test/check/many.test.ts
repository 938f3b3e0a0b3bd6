import { expect, test } from 'vitest';
import { gatherEvidence } from '../../src/check/evidence.js';
import { checksOf } from '../../src/check/judge.js';
import { eventsOf } from '../events/build.js';
import { LINEAR, slowdown } from '../support/cpu-ms.js';
import { discovery, notice, someCall } from './samples/parts.js';

const times = <T>(count: number, make: (index: number) => readonly T[]) =>
  Array.from({ length: count }, (_, index) => make(index)).flat();

const TEXT = 'x'.repeat(2_000);

const shared = { id: 'same', group_id: 'g' };

test.each([
  [
    'events of one call',
    300,
    (index: number) => {
      const call = someCall('a');
      const begin = index === 0 ? [call.begun(), call.result({ subscription: true })] : [];
      return [...begin.flat(), ...call.news({ text: `${TEXT} ${index}` })];
    },
  ],
  [
    'calls of one operation, half of them with extra fields',
    250,
    (index: number) => {
      const call = someCall(`call_${index}`, index % 2 === 0 ? { x_trace: 1 } : {});
      return [call.begun(), call.result({ text: 'Error: nothing there.' })].flat();
    },
  ],
  [
    'calls with one id, which look like retries',
    300,
    () => {
      const call = someCall('k', shared);
      return [call.begun(), call.result(shared)].flat();
    },
  ],
  [
    'calls with one id and a closed thread each',
    300,
    (index: number) => {
      const call = someCall(`k${index}`, shared);
      return [call.begun(), call.result(shared), notice('close', {}, { thread: 'g' })].flat();
    },
  ],
  [
    'answered questions of one call',
    300,
    (index: number) => {
      const call = someCall('k', shared);
      const begin = index === 0 ? [call.begun()].flat() : [];
      return [...begin, ...call.asks({ ...shared, prompt: `${index}?` }), ...call.selected()];
    },
  ],
])('judges hundreds of %s in linear time', async (_, count, make) => {
  const judge = async (number: number) => {
    const events = eventsOf(discovery(), times(number, make));
    for (const side of ['tool', 'runtime'] as const) checksOf(side, [await gatherEvidence({ events }, side)]);
  };
  expect(await slowdown(count, judge)).toBeLessThan(LINEAR);
});
