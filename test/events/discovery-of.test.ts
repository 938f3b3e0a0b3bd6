import { expect, test } from 'vitest';
import { discoveryOf } from '../../src/events/discovery-of.js';
import { eventsOf, type Moment } from './build.js';

const ORIGIN = 'http://127.0.0.1:3001';

/** A discovery at a URL, and what came of it: the toolset of the base, or none. */
function asked(leg: string, base: string, { status = 200, name = leg } = {}): Moment[] {
  const url = `${base}/.well-known/rap-toolset`;
  const about = { from: 'runtime', to: 'tool', method: 'GET', headers: {}, attempt: 1 } as const;
  const endpoint = `${base}/invoke`;
  const loaded: Moment = { kind: 'loaded', base, endpoint, toolset: name, operations: [] };
  return [
    { kind: 'request', leg, purpose: 'discovery', url, ...about },
    { kind: 'response', leg, status, headers: {} },
    ...(status === 200 ? [loaded] : []),
  ];
}

/** What is told of each: its leg, or the name of the toolset that was loaded. */
function told(endpoint: string, seq: number, ...parts: Moment[][]): string[] {
  return discoveryOf(eventsOf(...parts), { endpoint, seq }).map(event =>
    event.kind === 'loaded' ? `loaded ${event.toolset}` : 'leg' in event ? (event.leg ?? '') : event.kind,
  );
}

const A = asked('a', `${ORIGIN}/a`);
const B = asked('b', `${ORIGIN}/b`);
const LATER = 1_000;

test('of two toolsets on one origin, under different paths, it is that of the call', () => {
  expect(told(`${ORIGIN}/a/invoke`, LATER, A, B)).toEqual(['a', 'a', 'loaded a']);
  expect(told(`${ORIGIN}/b/invoke`, LATER, A, B)).toEqual(['b', 'b', 'loaded b']);
});

test('one path may be the beginning of the other, as a whole name or not', () => {
  const [root, below, beside] = [ORIGIN, `${ORIGIN}/a/b`, `${ORIGIN}/ab`].map(base => asked(base, base));
  for (const parts of [root, below, beside])
    expect(told(`${ORIGIN}/a/invoke`, LATER, A, parts ?? [])).toEqual(['a', 'a', 'loaded a']);
  expect(told(`${ORIGIN}/invoke`, LATER, A, root ?? [])).toEqual([ORIGIN, ORIGIN, `loaded ${ORIGIN}`]);
});

test('it is what was known when the call was made', () => {
  const again = asked('again', `${ORIGIN}/a`);
  expect(told(`${ORIGIN}/a/invoke`, A.length, A, again)).toEqual(['a', 'a', 'loaded a']);
  expect(told(`${ORIGIN}/a/invoke`, LATER, A, again)).toEqual([
    ...['a', 'a', 'loaded a'],
    ...['again', 'again', 'loaded again'],
  ]);
});

test('where nobody says which toolset it is of, it is all that was asked', () => {
  const refused = asked('refused', `${ORIGIN}/c`, { status: 404 });
  expect(told('http://127.0.0.1:9/', LATER, A, refused)).toEqual(['a', 'a', 'refused', 'refused']);
});

test('of a recorder it is both what its tool was asked and what it was asked itself', () => {
  const [request, ...rest] = asked('a', `${ORIGIN}/a`);
  const own = [
    { ...request, leg: 'own', url: '/.well-known/rap-toolset', hop: 'runtime-side' },
    { kind: 'response', leg: 'own', status: 200, headers: {} },
  ] as Moment[];
  const onward = [{ ...request, hop: 'tool-side' } as Moment, ...rest];
  expect(told(`${ORIGIN}/a/invoke`, LATER, own, B, onward)).toEqual(['own', 'own', 'a', 'a', 'loaded a']);
});
