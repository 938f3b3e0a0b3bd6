import { randomUUID } from 'node:crypto';
import { type Answered, answer, answerAgain, fixtureFor } from '../fixtures/answer-call.js';
import type { AckFault } from '../fixtures/file-schema.js';
import {
  ackFaultOf,
  callbackFaultsOf,
  draw,
  drawsOf,
  type Fixture,
  type FixtureSet,
  type FixtureState,
  type Remembered,
  type StepPath,
} from '../fixtures/fixture-set.js';
import type { Invocation } from '../protocol/read-invocation.js';
import type { Clock } from '../system/clock.js';
import type { Call, Conversation } from './conversation.js';
import type { Middlewares } from './middleware.js';
import { type Plan, plain, refusal } from './plan.js';
import { ReplyPlayer } from './reply-player.js';

/** Plans calls by fixtures, in the order in which they come. */
export class FixturePlans {
  readonly #canRefuse: boolean;

  /** @param seed of all random draws. */
  constructor(
    private readonly fixtures: FixtureSet,
    private readonly state: FixtureState,
    private readonly middlewares: Middlewares,
    private readonly seed: string,
    private readonly clock: Pick<Clock, 'wall'>,
  ) {
    this.#canRefuse = fixtures.fixtures.some(({ faults }) => faults.ack?.fault.kind === 'status');
  }

  /** @param attempt of this invocation, from 1: each draws its own fault of the acknowledgement. */
  plan(call: Call, attempt: number): Plan {
    const refused = this.#canRefuse ? this.#refusal(call, attempt) : null;
    if (refused) return refused;
    const found = answer(this.fixtures, call, this.state);
    if (found.fixture === null) return refusal(found.message, found.nearest ?? undefined);
    const { fixture, key, count, state } = found;
    const ack = this.#ackFault(fixture, call, attempt);
    const matched = { kind: 'matched', fixture: fixture.id, key, count, state } as const;
    const facts = ack ? [matched, ackPlanned(ack, fixture)] : [matched];
    return this.#planned(found, call, [], facts, ack);
  }

  /** As {@link plan}, for a call that was answered before a restart, from this step on. Null if its fixture is gone. */
  planAgain(call: Call, matched: Remembered, from: StepPath): Plan | null {
    const found = answerAgain(this.fixtures, call, matched);
    return found ? this.#planned(found, call, from, [], null) : null;
  }

  /** Decided before counts and states move on: a call that is not accepted is not a call. */
  #refusal(call: Call, attempt: number): Plan | null {
    const fixture = fixtureFor(this.fixtures, call, this.state);
    const ack = fixture ? this.#ackFault(fixture, call, attempt) : null;
    if (!fixture || ack?.kind !== 'status') return null;
    return { ...plain([ackPlanned(ack, fixture)], async () => {}), ack };
  }

  #ackFault(fixture: Fixture, { invocation: { group_id, id } }: Call, attempt: number): AckFault | null {
    return ackFaultOf(fixture, matter => draw(this.seed, fixture.id, group_id, id, String(attempt), matter));
  }

  #planned(
    found: Answered,
    { invocation }: Call,
    from: StepPath,
    facts: Plan['facts'],
    ack: AckFault | null,
  ): Plan {
    const draws = drawsOf(this.seed, found);
    return {
      facts,
      ack,
      faultsOf: (callback: number) =>
        callbackFaultsOf(found.fixture, matter => draws(`${callback} ${matter}`)),
      redact: (message: string) => this.middlewares.words(message, invocation).value,
      perform: (conversation: Conversation) => {
        const seen = this.middlewares.request(invocation);
        if (!(seen instanceof Promise)) return this.#play(found, seen, conversation, from); // an await costs a turn
        return seen.then(changed => this.#play(found, changed, conversation, from));
      },
    };
  }

  #play(found: Answered, invocation: Invocation, conversation: Conversation, from: StepPath): Promise<void> {
    if (found.missing.length > 0) conversation.warn(`template values not found: ${found.missing.join(', ')}`);
    const player = new ReplyPlayer(conversation, this.middlewares, invocation, {
      values: new CallValues(invocation, found, this.clock),
      draws: drawsOf(this.seed, found),
      enterState: state => this.state.enter(found.stateKey, state),
    });
    return player.play(found.reply, { from });
  }
}

function ackPlanned({ kind }: AckFault, { id }: Fixture) {
  return { kind: 'planned', by: 'fault', plan: `ack ${kind}`, fixture: id } as const;
}

/** The values of templates. A class: an object with getters costs a tenth of all the work for a call. */
class CallValues {
  readonly operation;
  readonly arguments;
  readonly id;
  readonly call_id;
  readonly group_id;
  readonly user_id;
  readonly thread_ancestors;
  readonly key;
  readonly count;

  constructor(
    invocation: Invocation,
    { key, count }: Answered,
    private readonly clock: Pick<Clock, 'wall'>,
  ) {
    this.operation = invocation.operation;
    this.arguments = invocation.arguments;
    this.id = invocation.id;
    this.call_id = invocation.call_id;
    this.group_id = invocation.group_id;
    this.user_id = invocation.user_id;
    this.thread_ancestors = invocation.thread_ancestors;
    this.key = key;
    this.count = count;
  }

  get now(): string {
    return this.clock.wall().toISOString();
  }

  get uuid(): string {
    return randomUUID();
  }
}
