import type { Session } from '../../exchange/session/session.js';
import { compactJson } from '../../text/compact-json.js';
import { prettyJson } from '../../text/json-pretty.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { textLines } from '../text-lines.js';
import { clipped } from '../tool-calls/clip.js';

const MOST = 500;

/** What a session came to: its error, its answer; nothing where it has neither. */
export function finalWords({ error, answer }: Session): Line {
  return [
    ...(error === null ? [] : [say(': '), ...clipped(error, 'bad', MOST)]),
    ...(answer === null ? [] : [say(': '), ...clipped(answerText(answer.value), 'plain', MOST)]),
  ];
}

/** The answer of an agent as a text: a string as it is, other JSON as it is written. */
export function answerText(value: unknown): string {
  return typeof value === 'string' ? value : (compactJson(value) ?? '');
}

/** The answer of an agent whole, under a heading; nothing where it says nothing. */
export function finalLines({ answer }: Pick<Session, 'answer'>): Line[] {
  if (answer === null) return [];
  const text = answerText(answer.value);
  const { lines } = textLines(prettyJson(text) ?? text, Number.POSITIVE_INFINITY);
  return [[say('ANSWER', 'title')], ...lines];
}
