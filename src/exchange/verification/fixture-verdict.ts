import { compactJson } from '../../text/compact-json.js';
import { cut } from '../../text/cut.js';
import { isRecord } from '../../text/is-record.js';
import type { Expectation, FixtureStatus, FixtureVerdict } from './report.js';

/** What verification knows of a fixture. */
export interface VerifiedFixture {
  readonly id: string;
  readonly place: string;
  readonly match?: { readonly operation?: unknown; readonly arguments?: unknown } | undefined;
  readonly expect?: { readonly calls?: Expectation | undefined } | undefined;
}

/** @param hasRefused it refused a call, which is no call of its own, but a use: where nothing else is expected of it, that is enough. */
export function fixtureVerdict(
  { id, place, match, expect }: VerifiedFixture,
  calls: number,
  hasRefused = false,
): FixtureVerdict {
  const expected = expect?.calls;
  const status = hasRefused && !expected ? 'used' : statusOf(calls, expected);
  return { id, place, ...answersOf(place, match), calls, status, ...(expected && { expected }) };
}

/** Characters of it. */
const LONGEST = 120;

/** Those of a file that was read as JSON, or of a recording, are numbered: `run.ndjson#2`. */
function answersOf(place: string, match: VerifiedFixture['match']): { answers?: string } {
  if (!match || !/#\d+$/.test(place)) return {};
  const { operation = 'any operation', arguments: args } = match;
  const told = [operation, wanted(args)].filter(each => each !== undefined);
  const words = told.map(each => (typeof each === 'string' ? each : compactJson(each)));
  return { answers: cut(words.join(' '), LONGEST) };
}

/** Those of a recording are exactly these. */
function wanted(args: unknown): unknown {
  return isRecord(args) ? (args['$exact'] ?? args['$eq'] ?? args) : args;
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
