import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Settled } from '../../../src/session/client/pending-calls.js';
import { bodiesOf, bodyOf } from '../../../src/session/client/pending-calls.js';

const settled = (key: string, result: unknown = key): Settled => ({
  call: { key, tool: 't', args: {}, id: key, native: {} },
  kind: 'tool_result',
  losses: [],
  bytes: Buffer.from(JSON.stringify({ key, result })),
});

const parsed = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString('utf8'));
const keysOf = (some: readonly Settled[]) => some.map(({ call }) => call.key);

it('is bare for one', () => {
  const [body, ...more] = bodiesOf([settled('a')]);
  expect(body && parsed(body.bytes)).toEqual({ key: 'a', result: 'a' });
  expect(more).toEqual([]);
});

it('is a batch for more', () => {
  const [body] = bodiesOf([settled('a'), settled('b')]);
  expect(body && parsed(body.bytes)).toEqual({
    type: 'batch',
    results: [
      { key: 'a', result: 'a' },
      { key: 'b', result: 'b' },
    ],
  });
});

it('is none for none', () => expect(bodiesOf([])).toEqual([]));

it('fills a body to the last byte', () => {
  const both = [settled('a'), settled('b')];
  const { length } = bodyOf(both).bytes;
  expect(bodiesOf(both, length)).toHaveLength(1);
  expect(bodiesOf(both, length - 1)).toHaveLength(2);
});

it('splits what is too much for one body, in order, and leaves out nothing', () => {
  const sizes = fc.array(fc.nat(300), { maxLength: 20 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 50, max: 600 }), (lengths, most) => {
      const all = lengths.map((length, index) => settled(`c${index}`, 'x'.repeat(length)));
      const bodies = bodiesOf(all, most);
      expect(bodies.flatMap(({ settled }) => keysOf(settled))).toEqual(keysOf(all));
      for (const { settled: within, bytes } of bodies)
        expect(bytes.length <= most || within.length === 1).toBe(true);
    }),
  );
});
