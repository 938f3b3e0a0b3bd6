import { safeJson } from '../../util/safe-json.js';

/** Where a value is in a request, such as `['body', 'results', 0]`. */
export type Path = readonly (string | number)[];

/** One error in a request, in the platform's format: what, where, and the value. */
export interface Detail {
  readonly type: string;
  readonly loc: Path;
  readonly msg: string;
  readonly input: unknown;
}

/** Maximum length of the JSON of a value in an error, in characters; a longer one is cut. */
const MAX_INPUT_LENGTH = 200;

/** Maximum number of errors in one response. */
export const MAX_DETAILS = 100;

export function detail(type: string, loc: Path, msg: string, input: unknown = null): Detail {
  const json = safeJson(input);
  const isShort = json.length <= MAX_INPUT_LENGTH;
  return { type, loc, msg, input: isShort ? input : `${json.slice(0, MAX_INPUT_LENGTH)}…` };
}

/** Why a session that is over takes nothing more. */
export const FINISHED = 'Session has already finished.';

/** The platform's names of types whose names in zod differ. */
const TYPES: Readonly<Record<string, string>> = { object: 'dict', record: 'dict', array: 'list' };

export function wrongType(expected: string, loc: Path, input: unknown): Detail {
  const type = TYPES[expected] ?? expected;
  return detail(`${type}_type`, loc, `Input should be a valid ${type}`, input);
}

/** Thrown while a request is read; becomes the response. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly why: string | readonly Detail[],
  ) {
    super(`refused with ${status}`);
  }
}
