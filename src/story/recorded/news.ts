import type { Event, RequestEvent } from '../../exchange/events.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { messageWords } from './message.js';

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

/**
 * Tells a recording while it is made, a line for each message once it is answered; null for what is no news by itself. A message is
 * told where it came in, and where it goes on to only if that fails.
 */
export function recordedNews(): (event: Event) => Line | null {
  const open = new Map<string, RequestEvent>();
  return event => {
    if (event.kind === 'request') open.set(event.leg, event);
    if (event.kind === 'warned') return [say('! ', 'warn'), ...clipped(event.message, 'warn', 2_000)];
    if (event.kind !== 'response' && event.kind !== 'broken') return null;
    const request = open.get(event.leg);
    open.delete(event.leg);
    return request ? endOf(request, event) : null;
  };
}

function endOf(request: RequestEvent, event: EndEvent): Line | null {
  const isFarSide = request.hop === (request.from === 'tool' ? 'runtime-side' : 'tool-side');
  if (isFarSide) return event.kind === 'broken' ? [say('! ', 'warn'), ...troubleWords(request, event)] : null;
  const direction = say(request.from === 'tool' ? '← ' : '→ ', 'running');
  return [direction, ...messageWords(request), say('  '), ...answerWords(event), took(request, event)];
}

function troubleWords({ to }: RequestEvent, { code }: Extract<EndEvent, { kind: 'broken' }>): Line {
  return [say(`no answer from the ${to}: `, 'warn'), ...quote(code, 'warn')];
}

function answerWords(event: EndEvent): Line {
  if (event.kind === 'broken') return [say('broken off: ', 'bad'), ...quote(event.code, 'bad')];
  const { status, refusal } = event;
  const words = [say(String(status), status < 300 ? 'good' : 'bad')];
  return refusal === undefined ? words : [...words, say(' refused: ', 'bad'), ...quote(refusal, 'bad')];
}

function took({ at }: RequestEvent, event: EndEvent) {
  return say(` in ${formatDuration(event.at - at)}`, 'dim');
}
