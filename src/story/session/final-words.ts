import type { Session } from '../../exchange/session/session.js';
import { foreignWords } from '../../text/foreign-words.js';
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
    ...(answer === null ? [] : [say(': '), ...clipped(foreignWords(answer.value), 'plain', MOST)]),
  ];
}

/** The answer of an agent whole, under a heading; nothing where it says nothing. */
export function finalLines({ answer }: Pick<Session, 'answer'>): Line[] {
  if (answer === null) return [];
  const text = foreignWords(answer.value);
  const { lines } = textLines(prettyJson(text) ?? text, Number.POSITIVE_INFINITY);
  return [[say('ANSWER', 'title')], ...lines];
}
