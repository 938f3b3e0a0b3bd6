import { Content } from '../../exchange/content.js';
import type { Log } from '../../exchange/log.js';
import { type HttpAnswer, TransportError } from '../../transport/client.js';
import type { Callback } from './callback.js';
import { headersOf, type Sender, send } from './send.js';
import { ofAnswer, ofError, type Verdict } from './verdict.js';

/** What attempts are made with. */
export interface Carrier extends Sender {
  readonly log: Log;
}

/** A callback, and how events say what it concerns: all of them with the same list. */
export interface Parcel {
  readonly callback: Callback;
  readonly about: { readonly calls: string[]; readonly thread: string };
}

/** What came of one attempt, and the leg it went by. */
export interface Attempt {
  readonly leg: string;
  readonly verdict: Verdict;
}

/**
 * POSTs a callback once, and tells the log the request and what became of it. Its bytes are kept before they are sent: after a crash
 * the same ones go out again.
 */
export async function attempt(carrier: Carrier, parcel: Parcel, number: number): Promise<Attempt> {
  const { log } = carrier;
  const leg = log.leg();
  tellRequest(log, leg, parcel, number);
  try {
    await log.kept();
    const answer = await send(carrier, parcel.callback);
    tellResponse(log, leg, parcel, answer);
    return { leg, verdict: ofAnswer(answer) };
  } catch (error) {
    const { phase, code } = error instanceof TransportError ? error : UNKEPT;
    log.emit({ kind: 'broken', leg, phase, code, ...parcel.about });
    return { leg, verdict: ofError(error) };
  }
}

/** No request was made: the journal is the only other thing that can fail. */
const UNKEPT = { phase: 'journal', code: 'UNWRITABLE' };

function tellRequest(log: Log, leg: string, { callback, about }: Parcel, attempt: number): void {
  const { url, body, turn } = callback;
  log.emit({
    kind: 'request',
    leg,
    from: 'tool',
    to: 'runtime',
    purpose: 'callback',
    method: 'POST',
    url,
    headers: headersOf(callback),
    body,
    attempt,
    calls: about.calls,
    thread: about.thread,
    turn,
  });
}

const NO_HEADERS = Object.freeze({});

/** Thanks have nothing to tell; of a refusal everything may help. */
function tellResponse(log: Log, leg: string, { about }: Parcel, { status, headers, body }: HttpAnswer): void {
  const { calls, thread } = about;
  if (status < 300) log.emit({ kind: 'response', leg, status, headers: NO_HEADERS, calls, thread });
  else {
    const said = body.length > 0 ? new Content(body) : undefined;
    log.emit({ kind: 'response', leg, status, headers: { ...headers }, body: said, calls, thread });
  }
}
