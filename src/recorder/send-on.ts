import { Content } from '../exchange/content.js';
import type { HttpAnswer, HttpRequest, ReadLimit } from '../transport/client.js';
import { TransportError } from '../transport/client.js';
import type { Desk } from './desk.js';
import { isFromTool, type Matter, type Response, tellRequest } from './leg.js';

/** Where a message goes on to, and how. */
export interface Onward {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Content | undefined;
  readonly signal?: AbortSignal;
}

/** The answers of a toolset are read whole; of thanks, this much. */
const MOST_TOOLSET = 10 * 1024 * 1024;
const MOST_THANKS = 1024 * 1024;
/** The head of an answer counts: nobody waits longer for what may follow it. */
const THANKS_MS = 1_000;
const NOTHING = new Uint8Array(0);

/** What a message could not be kept for: it did not go on. */
export class Unkept extends Error {}

/**
 * Sends a message on, once, and tells the log of it and of what came of it. It goes only once the log is kept: what nobody could read
 * later does not happen.
 * @throws TransportError where there is no answer; {@link Unkept}.
 */
export async function sendOn(desk: Desk, matter: Matter, onward: Onward): Promise<HttpAnswer> {
  const { method, url, headers, body } = onward;
  const hop = isFromTool(matter.purpose) ? 'runtime-side' : 'tool-side';
  const leg = tellRequest(desk.log, matter, { hop, method, url, headers, body });
  try {
    await kept(desk);
    const answer = await send(desk, matter, onward);
    leg.answered(responseOf(answer));
    return answer;
  } catch (error) {
    const { phase, code } = error instanceof TransportError ? error : UNKEPT;
    leg.broken(phase, code);
    throw error;
  }
}

const UNKEPT = { phase: 'transcript', code: 'UNWRITABLE' };

async function kept({ log }: Desk): Promise<void> {
  try {
    await log.kept();
  } catch (cause) {
    throw new Unkept('the transcript could not be written', { cause });
  }
}

/** What an answer is as a fact. An encoded body is not: nobody could take the secrets out of it. */
export function responseOf({ status, headers, body }: HttpAnswer): Response {
  const isTold = body.length > 0 && headers['content-encoding'] === undefined;
  return { status, headers, body: isTold ? new Content(body) : undefined };
}

async function send({ client, clock }: Desk, { purpose }: Matter, onward: Onward): Promise<HttpAnswer> {
  if (purpose === 'discovery') return client.send(requestOf(onward, TOOLSET));
  const patience = new AbortController();
  let head: HttpAnswer | null = null;
  let callOff = () => {};
  const read = (status: number, headers: HttpAnswer['headers']): ReadLimit => {
    head = { status, headers, body: NOTHING };
    callOff = clock.after(THANKS_MS, () => patience.abort());
    return THANKS;
  };
  try {
    return await client.send(requestOf(onward, read, patience.signal));
  } catch (error) {
    if (head) return head;
    throw error;
  } finally {
    callOff();
  }
}

const TOOLSET: ReadLimit = { maxBytes: MOST_TOOLSET, opaque: true };
const THANKS: ReadLimit = { maxBytes: MOST_THANKS, opaque: true, partial: true };

/** Without a time limit of ours: whoever waits for the answer has one. */
function requestOf(
  { method, url, headers, body, signal }: Onward,
  read: HttpRequest['read'],
  patience?: AbortSignal,
): HttpRequest {
  const signals = [signal, patience].filter(each => each !== undefined);
  return {
    ...{ method, url, headers, read, timeoutMs: 0 },
    ...(body && { body: body.bytes }),
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  };
}
