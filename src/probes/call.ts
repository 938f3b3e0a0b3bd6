import { randomUUID } from 'node:crypto';
import { readAcknowledgement } from '../runtime/read-acknowledgement.js';
import { type About, send } from '../runtime/wire.js';
import { TransportError } from '../transport/client.js';
import type { Answering } from './answering.js';
import { deferred } from './deferred.js';
import type { Desk } from './desk.js';
import { goAlong } from './flows/go-along.js';
import type { Mailbox } from './mailbox.js';

/** What is sent: a valid call, and how it is to differ from one. */
export interface Stimulus {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** In place of a valid invocation's fields, or beside them; undefined leaves one out. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The callback URL, written in another way. */
  readonly addressed?: (url: string) => string;
  /** The body, in place of the invocation. */
  readonly body?: (invocation: Readonly<Record<string, unknown>>) => string;
  /** Whether a subscription that it starts is followed to its end; left after its first event unless told. */
  readonly isFollowed?: boolean;
  /** What its callbacks are answered; 200 unless told. */
  readonly answers?: readonly Answering[];
}

/** A call that was made. */
export interface Probed {
  readonly key: string;
  readonly id: string;
  readonly thread: string;
  readonly mailbox: Mailbox;
  /** Resolves once its invocation is answered, or is not. */
  readonly acknowledged: Promise<void>;
  /** Resolves once its conversation is over, as far as that is ours. */
  readonly converse: () => Promise<void>;
}

/** Sends an invocation, once, and goes along with what its tool says. */
export function startCall(desk: Desk, key: string, stimulus: Stimulus): Probed {
  const {
    answers = [200],
    addressed = url => url,
    body = JSON.stringify,
    fields,
    isFollowed = false,
  } = stimulus;
  const { id, thread, invocation } = invocationOf(stimulus);
  const { promise: acknowledged, resolve } = deferred<void>();
  const { url, mailbox } = desk.listener.open({ key, thread, answers, acknowledged });
  const call = { key, id, thread, mailbox, acknowledged };
  const converse = goAlong(desk, { ...call, isFollowed });
  desk.threads.add(thread);
  resolve(post(desk, call, body({ ...invocation, callback_url: addressed(url), ...fields })));
  return { ...call, converse };
}

/** Its ids are those that are sent, where they are any. */
function invocationOf({ operation, arguments: args, fields = {} }: Stimulus) {
  const id = textOr(fields['id'], `call_${randomUUID()}`);
  const thread = textOr(fields['group_id'], `thread_${randomUUID()}`);
  const call_id = `model_${randomUUID()}`;
  return { id, thread, invocation: { operation, arguments: args, id, call_id, group_id: thread } };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** However it ends, that is in the log. */
async function post(
  { wire, endpoint, answerMs, signal }: Desk,
  { key, thread }: Pick<Probed, 'key' | 'thread'>,
  body: string,
): Promise<void> {
  const about: About = { purpose: 'invocation', attempt: 1, calls: [key], thread };
  try {
    await send(wire, about, {
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body),
      read: readAcknowledgement,
      signal,
      timeoutMs: answerMs,
    });
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
  }
}
