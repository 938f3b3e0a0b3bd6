import type { Content } from '../../exchange/content.js';
import type { Turn } from '../../exchange/facts.js';
import { typeOf } from '../delivery/callback.js';
import type { Matched, Recovered, Rendered } from './recovery.js';

/** These leave a call pending (the protocol, section 2); whatever else is sent was meant to end it, unreadable or not. */
const LEAVES_PENDING = new Set<string | undefined>([
  'oauth',
  'user_choice',
  'subscription_event',
  'view_update',
]);

export function isLast(type: string | undefined): boolean {
  return !LEAVES_PENDING.has(type);
}

/** The only message of a call. */
const ONLY: Turn = { index: 0 };

export interface Posting extends Rendered {
  state: Rendered['state'];
  /** Of its message; undefined where nobody can read it. */
  readonly type: string | undefined;
  /** Of its latest attempt; null where that was in an earlier run. */
  leg: string | null;
}

/** What one request event says of a callback. */
export interface Posted {
  readonly url: string;
  readonly contentType: string;
  readonly leg: string;
  readonly attempt: number;
  readonly sha256: string;
  readonly turn: Turn | undefined;
  /** Where the journal carries the bytes just before the event. */
  readonly body: Content | null;
}

/** A message, posted or not. */
export interface Message {
  readonly turn?: Turn | undefined;
  readonly type?: string | undefined;
}

/** A call while a journal is read. */
export class OpenCall implements Recovered {
  matched: Matched | null = null;
  refusal: string | null = null;
  turn: Turn | null = null;
  isAnswered = false;
  calledOff: string | null = null;
  readonly rendered: Posting[] = [];
  #warning: string | null = null;
  /** The message that is to be posted twice. */
  #doubled: number | null = null;

  constructor(
    readonly key: string,
    readonly thread: string,
    readonly invocation: Content,
    readonly headers: Readonly<Record<string, string>>,
    /** Of its invocation. */
    readonly leg: string,
  ) {}

  /** Nothing is on its way, and nothing is to come: its reply is at its end, or was called off after its result. */
  get isOver(): boolean {
    const isAtEnd = this.turn?.next === undefined || this.calledOff !== null;
    return this.isAnswered && isAtEnd && !this.#copyIsDue() && this.rendered.every(isThrough);
  }

  warned(message: string): void {
    this.#warning = message;
  }

  /** A refusal is told just before. */
  isMatched(matched: Matched): void {
    this.matched = matched;
    this.refusal = matched.fixture === null ? this.#warning : null;
  }

  posted({ url, contentType, leg, attempt, sha256, body, turn = ONLY }: Posted): void {
    const known = this.rendered.find(
      one =>
        one.state === 'waiting' &&
        one.url === url &&
        one.body.sha256 === sha256 &&
        (attempt > 1 || one.leg === null),
    );
    const bytes = body ?? this.rendered.find(one => one.body.sha256 === sha256)?.body;
    if (known) known.leg = leg;
    else if (bytes) {
      const type = typeOf(bytes);
      this.rendered.push({ url, body: bytes, contentType, turn, state: 'waiting', type, leg });
      this.said({ turn, type });
    }
  }

  /** It was posted, or never will be. */
  said({ turn = ONLY, type }: Message): void {
    this.turn = turn;
    this.isAnswered ||= isLast(type);
  }

  isDoubled({ turn = ONLY }: Message): void {
    this.#doubled = turn.index;
  }

  /** No event is owed any more (TOOL-SUB). The first reason counts. */
  callOff(reason: string): void {
    this.calledOff ??= reason;
    for (const one of this.rendered)
      if (one.type === 'subscription_event' && one.state === 'waiting') one.state = 'dropped';
  }

  postingOf(leg: string | undefined): Posting | undefined {
    return leg === undefined ? undefined : this.rendered.find(one => one.leg === leg);
  }

  /** What is posted from now on may be the same callback again. */
  nextRun(): void {
    this.complete();
    for (const one of this.rendered) one.leg = null;
  }

  /** A second copy that was never posted is on its way all the same. */
  complete(): void {
    const last = this.rendered.at(-1);
    if (last && this.#copyIsDue()) this.rendered.push({ ...last, state: 'waiting', leg: null });
    this.#doubled = null;
  }

  #copyIsDue(): boolean {
    const copies = this.rendered.filter(({ turn }) => turn.index === this.#doubled);
    return copies.length === 1 && this.calledOff === null;
  }
}

function isThrough({ state }: Posting): boolean {
  return state !== 'waiting';
}
