import { randomUUID } from 'node:crypto';
import type { Fact } from '../events/events.js';
import { type Answered, answer, answerAgain, fixtureFor } from '../fixtures/answer-call.js';
import {
  ackFaultOf,
  callbackFaultsOf,
  draw,
  drawDelay,
  drawsOf,
  type FixtureSet,
  type FixtureState,
  type Remembered,
  type StepPath,
} from '../fixtures/fixture-set.js';
import type { AckFault, CallbackFault } from '../fixtures/schema/file.js';
import { type Filled, fillTemplates, fillText, type TemplateValues } from '../fixtures/template.js';
import type { Invocation } from '../protocol/read-invocation.js';
import type { Clock } from '../system/drafts.js';
import type { Conversation } from './conversation.js';
import type { Middlewares } from './middleware/middleware.js';
import { play, type Stage } from './reply-steps.js';
import type { Call } from './reply-waits.js';

/** What templates may ask of a call. A class, and not an object with getters: one is made for every call. */
class CallValues implements TemplateValues {
  constructor(
    private readonly invocation: Invocation,
    private readonly answered: Pick<Answered, 'key' | 'count'>,
    private readonly clock: Pick<Clock, 'wall'>,
  ) {}

  get operation() {
    return this.invocation.operation;
  }

  get arguments() {
    return this.invocation.arguments;
  }

  get id() {
    return this.invocation.id;
  }

  get call_id() {
    return this.invocation.call_id;
  }

  get group_id() {
    return this.invocation.group_id;
  }

  get user_id() {
    return this.invocation.user_id;
  }

  get thread_ancestors() {
    return this.invocation.thread_ancestors;
  }

  get key() {
    return this.answered.key;
  }

  get count() {
    return this.answered.count;
  }

  /** Costs something, and is seldom asked for; so is the next. */
  get now() {
    return this.clock.wall().toISOString();
  }

  get uuid() {
    return randomUUID();
  }
}

/** What will be done about one call; decided when it comes in, in the order in which calls come in. */
export interface Plan {
  /** Events to log before the acknowledgement. */
  readonly facts: readonly Fact[];
  readonly ack: AckFault | null;
  /** The faults of the n-th callback, from 0. */
  readonly faultsOf: (callback: number) => readonly CallbackFault[];
  /** What it throws becomes an error result. */
  readonly perform: (conversation: Conversation) => Promise<void>;
  /** Something may be said after `perform` too: the events of what was subscribed. */
  readonly isOpenEnded?: boolean;
  /** Redacts an error message (TOOL-SECRET). */
  readonly words?: (message: string) => string;
}

const FLAWLESS = { ack: null, faultsOf: () => [] } as const;

/** Without a fault. */
export function plain(facts: readonly Fact[], perform: Plan['perform']): Plan {
  return { ...FLAWLESS, facts, perform };
}

/** A call that nothing answers ends in an error all the same (TOOL-ALWAYS, TOOL-ERRPREFIX). */
export function refusal(message: string, nearest?: Extract<Fact, { kind: 'matched' }>['nearest']): Plan {
  const unmatched: Fact = { kind: 'matched', fixture: null, ...(nearest && { nearest }) };
  return plain([{ kind: 'warned', message }, unmatched], conversation =>
    conversation.outcome({ type: 'error', message }),
  );
}

/** The same tree with other texts in it; keys stay as they are. */
export function withTexts<T>(tree: T, change: (text: string) => string): T {
  return changed(tree, change) as T; // texts become texts, and everything else is what it was
}

function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(each => changed(each, change));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each, change)]));
}

interface FixtureAnswersParts {
  readonly fixtures: FixtureSet;
  readonly state: FixtureState;
  readonly middlewares: Middlewares;
  /** All that is drawn comes from it. */
  readonly seed: string;
  readonly clock: Clock;
}

/** Answers calls by fixtures, in the order in which they come. */
export class FixtureAnswers {
  readonly #canRefuse: boolean;

  constructor(private readonly parts: FixtureAnswersParts) {
    this.#canRefuse = parts.fixtures.fixtures.some(({ faults }) => faults.ack?.fault.kind === 'status');
  }

  /** @param attempt of this invocation, from 1: each draws its own fault of the acknowledgement. */
  plan(call: Call, attempt: number): Plan {
    const { fixtures, state } = this.parts;
    const refused = this.#canRefuse ? this.#refusedWith(call, attempt) : null;
    if (refused)
      return { ...plain([planned(refused.fault, refused.fixture)], async () => {}), ack: refused.fault };
    const found = answer(fixtures, call, state);
    if (found.fixture === null) return refusal(found.message, found.nearest ?? undefined);
    return this.#planned(found, call, attempt);
  }

  /** As {@link plan}, for a call that was answered before a restart, from this step on. Null where its fixture is there no more. */
  planAgain(call: Call, matched: Remembered, from: StepPath): Plan | null {
    const found = answerAgain(this.parts.fixtures, call, matched);
    if (!found) return null;
    return {
      ...plain([], conversation => this.#perform(found, call.invocation, conversation, from)),
      faultsOf: this.#faultsOf(found),
      words: this.#wordsFor(call),
    };
  }

  /** Asked before anything moves on: what is not accepted has not been a call. */
  #refusedWith(call: Call, attempt: number): { readonly fault: AckFault; readonly fixture: string } | null {
    const { fixtures, state } = this.parts;
    const fixture = fixtureFor(fixtures, call, state);
    const fault = fixture ? ackFaultOf(fixture, this.#ackDraw(fixture.id, call, attempt)) : null;
    return fixture && fault?.kind === 'status' ? { fault, fixture: fixture.id } : null;
  }

  #planned(found: Answered, call: Call, attempt: number): Plan {
    const { fixture, key, count, state } = found;
    const ack = ackFaultOf(fixture, this.#ackDraw(fixture.id, call, attempt));
    const matched = { kind: 'matched', fixture: fixture.id, key, count, state } as const;
    return {
      facts: ack ? [matched, planned(ack, fixture.id)] : [matched],
      ack,
      faultsOf: this.#faultsOf(found),
      perform: conversation => this.#perform(found, call.invocation, conversation),
      words: this.#wordsFor(call),
    };
  }

  #wordsFor({ invocation }: Call): NonNullable<Plan['words']> {
    return message => this.parts.middlewares.words(message, invocation).value;
  }

  #faultsOf(found: Answered): Plan['faultsOf'] {
    const draws = drawsOf(this.parts.seed, found);
    return callback => callbackFaultsOf(found.fixture, matter => draws(`${callback} ${matter}`));
  }

  /** Waits only for what has to be waited for: of middleware there is nearly always none. */
  #perform(
    found: Answered,
    given: Invocation,
    conversation: Conversation,
    from: StepPath = [],
  ): Promise<void> {
    const invocation = this.parts.middlewares.request(given);
    if (!(invocation instanceof Promise)) return this.#play(found, invocation, conversation, from);
    return invocation.then(changed => this.#play(found, changed, conversation, from));
  }

  #play(found: Answered, invocation: Invocation, conversation: Conversation, from: StepPath): Promise<void> {
    const { middlewares, seed, clock, state } = this.parts;
    const values = new CallValues(invocation, found, clock);
    const draws = drawsOf(seed, found);
    warnOfMissing(conversation, found.missing);
    const filled = <T>({ value, missing }: Filled<T>) => {
      warnOfMissing(conversation, missing);
      return value;
    };
    let steps = 0;
    const stage: Stage = {
      conversation,
      middlewares,
      invocation,
      fill: tree => filled(fillTemplates(tree, values)) as typeof tree, // the same, apart from what was filled in
      say: words => withTexts(words, text => filled(fillText(text, values))),
      delayOf: ({ delay }) => drawDelay(delay, () => draws(`delay ${steps++}`)),
      enter: to => state.enter(found.stateKey, to),
    };
    return play(found.reply, stage, { from });
  }

  #ackDraw(fixture: string, { invocation: { group_id, id } }: Call, attempt: number) {
    return (matter: string) => draw(this.parts.seed, fixture, group_id, id, String(attempt), matter);
  }
}

function planned({ kind }: AckFault, fixture: string) {
  return { kind: 'planned', by: 'fault', plan: `ack ${kind}`, fixture } as const;
}

function warnOfMissing(conversation: Conversation, missing: readonly string[]): void {
  if (missing.length > 0) conversation.warn(`template values not found: ${missing.join(', ')}`);
}
