import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  DIALECT_NAMES,
  type Dialect,
  FEATURES,
  type Feature,
  type Reading,
} from '../../src/dialects/dialect.js';
import { readAs, translate, writeAs } from '../../src/dialects/dialects.js';
import { featuresOf, PAYLOAD_FEATURES } from '../../src/dialects/losses.js';
import { deepFreeze } from '../support/deep-freeze.js';
import { ANSWERS, ANYTHING, NATIVES } from './samples.js';
import { expectNothingLostInSilence, readSound, sent } from './survival.js';

const LONGEST_MESSAGE = 600;

/** What every dialect must do, whatever its wire. */
export function dialectContract(dialect: Dialect): void {
  const { name, carries } = dialect;

  describe(`${name}: what is read`, () => {
    test('goes out again exactly as it came, with what nobody knows', () => {
      fc.assert(
        fc.property(NATIVES[name], native => {
          const reading = readSound(dialect, deepFreeze(native));
          expect(translate(reading, name)).toEqual({ body: native, losses: [] });
          expect(JSON.stringify(translate(reading, name).body)).toBe(JSON.stringify(native));
        }),
      );
    });

    test('whatever it is, it has a reading or faults, and every wire can write what was read', () => {
      fc.assert(
        fc.property(fc.oneof(ANYTHING, spoilt(NATIVES[name])), native => {
          const reading = dialect.read(deepFreeze(native));
          if (reading.ok) for (const other of DIALECT_NAMES) writeAs(other, reading.answer);
          else expectFaults(reading.faults);
        }),
      );
    });

    test.each<[string, unknown]>([
      ['deep', deep(10_000)],
      ['within itself', cyclic()],
      ['a huge string', 'x'.repeat(5_000_000)],
      ['many of everything', { type: 'tool_result', kind: [], content: Array(20_000).fill(1), Type: [] }],
      ['a prototype', JSON.parse('{"__proto__":{"type":"tool_result","kind":"tool_result","isError":true}}')],
      ['keys of objects', JSON.parse('{"constructor":1,"toString":2,"hasOwnProperty":3}')],
    ])('%s is refused in few words', (_, native) => {
      const reading = dialect.read(native);
      expectFaults(reading.ok ? [] : reading.faults);
      expect({}).not.toHaveProperty('isError');
    });

    test('huge strings in sound places are quoted in few words', () => {
      const huge = 'Error: x'.repeat(10_000);
      fc.assert(
        fc.property(NATIVES[name], native => {
          const reading = dialect.read(
            JSON.parse(JSON.stringify(native), (_, value) => enlarged(value, huge)),
          );
          for (const message of messagesOf(reading)) expect(message.length).toBeLessThan(LONGEST_MESSAGE);
        }),
        { numRuns: 10 },
      );
    });
  });

  describe(`${name}: what is written`, () => {
    const written = fc.oneof(ANSWERS, ...DIALECT_NAMES.map(answersOf));

    test('is read back, but for what was reported as lost', () => {
      fc.assert(
        fc.property(written, answer => {
          const writing = dialect.write(deepFreeze(answer));
          const read = readSound(dialect, sent(writing.body));
          expectNothingLostInSilence(answer, writing, read.answer);
        }),
        { numRuns: 500 },
      );
    });

    test('loses what its table says, and nothing that the table has as exact', () => {
      fc.assert(
        fc.property(written, answer => {
          const lost = dialect.write(answer).losses.map(({ feature }) => feature);
          const has = [...featuresOf(answer).keys()];
          const mayBeLost = has.filter(
            feature => carries[feature] !== 'exact' || goesWithOutcome(answer, feature),
          );
          expect(has.filter(feature => carries[feature] === 'lost')).toSatisfy(isWithin(lost));
          const isNameless = answer.call.tool === undefined; // which a wire may need
          expect(lost).toSatisfy(isWithin(isNameless ? [...mayBeLost, 'tool'] : mayBeLost));
          expect(new Set(lost).size).toBe(lost.length);
        }),
      );
    });

    test('says what is lost in few words, for a person', () => {
      fc.assert(
        fc.property(written, answer => {
          for (const { message } of dialect.write(answer).losses) {
            expect(message).toMatch(/^an? /);
            expect(message.length).toBeLessThan(LONGEST_MESSAGE);
          }
        }),
      );
    });

    test('of what no JSON can hold, it is written without a crash', () => {
      fc.assert(
        fc.property(ANSWERS, ANYTHING, (answer, payload) => {
          dialect.write({ ...answer, payload, beside: { ...answer.beside, images: payload } });
        }),
      );
    });
  });

  test(`${name}: its table has every feature`, () => {
    expect(Object.keys(carries)).toEqual([...FEATURES]);
  });

  function goesWithOutcome({ outcome }: Answer, feature: Feature): boolean {
    return PAYLOAD_FEATURES.includes(feature) && carries[outcome.type] === 'lost';
  }
}

const answersOf = (name: Dialect['name']): fc.Arbitrary<Answer> =>
  NATIVES[name].map(native => readSoundly(name, native));

function readSoundly(name: Dialect['name'], native: unknown): Answer {
  const reading = readAs(name, native);
  if (!reading.ok) throw new Error(reading.faults.join('; '));
  return reading.answer;
}

const isWithin = (all: readonly Feature[]) => (some: readonly Feature[]) =>
  some.every(each => all.includes(each));

/** A sound message with something else in one of its places. */
function spoilt(natives: fc.Arbitrary<object>): fc.Arbitrary<unknown> {
  return fc.tuple(natives, fc.nat(), ANYTHING).map(([native, at, anything]) => {
    const keys = Object.keys(native);
    const key = keys[at % keys.length] ?? '';
    return { ...native, [key]: anything };
  });
}

function expectFaults(faults: readonly string[]): void {
  expect(faults).not.toEqual([]);
  expect(faults.length).toBeLessThan(10);
  for (const fault of faults) expect(fault.length).toBeLessThan(LONGEST_MESSAGE);
  expect(faults[0]).toMatch(/^\$/);
}

function messagesOf(reading: Reading): readonly string[] {
  if (!reading.ok) return reading.faults;
  const losses = DIALECT_NAMES.flatMap(name => translate(reading, name).losses);
  return [...reading.notes, ...losses.map(({ message }) => message)];
}

function enlarged(value: unknown, huge: string): unknown {
  const isWord = value === 'tool_result' || value === 'error_event' || value === 'text' || value === 'image';
  return typeof value === 'string' && !isWord ? value + huge : value;
}

function deep(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++)
    value = { type: 'tool_result', content: [value], tool_req: value };
  return value;
}

function cyclic(): unknown {
  const value: Record<string, unknown> = { kind: 'tool_result' };
  value['tool_req'] = value;
  return value;
}
