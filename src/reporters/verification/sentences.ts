import type {
  Expectation,
  Findings,
  FixtureVerdict,
  UndeliveredCallback,
  UnmatchedCall,
  VerificationReport,
} from '../../exchange/verification/report.js';

/*
 * What went wrong, in words. Texts in here are foreign and not yet made visible.
 */

/** Null where the fixture is fine. */
export function fixtureProblem({ calls, status, expected }: FixtureVerdict): string | null {
  if (status === 'used' || status === 'not-needed') return null;
  if (status === 'unused' && expected?.min === undefined) return 'was never used';
  return `was ${called(calls)}, expected ${range(expected)}`;
}

export function unmatchedText({ operation, id, group_id, reason, nearest }: UnmatchedCall): string {
  const call = `${callText(operation, id)}${group_id === null ? '' : ` of ${group_id}`}`;
  if (reason !== undefined) return `${call}: ${reason}`;
  if (!nearest) return `${call}: no fixture matches`;
  return `${call}: no fixture matches; the nearest is ${nearest.fixture}: ${nearest.path} ${nearest.reason}`;
}

export function undeliveredText({ operation, id, url, type, why }: UndeliveredCallback): string {
  const what = type === undefined ? '' : `${type} for `;
  return `${what}${callText(operation, id)}${url === null ? '' : ` to ${url}`}: ${why}`;
}

/** Those that are shown, and how many are not. */
export function listed<T>({ count, examples }: Findings<T>, text: (example: T) => string): string[] {
  const more = count - examples.length;
  return [...examples.map(text), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** `7 calls, 2 of 5 fixtures not as expected, 1 unmatched call, 3 undelivered callbacks` */
export function summary({ calls, fixtures, unmatched, undelivered }: VerificationReport): string {
  const failed = fixtures.filter(fixture => fixtureProblem(fixture) !== null).length;
  const parts = [
    failed > 0
      ? `${failed} of ${counted(fixtures.length, 'fixture')} not as expected`
      : counted(fixtures.length, 'fixture'),
    unmatched.count > 0 ? counted(unmatched.count, 'unmatched call') : '',
    undelivered.count > 0 ? counted(undelivered.count, 'undelivered callback') : '',
  ];
  return `${counted(calls, 'call')}, ${parts.filter(Boolean).join(', ')}`;
}

function callText(operation: string | null, id: string | null): string {
  return `${operation ?? 'a call without an operation'}${id === null ? '' : ` (${id})`}`;
}

function range({ min, max }: Expectation = {}): string {
  if (min !== undefined && min === max) return `${min}`;
  const parts = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`];
  return parts.filter(Boolean).join(' and ');
}

function called(count: number): string {
  if (count === 0) return 'never called';
  return count === 1 ? 'called once' : `called ${count} times`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
