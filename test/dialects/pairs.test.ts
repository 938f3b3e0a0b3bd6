import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Dialect, Feature, Writing } from '../../src/dialects/dialect.js';
import { DIALECTS, translate } from '../../src/dialects/dialects.js';
import { featuresOf, PAYLOAD_FEATURES } from '../../src/dialects/losses.js';
import { deepFreeze } from '../support/deep-freeze.js';
import { droppedFrom, saidBy } from './said.js';
import { NATIVES } from './samples.js';
import { expectNothingLostInSilence, isThere, readSound, sent } from './survival.js';

const PAIRS = DIALECTS.flatMap(from => DIALECTS.filter(to => to !== from).map(to => [from, to] as const));
const names = (pairs: typeof PAIRS) => pairs.map(([from, to]) => [from.name, to.name, from, to] as const);

test('every pair is there', () => {
  expect(PAIRS).toHaveLength(12);
});

test.each(DIALECTS.map(dialect => [dialect.name, dialect] as const))(
  '%s: all that a message says is in what is read of it',
  (name, dialect) => {
    fc.assert(
      fc.property(NATIVES[name], native => {
        const { answer } = readSound(dialect, deepFreeze(native));
        expect(droppedFrom(answer, saidBy(name, native))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  },
);

describe.each(names(PAIRS))('%s → %s', (_from, _to, from, to) => {
  test('everything that was said is read on the other wire, or reported as lost', () => {
    each(from, to, ({ there, arrived, read }) => {
      expectNothingLostInSilence(read.answer, there, arrived.answer);
    });
  });

  test('what both can carry is back where it came from', () => {
    each(from, to, ({ read, there, arrived }) => {
      const back = translate(arrived, from.name);
      const returned = readSound(from, sent(back.body));
      const lost = [...lostIn(there), ...lostIn(back), ...lostWithOutcome(read.answer.outcome.type, there)];
      const kept = [...featuresOf(read.answer)].filter(([feature]) => !lost.includes(feature));
      const gone = kept.filter(([feature, value]) => !isThere(returned.answer, feature, value));
      expect(gone).toEqual([]);
    });
  });

  test('what both tables have as exact is never lost', () => {
    each(from, to, ({ read, there }) => {
      const lost = lostIn(there);
      const goesWithOutcome = lost.includes(read.answer.outcome.type);
      const both = [...featuresOf(read.answer).keys()].filter(
        each => isExact(from, each) && isExact(to, each),
      );
      if (!goesWithOutcome) expect(both.filter(feature => lost.includes(feature))).toEqual([]);
    });
  });
});

interface Passage {
  readonly read: ReturnType<typeof readSound>;
  readonly there: Writing;
  readonly arrived: ReturnType<typeof readSound>;
}

/** Sends many messages of one wire over another one. */
function each(from: Dialect, to: Dialect, judge: (passage: Passage) => void): void {
  fc.assert(
    fc.property(NATIVES[from.name], native => {
      const read = readSound(from, deepFreeze(native));
      const there = translate(read, to.name);
      judge({ read, there, arrived: readSound(to, sent(there.body)) });
    }),
  );
}

const lostIn = ({ losses }: Writing): Feature[] => losses.map(({ feature }) => feature);
/** What is taken for another outcome has that one's words, and no payload. */
const lostWithOutcome = (outcome: Feature, there: Writing) =>
  lostIn(there).includes(outcome) ? PAYLOAD_FEATURES : [];
const isExact = ({ carries }: Dialect, feature: Feature) => carries[feature] === 'exact';
