import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  DIALECT_NAMES,
  type Dialect,
  type Reading,
  type ValidReading,
} from '../../src/dialects/dialect.js';
import { readAs, translate, writeAs } from '../../src/dialects/dialects.js';
import { deepFreeze } from '../support/deep-freeze.js';
import { ANSWERS, ANYTHING, NATIVES } from './samples.js';

const MAX_MESSAGE = 600;

/** Reads a message that must be valid. */
export function readSound(dialect: Dialect, native: unknown): ValidReading {
  const reading = dialect.read(native);
  if (!reading.ok) throw new Error(`${dialect.name} cannot read it: ${reading.faults.join('; ')}`);
  return reading;
}

/** Tests that every dialect must pass. */
export function dialectContract(dialect: Dialect): void {
  const { name } = dialect;

  describe(`${name}: reading`, () => {
    test('a message goes out again exactly as it came, with unknown fields', () => {
      fc.assert(
        fc.property(NATIVES[name], native => {
          const reading = readSound(dialect, deepFreeze(native));
          expect(translate(reading, name)).toEqual({ body: native, warnings: [] });
          expect(JSON.stringify(translate(reading, name).body)).toBe(JSON.stringify(native));
        }),
      );
    });

    test('anything has a reading or faults, and every dialect can write what was read', () => {
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
      ['cyclic', cyclic()],
      ['a huge string', 'x'.repeat(5_000_000)],
      ['many of everything', { type: 'tool_result', kind: [], content: Array(20_000).fill(1), Type: [] }],
      ['a prototype', JSON.parse('{"__proto__":{"type":"tool_result","kind":"tool_result","isError":true}}')],
      ['keys of objects', JSON.parse('{"constructor":1,"toString":2,"hasOwnProperty":3}')],
    ])('%s is rejected with a short message', (_, native) => {
      const reading = dialect.read(native);
      expectFaults(reading.ok ? [] : reading.faults);
      expect({}).not.toHaveProperty('isError');
    });

    test('huge strings in valid places are cut in messages', () => {
      const huge = 'Error: x'.repeat(10_000);
      fc.assert(
        fc.property(NATIVES[name], native => {
          const reading = dialect.read(
            JSON.parse(JSON.stringify(native), (_, value) => enlarged(value, huge)),
          );
          for (const message of messagesOf(reading)) expect(message.length).toBeLessThan(MAX_MESSAGE);
        }),
        { numRuns: 10 },
      );
    });
  });

  describe(`${name}: writing`, () => {
    const written = fc.oneof(ANSWERS, ...DIALECT_NAMES.map(answersOf));

    test('a written answer can be read, with the same outcome unless a warning says otherwise', () => {
      fc.assert(
        fc.property(written, answer => {
          const { body, warnings } = dialect.write(deepFreeze(answer));
          const read = readSound(dialect, JSON.parse(JSON.stringify(body)));
          const features = warnings.map(({ feature }) => feature);
          if (!features.includes(answer.outcome.type))
            expect(read.answer.outcome.type).toBe(answer.outcome.type);
          expect(new Set(features).size).toBe(features.length);
        }),
        { numRuns: 500 },
      );
    });

    test('what is beside the payload is read back, or a warning names it', () => {
      fc.assert(
        fc.property(ANSWERS, answer => {
          const { body, warnings } = dialect.write(answer);
          const { beside = {} } = readSound(dialect, JSON.parse(JSON.stringify(body))).answer;
          const lost = Object.entries(answer.beside ?? {}).filter(
            ([feature, value]) =>
              JSON.stringify(Object(beside)[feature]) !== JSON.stringify(value) &&
              !warnings.some(warning => warning.feature === feature),
          );
          expect(lost).toEqual([]);
        }),
      );
    });

    test('warnings are short and name the message', () => {
      fc.assert(
        fc.property(written, answer => {
          for (const { message } of dialect.write(answer).warnings) {
            expect(message).toMatch(/^an? /);
            expect(message.length).toBeLessThan(MAX_MESSAGE);
          }
        }),
      );
    });

    test('a value that is not JSON does not throw', () => {
      fc.assert(
        fc.property(ANSWERS, ANYTHING, (answer, payload) => {
          dialect.write({ ...answer, payload, beside: { ...answer.beside, images: payload } });
        }),
      );
    });
  });
}

const answersOf = (name: Dialect['name']): fc.Arbitrary<Answer> =>
  NATIVES[name].map(native => {
    const reading = readAs(name, native);
    if (!reading.ok) throw new Error(reading.faults.join('; '));
    return reading.answer;
  });

/** A valid message with one value replaced. */
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
  for (const fault of faults) expect(fault.length).toBeLessThan(MAX_MESSAGE);
  expect(faults[0]).toMatch(/^\$/);
}

function messagesOf(reading: Reading): readonly string[] {
  if (!reading.ok) return reading.faults;
  const warnings = DIALECT_NAMES.flatMap(name => translate(reading, name).warnings);
  return [...reading.notes, ...warnings.map(({ message }) => message)];
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
