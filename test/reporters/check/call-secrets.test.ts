import { describe, expect, test } from 'vitest';
import { conformanceOf } from '../../../src/check/conformance.js';
import type { ConcernedCall } from '../../../src/check/judge.js';
import { shareableRun } from '../../../src/render/check-report.js';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { createRedactor } from '../../../src/util/redact.js';
import { LOOK, STORY } from './story-of.js';

const SECRET = 'ghp_0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f';
/** So much of it would be told on a screen, too. */
const PIECE = SECRET.slice(0, 8);

const rowWith = (call: ConcernedCall) =>
  conformanceOf(
    [
      {
        id: 'TOOL-ID',
        side: 'tool',
        level: 'MUST',
        status: 'fail',
        reason: 'it is another',
        events: [],
        calls: [call],
      },
    ],
    [],
    { excuses: [], sides: ['tool'], isStrict: false },
  );

const caseWith = (call: ConcernedCall) =>
  conformanceOf(
    [],
    [
      {
        place: 'c.yaml:5',
        operation: 'list',
        status: 'fail',
        reason: 'no result',
        events: [],
        calls: [call],
      },
    ],
    { excuses: [], sides: ['tool'], isStrict: false },
  );

const RUNS = [
  ['the id of a call of a rule', rowWith({ operation: 'list', id: SECRET })],
  ['the operation of a call of a rule', rowWith({ operation: SECRET, id: 'a' })],
  ['the id of a call of a case', caseWith({ operation: 'list', id: SECRET })],
  ['the operation of a call of a case', caseWith({ operation: SECRET, id: 'a' })],
] as const;

const redactor = createRedactor([SECRET]);

describe.each(Object.entries(CHECK_FORMATS))('threats, row 25: %s', (_, format) => {
  test.each(RUNS)('no secret that is %s', (_name, run) => {
    expect(format({ ...STORY, run }, LOOK)).toContain(PIECE);
    const text = format({ ...STORY, run: shareableRun(run, redactor) }, LOOK);
    expect(text).not.toContain(PIECE);
    expect(text).toContain('redacted');
  });
});
