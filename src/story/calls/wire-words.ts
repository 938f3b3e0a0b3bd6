import type { Content } from '../../exchange/content.js';
import type { Event, RequestEvent, ResponseEvent } from '../../exchange/events.js';
import { shareableUrl } from '../../exchange/shareable.js';
import { bytesText } from '../../text/bytes-text.js';
import { cleanWords, type Redactor } from '../../text/redact.js';
import type { Line, Tone } from '../line.js';
import { breakText } from '../message-text.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

/** Characters of a URL. */
const MOST = 2_000;

/** `→ POST http://127.0.0.1:3001/invoke invocation, 312 bytes`: towards the tool, or from it. */
export function requestWords(event: RequestEvent, redactor: Redactor): Line {
  const { method, purpose, attempt, hop, body } = event;
  const about = [
    purpose,
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(hop === undefined ? [] : [hop]),
    ...sizeOf(body),
  ];
  return [
    say(event.from === 'tool' ? '← ' : '→ ', 'running'),
    ...clipped(`${method} ${shareableUrl(event, redactor)}`, 'title', MOST),
    say(` ${about.join(', ')}`, 'dim'),
  ];
}

/** What was answered, and why if a listener refused it. */
export function responseWords({ status, refusal, body }: ResponseEvent, redactor: Redactor): Line {
  const why = refusal === undefined ? [] : [say(' refused: '), ...clipped(cleanWords(redactor, refusal))];
  const size = sizeOf(body).map(words => say(` ${words}`, 'dim'));
  return [say('answered '), say(String(status), toneOf(status)), ...why, ...size];
}

export function breakWords(event: Extract<Event, { kind: 'broken' }>): Line {
  return clipped(breakText(event), 'bad');
}

function toneOf(status: number): Tone {
  return status >= 200 && status < 300 ? 'good' : 'bad';
}

function sizeOf(body: Content | undefined): string[] {
  if (!body || body.size === 0) return [];
  return [bytesText(body.size)];
}
