import type { Event, RequestEvent } from '../../events/events.js';
import { isClosed, quietPipes } from '../../system/streams.js';
import { formatDuration } from '../../util/format-duration.js';
import { isRecord } from '../../util/json-diagnosis.js';
import type { Redactor } from '../../util/redact.js';
import { clipped, elapsed, type Line, quote, say } from '../line.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import { createTheme, dressLine } from '../terminal/theme.js';

/** What a recorded message is: its kind, what it is about, and its thread. */
function messageWords({ purpose, body, calls: [call] = [], thread }: RequestEvent): Line {
  const message = body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
  const named = (name: string) => (typeof message[name] === 'string' ? clipped(message[name]) : []);
  const kind = purpose === 'callback' ? named('type') : [say(purpose)];
  const words = [
    kind.length > 0 ? kind : [say('callback')],
    purpose === 'invocation' ? named('operation') : [],
    call === undefined ? [] : clipped(call),
    thread === undefined ? [] : [say('(', 'dim'), ...clipped(thread, 'dim'), say(')', 'dim')],
  ];
  return words
    .filter(word => word.length > 0)
    .flatMap((word, index) => (index === 0 ? word.map(titled) : [say(' '), ...word]));
}

const titled = ({ text, tone }: Line[number]) => say(text, tone === 'plain' ? 'title' : tone);

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

/**
 * Tells a recording in lines while it is made. Foreign text is safe to print (threats, row 24), and has no secrets that `redactor`
 * knows (row 25).
 * @returns the listener for its events
 */
export function recordedPlain(
  stream: NodeJS.WritableStream,
  { level, redactor }: { readonly level: ColourLevel; readonly redactor: Redactor },
): (event: Event) => void {
  const theme = createTheme(level);
  const newsOf = recordedNews();
  quietPipes(stream);
  return event => {
    const line = newsOf(event);
    if (!line || isClosed(stream)) return;
    const time = say(`${elapsed(event.at).padStart(8)} `, 'dim');
    const clean = line.map(span => ({ ...span, text: redactor.text(span.text) }));
    stream.write(`${dressLine([time, ...clean], theme)}\n`);
  };
}
