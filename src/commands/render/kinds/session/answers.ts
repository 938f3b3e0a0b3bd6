import * as z from 'zod/mini';
import type { Reading, SoundReading } from '../../../../dialects/dialect.js';
import { readAs } from '../../../../dialects/index.js';
import { validate } from '../../../../protocol/validate.js';
import { problemLines } from '../../../../story/saved/problem-lines.js';
import { say } from '../../../../story/spans.js';
import { linesSection } from '../../sheet.js';
import { answerReport, answerSections, noted, savedAnswer, warningsOf } from '../answer.js';
import type { Kind, Saved } from '../kind.js';

/** One settled call, as it is posted to an agent session. */
export const settledCallKind: Kind = {
  name: 'a settled call of an agent session (tool_result, error_event)',
  dialect: 'session',
  keys: ['kind', 'tool_req', 'result', 'error', 'origin'],
  isMeant: value => 'kind' in value && 'tool_req' in value,
  async read({ value, notes }) {
    const reading = readAs('session', value);
    return reading.ok ? { ok: true, saved: savedAnswer(nameOf(reading), noted(reading, notes)) } : reading;
  },
};

const batchSchema = z.object({ type: z.literal('batch'), results: z.array(z.unknown()) });

/** Several of them in one body. */
export const batchKind: Kind = {
  name: 'a batch of settled calls of an agent session',
  dialect: 'session',
  keys: ['type', 'results'],
  isMeant: ({ type }) => type === 'batch',
  async read({ value, notes }) {
    const checked = validate(batchSchema, value);
    if (!checked.ok) return checked;
    const readings = checked.value.results.map(result => readAs('session', result));
    const faults = readings.flatMap(faultsAt);
    return faults.length > 0
      ? { ok: false, faults }
      : { ok: true, saved: savedBatch(value, readings.flatMap(soundOf), notes) };
  },
};

function savedBatch(native: unknown, readings: readonly SoundReading[], notes: readonly string[]): Saved {
  const warnings = [...notes.map(message => ({ message })), ...readings.flatMap(warningsOf)];
  return {
    sections: () => [
      ...readings.flatMap((reading, index) => [
        linesSection([[say(`CALL ${index + 1} of ${readings.length}`, 'title')]]),
        ...answerSections(nameOf(reading), reading),
      ]),
      linesSection(readings.length === 0 ? [[say('a batch without any call')]] : []),
      linesSection(problemLines(warnings)),
    ],
    report: () => ({
      kind: 'batch',
      results: readings.map(reading => ({ message: reading.native, ...answerReport(reading) })),
      warnings,
    }),
    answers: to =>
      to === 'session'
        ? [{ dialect: to, native, at: [] }]
        : readings.map((reading, index) => ({ ...reading, at: ['results', index] })),
    faults: [],
  };
}

/** An outcome that is not known here has the name that it came with. */
export function nameOf({ answer: { outcome } }: SoundReading): string {
  if (outcome.type === 'unknown') return String(outcome.raw);
  return outcome.type === 'success' ? 'tool_result' : 'error_event';
}

function faultsAt(reading: Reading, index: number): string[] {
  return reading.ok ? [] : reading.faults.map(fault => fault.replace(/^\$/, `$.results[${index}]`));
}

const soundOf = (reading: Reading): SoundReading[] => (reading.ok ? [reading] : []);
