import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Repeats } from '../../../src/mock/plan.js';

describe('repeated invocations', () => {
  test('forgets the oldest first; can forget all', () => {
    const repeats = new Repeats(2);
    for (const id of ['a', 'b', 'c', 'd', 'e']) repeats.arrive('g', id, 'x');
    expect(['e', 'd', 'a'].map(id => repeats.arrive('g', id, 'x').isRepeat)).toEqual([true, true, false]);
    repeats.clear();
    expect(repeats.arrive('g', 'a', 'x').isRepeat).toBe(false);
  });
});

/** The plainest thing that can be right: a list of all that came. */
class Model {
  readonly #arrivals: { identity: string; sha256: string; attempts: number; isAccepted: boolean }[] = [];

  arrive(thread: string, id: string, sha256: string) {
    const identity = JSON.stringify([thread, id]);
    const known = this.#find(identity, sha256);
    if (known) {
      const isRepeat = known.isAccepted;
      known.attempts++;
      known.isAccepted = true;
      return { attempt: known.attempts, isRepeat, isReused: false };
    }
    const isReused = this.#arrivals.some(each => each.identity === identity);
    this.#arrivals.push({ identity, sha256, attempts: 1, isAccepted: true });
    return { attempt: 1, isRepeat: false, isReused };
  }

  refuse(thread: string, id: string, sha256: string) {
    const known = this.#find(JSON.stringify([thread, id]), sha256);
    if (known) known.isAccepted = false;
  }

  #find(identity: string, sha256: string) {
    return this.#arrivals.find(each => each.identity === identity && each.sha256 === sha256);
  }
}

test('TOOL-ISOLATE: behaves like a model, and no two calls share a key', () => {
  const names = fc.constantFrom('a', 'b', '","', '["a","b"]', '__proto__', 'a#2');
  const step = fc.record({
    thread: names,
    id: names,
    sha256: fc.constantFrom('x', 'y'),
    refused: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const [repeats, model, keys] = [new Repeats(), new Model(), new Map<string, string>()];
      for (const { thread, id, sha256, refused } of steps) {
        const arrival = repeats.arrive(thread, id, sha256);
        const { key } = arrival;
        expect(arrival).toMatchObject(model.arrive(thread, id, sha256));
        const call = JSON.stringify([thread, id, sha256]);
        if (arrival.attempt > 1) expect(keys.get(key)).toBe(call);
        else expect(keys.has(key)).toBe(false);
        keys.set(key, call);
        if (arrival.attempt === 1) expect(repeats.keyOf(thread, id)).toBe(key);
        if (!refused) continue;
        arrival.refuse();
        model.refuse(thread, id, sha256);
      }
    }),
  );
});

test('row 15: keys are short for ids of any length, and unique', () => {
  const repeats = new Repeats();
  const id = 'i'.repeat(1_000_000);
  const keys = [repeats.arrive('g', id, 'a'), repeats.arrive('g', `${id}i`, 'b')].map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
  for (const key of keys) expect(key.length).toBeLessThan(100);
  expect(repeats.arrive('g', id, 'a')).toMatchObject({ key: keys[0], isRepeat: true });
  expect(repeats.keyOf('g', id)).toBe(keys[0]);
});
