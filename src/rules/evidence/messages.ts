import { typeOfMessage } from '../../exchange/callback-delivery.js';
import { idOf } from '../../exchange/judge.js';
import type { Callback, CallbackType } from '../../protocol/callbacks/index.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { CallbackEvidence, CallEvidence } from './evidence.js';

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
  const [mine, others] = [one.request.body, other.request.body];
  if (!mine || !others) return false;
  if (mine.sha256 === others.sha256) return true;
  return one.reading?.ok === true && other.reading?.ok === true && sameJson(one.reading, other.reading);
}

function sameJson(one: { readonly message: Callback }, other: { readonly message: Callback }): boolean {
  return JSON.stringify(one.message) === JSON.stringify(other.message);
}
