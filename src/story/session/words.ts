import type { SessionCall } from '../../exchange/session/session.js';
import type { JudgedOutcome } from '../../outcome/outcome.js';
import { compactJson } from '../../text/compact-json.js';
import { isRecord } from '../../text/is-record.js';
import type { Line, Tone } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

/** Characters of arguments, and of what a model gets, that tell one call from another. */
const SHORT = 80;

/** Which call it is: its tool, its arguments in short, its id. */
export function callWords({ tool, args, id, key }: Pick<SessionCall, 'tool' | 'args' | 'id' | 'key'>): Line {
  const short = shortArgs(args);
  return [
    ...clipped(tool, 'title'),
    ...(short.length > 0 ? [say(' '), ...short] : []),
    say(' '),
    ...clipped(id === null ? `${key} (no id)` : key, 'dim'),
  ];
}

/** Arguments on one line; nothing where there are none. */
export function shortArgs(args: unknown, tone: Tone = 'plain'): Line {
  if (args === undefined || args === null || (isRecord(args) && Object.keys(args).length === 0)) return [];
  return shortText(compactJson(args) ?? '', tone);
}

/** The beginning of a foreign text, on one line. */
export function shortText(text: string, tone: Tone = 'plain'): Line {
  return clipped(text.length <= SHORT ? text : `${text.slice(0, SHORT).toWellFormed()}…`, tone);
}

const TONES: Readonly<Record<JudgedOutcome['type'], Tone>> = {
  success: 'good',
  error: 'bad',
  canceled: 'warn',
  timeout: 'warn',
  denied: 'warn',
  unknown: 'warn',
};

const BASES: Readonly<Record<JudgedOutcome['basis'], string>> = {
  declared: '',
  convention: ' (by convention)',
  ours: ' (ours)',
  assumed: '',
};

/** An outcome in a word, and where it is known from if the wire did not say it. */
export function outcomeWords({ type, basis }: JudgedOutcome): Line {
  const from = type === 'timeout' && basis === 'ours' ? ' (our own limit)' : BASES[basis];
  return [say(type, TONES[type]), ...(from === '' ? [] : [say(from, 'dim')])];
}
