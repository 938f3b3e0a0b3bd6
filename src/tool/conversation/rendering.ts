import { Content } from '../../exchange/content.js';
import type { CallbackFault } from '../../fixtures/faults.js';
import { inLayout } from '../../text/json-layout.js';

type Message = Readonly<Record<string, unknown>>;

/** A callback as it will go over the wire. */
export interface Rendering {
  readonly body: Content;
  readonly contentType: string;
  readonly isSlow: boolean;
  /** Milliseconds until it goes out. */
  readonly lateMs: number;
  /** How often it is sent: 0 where it is dropped on purpose. */
  readonly copies: 0 | 1 | 2;
}

/** One byte more than a listener takes by default. */
const TOO_MUCH = 64 * 1024 * 1024 + 1;

/** A message with the faults it was given; without any it is plain JSON (TOOL-POST). */
export function render(message: Message, faults: readonly CallbackFault[], layout?: string): Rendering {
  const jsonOf = (value: Message) => (layout === undefined ? JSON.stringify(value) : inLayout(layout, value));
  if (faults.length === 0) return { body: new Content(Buffer.from(jsonOf(message))), ...FLAWLESS };
  const has = (kind: CallbackFault['kind']) => faults.some(fault => fault.kind === kind);
  const lateMs = faults.reduce((sum, fault) => sum + (fault.kind === 'late' ? fault.ms : 0), 0);
  return {
    body: new Content(Buffer.from(source(jsonOf(misdirected(message, has)), has))),
    contentType: has('wrong-type') ? 'text/plain' : 'application/json',
    isSlow: has('slow'),
    lateMs,
    copies: has('drop') ? 0 : has('duplicate') ? 2 : 1,
  };
}

const FLAWLESS = { contentType: 'application/json', isSlow: false, lateMs: 0, copies: 1 } as const;

function source(json: string, has: (kind: CallbackFault['kind']) => boolean): string {
  if (has('malformed')) return json.slice(0, -1);
  return has('oversize') ? json.padEnd(TOO_MUCH) : json;
}

function misdirected(message: Message, has: (kind: CallbackFault['kind']) => boolean): Message {
  const field = idField(message);
  return {
    ...message,
    ...(has('wrong-id') && Object.hasOwn(message, field) && { [field]: 'an-id-of-nobody' }),
    ...(has('wrong-group') && { group_id: 'a-thread-of-nobody' }),
  };
}

function idField(message: Message): string {
  return message['type'] === 'subscription_event' ? 'tool_call_id' : 'id';
}
