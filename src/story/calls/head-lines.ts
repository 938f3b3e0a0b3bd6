import type { Event, RequestEvent, ResponseEvent } from '../../exchange/events.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Redactor } from '../../text/redact.js';
import type { Line } from '../line.js';
import { breakText, headText } from '../message-text.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

/** A request, and what became of it; null as long as nobody knows. */
export interface Leg {
  readonly request: RequestEvent;
  readonly end: Extract<Event, { kind: 'response' | 'broken' }> | null;
}

/** Characters of one line of a head. */
const MOST = 8_000;

/** The head of a request as curl shows it; secrets out. */
export function requestHead(request: RequestEvent, redactor: Redactor): readonly Line[] {
  const about = [request.purpose, ...(request.hop === undefined ? [] : [request.hop])].join(', ');
  return headLines('> ', request, redactor, say(`  ${about}`, 'dim'));
}

/** That of its answer, or why there is none. */
export function endHead({ request, end }: Leg, redactor: Redactor): readonly Line[] {
  if (end === null) return [[say('… ', 'running'), say('not answered yet', 'dim')]];
  const took = say(`  after ${formatDuration(Math.max(0, end.at - request.at))}`, 'dim');
  if (end.kind === 'response') return headLines('< ', end, redactor, took);
  return [[say('* ', 'bad'), ...clipped(breakText(end), 'bad'), took]];
}

function headLines(
  sign: string,
  event: RequestEvent | ResponseEvent,
  redactor: Redactor,
  aside: Line[number],
): readonly Line[] {
  const [first, ...fields] = headText(event, redactor);
  return [
    [say(sign, 'gutter'), ...clipped(first, 'title', MOST), aside],
    ...fields.map((field): Line => [say(sign, 'gutter'), ...clipped(field, 'plain', MOST)]),
  ];
}
