import { randomUUID } from 'node:crypto';
import { startHere } from './in-process.js';
import { fieldOf, type Peer } from './peers.js';
import type { Ended } from './program.js';
import { type Report, readReport } from './report.js';

/** An `invoke … -o json` that waits for its result, and the address it gave the tool. */
export interface PendingCall {
  readonly url: string;
  readonly origin: string;
  readonly token: string;
  readonly id: string;
  readonly thread: string;
  /** A message of the call's own, as a good tool sends it. */
  message(fields?: object): string;
  readonly ended: Promise<Ended>;
  report(): Promise<Report>;
}

/** Calls an operation that never answers, and reads the callback URL from the peer's log. */
export async function pendingCall(odd: Peer, ...args: readonly string[]): Promise<PendingCall> {
  const id = `pending-${randomUUID()}`;
  const call = ['invoke', odd.url, 'silent', '--id', id, '--timeout', '60s', '-o', 'json', ...args];
  const { ended } = startHere(call);
  const invocation = await odd.seen('invocation', entry => fieldOf(entry, 'id') === id);
  const url = fieldOf(invocation, 'callback_url');
  const thread = fieldOf(invocation, 'group_id');
  return {
    url,
    origin: new URL(url).origin,
    token: url.split('/').at(-1) ?? '',
    id,
    thread,
    message: fields => JSON.stringify({ type: 'tool_result', group_id: thread, id, text: 'done', ...fields }),
    ended,
    report: async () => readReport(await ended),
  };
}
