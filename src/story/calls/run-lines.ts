import type { Side } from '../../protocol/requirements.js';
import { type Conformance, conformanceOf } from '../../rules/conformance.js';
import type { Check } from '../../rules/judge.js';
import type { Redactor } from '../../text/redact.js';
import { type Around, reportLines } from '../checks/report-lines.js';
import { shareableRun } from '../checks/shareable-run.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';

/** What a call came to by the requirements of these sides: nothing is excused, and which call it is, is known. Secrets out. */
export function judgedRun(checks: readonly Check[], sides: readonly Side[], redactor: Redactor): Conformance {
  const rows = checks.map(({ calls, ...check }) => check);
  return shareableRun(conformanceOf(rows, [], { excuses: [], sides, isStrict: false }), redactor);
}

/** The same in lines, with a word about it where nothing is wrong. @param hasEnded as it was meant to, as far as is known */
export function runLines(
  run: Conformance,
  around: Omit<Around, 'whole' | 'width'>,
  hasEnded = true,
): readonly Line[] {
  const { verdict, summary } = run;
  const isFine = hasEnded && verdict === 'passed' && summary.warn === 0 && around.warnings.length === 0;
  return [
    ...(isFine ? fineLines(run) : []),
    ...reportLines(run, { ...around, whole: WHOLE, width: null }, false),
  ];
}

/** Where a person finds all of what is told shortly. */
const WHOLE = 'the tab Wire';

function fineLines({ summary: { pass } }: Conformance): Line[] {
  const held = `${pass} requirement${pass === 1 ? ' was' : 's were'} held`;
  return [[say('✓ ', 'good'), say('nothing wrong', 'title'), say(`: ${held}`)], []];
}
