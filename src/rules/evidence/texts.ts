import { isRecord } from '../../text/is-record.js';
import type { CallbackEvidence } from './evidence.js';

/** A text in a message, and where it stands: `text`, `display_as[0].content.patch`. */
export interface TextAt {
  readonly place: string;
  readonly text: string;
}

/** What a message says to a model or a person: its names and addresses, and the bytes of pictures, are none of it. */
const UNSAID = new Set(['type', 'group_id', 'id', 'call_id', 'tool_call_id', 'auth_url', 'response_url']);

export function textsOf({ reading }: CallbackEvidence): readonly TextAt[] {
  const message = reading?.ok && isRecord(reading.native) ? reading.native : {};
  return Object.entries(message).flatMap(([name, value]) => (UNSAID.has(name) ? [] : textsIn(value, name)));
}

function textsIn(value: unknown, place: string): TextAt[] {
  if (typeof value === 'string') return [{ place, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, `${place}[${index}]`));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    isPicture(name, value) ? [] : textsIn(member, `${place}.${name}`),
  );
}

function isPicture(name: string, item: Readonly<Record<string, unknown>>): boolean {
  return name === 'data' && 'mediaType' in item;
}
