import { isRecord } from '../../text/is-record.js';
import type { Spot } from '../spot.js';
import type { CallbackEvidence } from './evidence.js';

/** A text in a message, and where it stands: `text`, `display_as[0].content.patch`. */
export interface TextAt {
  readonly place: string;
  /** The same, step by step. */
  readonly path: Spot['path'];
  readonly text: string;
}

/** What a message says to a model or a person: its names and addresses, and the bytes of pictures, are none of it. */
const UNSAID = new Set(['type', 'group_id', 'id', 'call_id', 'tool_call_id', 'auth_url', 'response_url']);

export function textsOf({ reading }: CallbackEvidence): readonly TextAt[] {
  const message = reading?.ok && isRecord(reading.native) ? reading.native : {};
  return Object.entries(message).flatMap(([name, value]) => (UNSAID.has(name) ? [] : textsIn(value, [name])));
}

function textsIn(value: unknown, path: Spot['path']): TextAt[] {
  if (typeof value === 'string') return [{ place: placeOf(path), path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    isPicture(name, value) ? [] : textsIn(member, [...path, name]),
  );
}

function placeOf(path: Spot['path']): string {
  return path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

function isPicture(name: string, item: Readonly<Record<string, unknown>>): boolean {
  return name === 'data' && 'mediaType' in item;
}
