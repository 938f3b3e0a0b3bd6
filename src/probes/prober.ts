import { randomUUID } from 'node:crypto';
import { send } from '../runtime/wire.js';
import { TransportError } from '../transport/client.js';
import type { Answering } from './answering.js';
import { deferred } from './deferred.js';
import { type Desk, type Plan, recordPlan } from './desk.js';
import { goAlong } from './flows/go-along.js';
import { came, type Letter, type Mailbox } from './mailbox.js';
import { cameBy } from './patience.js';
import { readAcknowledgement } from './read-acknowledgement.js';

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

/** Makes the calls of one plan. */
export interface Prober {
  send(stimulus: Stimulus): Probed;
  /** Waits for a call's result, and the end of its conversation; that none came in time is told. */
  finish(call: Probed): Promise<void>;
  /** Sends, and waits until that is finished. */
  call(stimulus: Stimulus): Promise<Probed>;
  /** Waits for what is to come for a call, `ms` at most, the window unless told. False where it did not, which is told. */
  sees(call: Probed, isEnough: (letters: readonly Letter[]) => boolean, ms?: number): Promise<boolean>;
}

/** Calls are named by their plan, and counted: the same in each run. */
export function proberFor(desk: Desk, plan: Plan): Prober {
  let count = 0;
  const { wire, signal, windowMs } = desk;
  const prober: Prober = {
    send(stimulus) {
      const call = opened(desk, `${plan.id} ${++count}`, stimulus);
      recordPlan(wire, plan, [call.key]);
      return call.start();
    },
    async finish(call) {
      await prober.sees(call, came('tool_result'));
      await Promise.all([call.acknowledged, call.converse()]);
    },
    async call(stimulus) {
      const call = prober.send(stimulus);
      await prober.finish(call);
      return call;
    },
    async sees({ key, mailbox }, isEnough, ms = windowMs) {
      const isSeen = await cameBy(desk, ms, mailbox.until(isEnough));
      if (!isSeen && !signal.aborted)
        wire.log.emit({ kind: 'expired', what: 'observation', afterMs: ms, calls: [key] });
      return isSeen;
    },
  };
  return prober;
}

function opened(desk: Desk, key: string, stimulus: Stimulus) {
  const { answers = [200], addressed = url => url } = stimulus;
  const id = `call_${randomUUID()}`;
  const thread = `thread_${randomUUID()}`;
  const { promise: acknowledged, resolve: acknowledge } = deferred<void>();
  const { url, mailbox } = desk.listener.open({ key, thread, answers, acknowledged });
  const { operation, arguments: args, fields } = stimulus;
  const invocation = {
    operation,
    arguments: args,
    id,
    call_id: `model_${randomUUID()}`,
    callback_url: addressed(url),
    group_id: thread,
    ...fields,
  };
  const call = { key, id, thread, mailbox, acknowledged };
  const start = (): Probed => {
    const converse = goAlong(desk, call);
    const body = (stimulus.body ?? JSON.stringify)(invocation);
    void post(desk, call, Buffer.from(body)).finally(acknowledge);
    return { ...call, converse };
  };
  return { key, start };
}

/** Once, however it ends: that is in the log. */
async function post(
  desk: Desk,
  { key, thread }: Pick<Probed, 'key' | 'thread'>,
  body: Uint8Array,
): Promise<void> {
  const { wire, endpoint, windowMs, signal, threads } = desk;
  threads.add(thread);
  try {
    await send(
      wire,
      { purpose: 'invocation', attempt: 1, calls: [key], thread },
      {
        method: 'POST',
        url: endpoint,
        headers: { 'content-type': 'application/json' },
        body,
        read: readAcknowledgement,
        signal,
        timeoutMs: windowMs,
      },
    );
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
  }
}
