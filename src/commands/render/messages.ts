import type { Content } from '../../exchange/content.js';
import type { Event, RequestEvent } from '../../exchange/events.js';
import { requestWords, responseWords } from '../../story/calls/wire-words.js';
import type { Line } from '../../story/line.js';
import { bodyText, breakText } from '../../story/message-text.js';
import { quote, say } from '../../story/spans.js';
import { formatDuration } from '../../text/format-duration.js';
import { prettyJson } from '../../text/json-pretty.js';
import type { Redactor } from '../../text/redact.js';
import { type WholeLayout, wholeDrawing } from './whole-lines.js';

type End = Extract<Event, { kind: 'response' | 'broken' }>;

/** Every message of a call, whole, with its answer: each line is made when it is asked for. Secrets out. */
export function* messageLines(
  events: readonly Event[],
  redactor: Redactor,
  layout: WholeLayout,
): Generator<Line> {
  const ends = new Map<string, End>();
  for (const event of events)
    if (event.kind === 'response' || event.kind === 'broken') ends.set(event.leg, event);
  let isFirst = true;
  for (const event of events) {
    if (event.kind !== 'request' || event.purpose === 'discovery') continue;
    yield isFirst ? TITLE : [];
    isFirst = false;
    const end = ends.get(event.leg);
    yield [...requestWords(event, redactor), say('  '), ...endWords(event, end, redactor)];
    yield* bodyLines(event.body, INDENT, redactor, layout);
    if (end?.kind === 'response') yield* bodyLines(end.body, ANSWER, redactor, layout);
  }
}

const TITLE: Line = [say('MESSAGES', 'title')];
const INDENT = say('  ', 'gutter');
const ANSWER = say('  < ', 'gutter');

function endWords({ at }: RequestEvent, end: End | undefined, redactor: Redactor): Line {
  if (!end) return [say('not answered', 'warn')];
  const took = say(` after ${formatDuration(Math.max(0, end.at - at))}`, 'dim');
  if (end.kind === 'response') return [...responseWords(end, redactor), took];
  return [...quote(breakText(end), 'bad'), took];
}

function* bodyLines(
  body: Content | undefined,
  margin: Line[number],
  redactor: Redactor,
  layout: WholeLayout,
): Generator<Line> {
  const text = bodyText(body, redactor);
  if (text === null) return;
  const width = Math.max(1, layout.width - margin.text.length);
  const drawing = { kind: 'text', text: prettyJson(text) ?? text } as const;
  for (const line of wholeDrawing(drawing, { ...layout, width })) yield [margin, ...line];
}
