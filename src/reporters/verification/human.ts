import type { FixtureVerdict, VerificationReport } from '../../exchange/verification/report.js';
import { visibleLine } from '../../text/visible.js';
import { fixtureProblem, listed, summary, undeliveredText, unmatchedText } from './sentences.js';

/** For stderr: a line for each thing that went wrong, and one that sums it up. Every line is safe to print (threats, row 24). */
export function humanVerification(report: VerificationReport): string {
  const fixtures = report.fixtures.flatMap(fixture => {
    const problem = fixtureProblem(fixture);
    return problem === null ? [] : [`fixture ${named(fixture)} ${problem}`];
  });
  const unmatched = listed(report.unmatched, unmatchedText).map(text => `unmatched call: ${text}`);
  const undelivered = listed(report.undelivered, undeliveredText).map(
    text => `undelivered callback: ${text}`,
  );
  const problems = [...fixtures, ...unmatched, ...undelivered].map(problem => `✗ ${problem}`);
  const verdict = report.ok ? '✓ verified' : '✗ verification failed';
  return [...problems, `${verdict}: ${summary(report)}`].map(line => `${visibleLine(line)}\n`).join('');
}

/** A fixture without an id of its own is known by its place. */
function named({ id, place, answers }: FixtureVerdict): string {
  const about = id === place ? answers : place;
  return about === undefined ? id : `${id} (${about})`;
}
