import type { Expectation, FixtureStatus, FixtureVerdict } from './report.js';

/** What verification knows of a fixture. */
export interface VerifiedFixture {
  readonly id: string;
  readonly place: string;
  readonly expect?: { readonly calls?: Expectation | undefined } | undefined;
}

/** @param hasRefused it refused a call, which is no call of its own, but a use: where nothing else is expected of it, that is enough. */
export function fixtureVerdict(
  { id, place, expect }: VerifiedFixture,
  calls: number,
  hasRefused = false,
): FixtureVerdict {
  const expected = expect?.calls;
  const status = hasRefused && !expected ? 'used' : statusOf(calls, expected);
  return { id, place, calls, status, ...(expected && { expected }) };
}

export function isFine({ status }: FixtureVerdict): boolean {
  return status === 'used' || status === 'not-needed';
}

/** Without a `min` it is one, unless no call at all is allowed. */
function statusOf(
  calls: number,
  { max = Number.POSITIVE_INFINITY, min = Math.min(1, max) }: Expectation = {},
): FixtureStatus {
  if (calls > max) return 'too-many';
  if (calls === 0) return min > 0 ? 'unused' : 'not-needed';
  return calls < min ? 'too-few' : 'used';
}
