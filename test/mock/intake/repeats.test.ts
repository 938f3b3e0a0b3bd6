import fc from 'fast-check';
import { expect, test } from 'vitest';
import { intakeWith, replying } from '../start-mock.js';

const file = replying({ payload: 'x' });

/** The key, the number of the attempt, and whether the last invocation was executed. */
async function arrivalAt(setup: Awaited<ReturnType<typeof intakeWith>>, fields: object) {
  const from = setup.events.length;
  await setup.receive(fields);
  const own = setup.events.slice(from);
  const request = own.find(each => each.kind === 'request' && each.purpose === 'invocation');
  const { calls: [key = ''] = [], attempt } = request?.kind === 'request' ? request : {};
  return { key, attempt, isExecuted: own.some(({ kind }) => kind === 'matched') };
}

test('repeats: the oldest are forgotten first', async () => {
  const setup = await intakeWith(file, { remembered: 2 });
  for (const id of ['a', 'b', 'c', 'd', 'e']) await setup.receive({ id });
  const executed = [];
  for (const id of ['e', 'd', 'a']) executed.push((await arrivalAt(setup, { id })).isExecuted);
  expect(executed).toEqual([false, false, true]);
});

test('a call whose id was reused is still recognized', async () => {
  const setup = await intakeWith(file);
  const arrivals = [];
  for (const n of [1, 2, 1, 2]) arrivals.push(await arrivalAt(setup, { arguments: { n } }));
  expect(arrivals.map(({ attempt, isExecuted }) => [attempt, isExecuted])).toEqual([
    [1, true],
    [1, true],
    [2, false],
    [2, false],
  ]);
  expect(arrivals.map(({ key }) => key)).toEqual(['["g","i"]', '["g","i"]#2', '["g","i"]', '["g","i"]#2']);
});

test('TOOL-ISOLATE: repeats are recognized as in a model, and no two calls share a key', async () => {
  const names = fc.constantFrom('a', 'b', '","', '["a","b"]', '__proto__', 'a#2');
  const step = fc.record({ group_id: names, id: names, n: fc.constantFrom(1, 2), isFull: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
      const setup = await intakeWith(file);
      let isDiskFull = false;
      const kept = () => (isDiskFull ? Promise.reject(new Error('full')) : Promise.resolve());
      setup.log.storeEventsIn({ take: () => {}, stored: kept });
      const known = new Map<string, { attempts: number; isAccepted: boolean; key: string }>();
      for (const { n, isFull, ...ids } of steps) {
        isDiskFull = isFull;
        const call = JSON.stringify([ids, n]);
        const { key, attempt, isExecuted } = await arrivalAt(setup, { ...ids, arguments: { n } });
        const before = known.get(call);
        expect([attempt, isExecuted]).toEqual([(before?.attempts ?? 0) + 1, !before?.isAccepted]);
        const others = [...known].filter(([each]) => each !== call).map(([, each]) => each.key);
        expect(others).not.toContain(key);
        if (before) expect(key).toBe(before.key);
        else expect(setup.intake.repeats.keyOf(ids.group_id, ids.id)).toBe(key);
        known.set(call, { attempts: attempt ?? 0, isAccepted: before?.isAccepted || !isFull, key });
      }
    }),
    { numRuns: 50 },
  );
});

test('row 15: keys are short for ids of any length, and unique', async () => {
  const setup = await intakeWith(file);
  const id = 'i'.repeat(1_000_000);
  const arrivals = [await arrivalAt(setup, { id }), await arrivalAt(setup, { id: `${id}i` })];
  const keys = arrivals.map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
  for (const key of keys) expect(key.length).toBeLessThan(100);
  expect(await arrivalAt(setup, { id })).toEqual({ key: keys[0], attempt: 2, isExecuted: false });
  expect(setup.intake.repeats.keyOf('g', id)).toBe(keys[0]);
});
