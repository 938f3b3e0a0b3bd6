import { unread } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import { callbackSecrets } from '../../events/shareable.js';
import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  ToolCalls,
  toolCallState,
  typeOfDelivery,
} from '../../events/tool-call.js';
import { transcriptWriter } from '../../events/transcript-writer.js';
import { redactJson } from '../../util/redact.js';

/** What a mock remembers at the moment. */
interface Remembered {
  readonly kept: readonly Event[];
  readonly forgotten: number;
}

/**
 * What a mock remembers of its calls, without the secrets of callback URLs, in pieces that are made while they are sent. Secrets are
 * collected once per event.
 */
export class JournalReports {
  readonly #secrets = callbackSecrets();
  #learned = -1;
  readonly #shared = new Map<string, WeakRef<SharedPieces>>();

  constructor(
    private readonly remembered: Remembered,
    private readonly about: { readonly startedAt: string; readonly program: string },
  ) {}

  /** For tests in any language: plain JSON, call by call. */
  report(): Iterable<Uint8Array> {
    return this.#share('report', kept => this.#report(kept));
  }

  /** The same as the lines of a transcript. */
  transcript(): Iterable<Uint8Array> {
    return this.#share('transcript', kept => this.#transcript(kept));
  }

  /** Many may ask before anything more happens, and read slowly. */
  #share(form: string, write: (kept: readonly Event[]) => Generator<string>): SharedPieces {
    const { kept, forgotten } = this.remembered;
    const state = [form, kept.at(-1)?.seq, kept.length, forgotten].join();
    const known = this.#shared.get(state)?.deref();
    if (known) return known;
    this.#learn(kept);
    const pieces = new SharedPieces(write(kept));
    for (const [other, shared] of this.#shared) if (!shared.deref()) this.#shared.delete(other);
    this.#shared.set(state, new WeakRef(pieces));
    return pieces;
  }

  *#report(kept: readonly Event[]): Generator<string> {
    const { forgotten } = this.remembered;
    let separator = '{"calls":[';
    for (const [key, events] of byCall(kept)) {
      const call = ToolCalls.of(events.map(unread)).get(key);
      if (!call) continue;
      yield separator + redactJson(JSON.stringify(callReport(call)), this.#secrets);
      separator = ',';
    }
    const isEmpty = separator !== ',';
    yield `${isEmpty ? separator : ''}],"events":${kept.length},"forgotten":${forgotten}}`;
  }

  *#transcript(kept: readonly Event[]): Generator<string> {
    const writer = transcriptWriter(this.#secrets);
    yield `${writer.header({ ...this.about, observer: 'tool' })}\n`;
    for (const event of kept) for (const line of writer.event(unread(event))) yield `${line}\n`;
    yield `${writer.end('asked')}\n`;
  }

  #learn(events: readonly Event[]): void {
    for (const event of events) if (event.seq > this.#learned) this.#secrets.learn(event);
    this.#learned = Math.max(this.#learned, events.at(-1)?.seq ?? -1);
  }
}

const PIECE = 64 * 1024;

/** A text in pieces, each of which is made once, as its first reader comes to it; gone with the last reader. */
class SharedPieces implements Iterable<Uint8Array> {
  readonly #made: Uint8Array[] = [];

  constructor(private readonly text: Iterator<string>) {}

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let at = 0; ; at++) {
      const piece = this.#made[at] ?? this.#next();
      if (piece.length === 0) return;
      yield piece;
    }
  }

  #next(): Uint8Array {
    let text = '';
    while (text.length < PIECE) {
      const { done, value } = this.text.next();
      if (done) break;
      text += value;
    }
    const piece = Buffer.from(text);
    this.#made.push(piece);
    return piece;
  }
}

/** In the order in which the calls came. */
function byCall(events: readonly Event[]): Map<string, Event[]> {
  const calls = new Map<string, Event[]>();
  for (const event of events)
    for (const key of event.calls ?? []) {
      const known = calls.get(key);
      if (known) known.push(event);
      else calls.set(key, [event]);
    }
  return calls;
}

function callReport(call: ToolCall): object {
  const {
    invocation,
    addressee,
    answeredBy,
    nearest,
    receivedAt,
    arrivals,
    acknowledgement,
    warnings,
    dropped,
  } = call;
  return {
    id: addressee?.id ?? null,
    group_id: addressee?.group_id ?? null,
    operation: invocation?.operation ?? null,
    invocation,
    fixture: answeredBy,
    ...(nearest && { nearest }),
    state: toolCallState(call),
    receivedAt,
    arrivals,
    acknowledgement: { status: acknowledgement.status ?? null, at: acknowledgement.at ?? null },
    deliveries: call.deliveries.map(deliveryReport),
    dropped,
    warnings,
  };
}

function deliveryReport(delivery: CallbackDelivery): object {
  const { url, body, attempts } = delivery;
  return {
    type: typeOfDelivery(delivery),
    url,
    message: body?.json.ok ? body.json.value : null,
    delivered: isDelivered(delivery),
    attempts: attempts.map(({ leg: _, ...attempt }) => attempt),
  };
}
