import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Answer, Dialect, Feature, SoundReading, Writing } from '../../src/dialects/dialect.js';
import { featuresOf } from '../../src/dialects/losses.js';

/** As it comes at the other end of a wire. */
export const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value));

/** What was read of a message that is known to be sound. */
export function readSound(dialect: Dialect, native: unknown): SoundReading {
  const reading = dialect.read(native);
  if (!reading.ok) throw new Error(`${dialect.name} cannot read it: ${reading.faults.join('; ')}`);
  return reading;
}

/** Every feature that an answer had is in what was read, or was reported as lost: never both, never neither. */
export function expectNothingLostInSilence(answer: Answer, { losses }: Writing, read: Answer): void {
  const lost = losses.map(({ feature }) => feature);
  const gone = [...featuresOf(answer)].filter(([feature, value]) => !isThere(read, feature, value));
  const isNameMadeUp = answer.call.tool === undefined && read.call.tool === ''; // which is reported too
  const told = [...gone.map(([feature]) => feature), ...(isNameMadeUp ? ['tool'] : [])];
  expect(lost.toSorted()).toEqual(told.toSorted());
}

/** The model gets a text where its outcome was taken for another one, too; a text that is JSON may come back as that JSON, or as its text without blanks. */
export function isThere(read: Answer, feature: Feature, value: unknown): boolean {
  const back = feature === 'text' ? read.payload : featuresOf(read).get(feature);
  if (back === undefined) return false;
  return isDeepStrictEqual(sent(back), sent(value)) || (feature === 'text' && isJsonOf(value, back));
}

function isJsonOf(text: unknown, back: unknown): boolean {
  try {
    const value = JSON.parse(String(text));
    return (
      isDeepStrictEqual(value, back) ||
      (typeof back === 'string' && isDeepStrictEqual(value, JSON.parse(back)))
    );
  } catch {
    return false;
  }
}
