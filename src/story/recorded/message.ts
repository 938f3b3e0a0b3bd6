import type { RequestEvent } from '../../exchange/events.js';
import { isRecord } from '../../text/is-record.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

/** What a recorded message is: its kind, what it is about, and its thread. */
export function messageWords({ purpose, body, calls: [call] = [], thread }: RequestEvent): Line {
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
