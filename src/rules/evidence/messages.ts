import { typeOfMessage } from '../../exchange/callback-delivery.js';
import { Content } from '../../exchange/content.js';
import { idOf } from '../../exchange/judge.js';
import type { Callback, CallbackType } from '../../protocol/callbacks/index.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { CallbackEvidence, CallEvidence } from './evidence.js';
import { indexAfter } from './leg.js';

/** A callback that could be read, and what it says. */
export interface Told<Type extends CallbackType = CallbackType> {
  readonly callback: CallbackEvidence;
  readonly message: Extract<Callback, { type: Type }>;
}

/** What came to a call's URL and could be read, oldest first. */
export function told({ callbacks }: Pick<CallEvidence, 'callbacks'>): readonly Told[] {
  return callbacks.flatMap(callback =>
    callback.reading?.ok ? [{ callback, message: callback.reading.message }] : [],
  );
}

/** The first of a call's messages after an event, by its `seq`, that is wanted. */
export function firstToldAfter(
  seq: number,
  call: Pick<CallEvidence, 'callbacks'>,
  isWanted: (message: Callback) => boolean,
): Told | undefined {
  const { callbacks } = call;
  for (let at = indexAfter(seq, callbacks); at < callbacks.length; at++) {
    const callback = callbacks[at];
    const message = callback?.reading?.ok ? callback.reading.message : null;
    if (callback && message && isWanted(message)) return { callback, message };
  }
  return undefined;
}

export function toldAs<Type extends CallbackType>(
  call: Pick<CallEvidence, 'callbacks'>,
  type: Type,
): readonly Told<Type>[] {
  return told(call).flatMap(({ callback, message }) => (isA(type, message) ? [{ callback, message }] : []));
}

function isA<Type extends CallbackType>(type: Type, message: Callback): message is Told<Type>['message'] {
  return message.type === type;
}

/** The `type` that a callback gives itself, sound or not; null where it cannot be known. */
export function typeIn({ request }: CallbackEvidence): string | null {
  return typeOfMessage(request.body ?? null);
}

/** Whether a message names the call to whose URL it came. */
export function isOwn(message: Callback, { group_id, id }: Invocation): boolean {
  return message.group_id === group_id && (idOf(message) ?? id) === id;
}

/** Whether two callbacks say the same: in the same bytes, or in the same words. */
export function saysTheSame(one: CallbackEvidence, other: CallbackEvidence): boolean {
  const saying = sayingOf(one);
  return saying !== null && saying === sayingOf(other);
}

/** What a callback says, to be compared: alike for the same words in other bytes. Null where it has no body. */
export function sayingOf({ request: { body }, reading }: CallbackEvidence): string | null {
  if (!body) return null;
  if (!reading?.ok) return body.sha256;
  const known = sayings.get(reading.message) ?? Content.ofJson(reading.message).sha256;
  sayings.set(reading.message, known);
  return known;
}

/** Written once each: a call may have thousands of callbacks. */
const sayings = new WeakMap<Callback, string>();
