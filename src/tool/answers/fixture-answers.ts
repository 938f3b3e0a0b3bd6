import { type Answered, answer, answerAgain, fixtureFor } from '../../fixtures/answer.js';
import { draw, drawDelay, drawsOf } from '../../fixtures/draw.js';
import { type AckFault, ackFaultOf, callbackFaultsOf } from '../../fixtures/faults.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import type { FixtureState, Remembered } from '../../fixtures/fixture-state.js';
import type { StepPath } from '../../fixtures/step.js';
import { type Filled, fillTemplates, fillText } from '../../fixtures/template.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { Clock } from '../../system/clock.js';
import type { Call } from '../conversation/call.js';
import type { Conversation } from '../conversation/conversation.js';
import { play, type Stage } from '../conversation/play.js';
import type { Middlewares } from '../middleware/middlewares.js';
import { CallValues } from './call-values.js';
import { type Plan, plain, refusal } from './plan.js';
import { withTexts } from './with-texts.js';

export interface FixtureAnswersParts {
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
  if (missing.length > 0) conversation.warn(`a template leads nowhere: ${missing.join(', ')}`);
}
