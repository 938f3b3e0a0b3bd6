import type { Event, EventOf } from '../events/events.js';
import type { Ability, Finding, Instruction, Observation } from '../protocol/driver.js';
import type { Tool } from '../protocol/toolset.js';
import { isRecord, stringsIn } from '../util/values.js';
import type { CallEvidence } from './call.js';
import { DriverCalls, nameOfCall } from './driver-calls.js';
import { isExactly } from './result-text.js';

/** A line of the driver protocol, and its event. */
interface Said<Message> {
  readonly event: EventOf<'driver'>;
  /** The `seq` of the event. */
  readonly events: readonly number[];
  readonly message: Message;
}

export type Asked<Kind extends Instruction['do'] = Instruction['do']> = Said<
  Extract<Instruction, { do: Kind }>
>;

export type Seen<Kind extends Observation['saw'] = Observation['saw']> = Said<
  Extract<Observation, { saw: Kind }>
>;

/** A call that a scenario asked for, and what became of it. */
export interface AskedCall extends Asked<'invoke'> {
  /** The tools of this name, of all valid toolsets. */
  readonly tools: readonly Tool[];
  /** Null if the arguments could not be checked, or not by one tool only. */
  readonly argumentFaults: readonly string[] | null;
  /** Undefined if it was not sent. */
  readonly call: CallEvidence | undefined;
  /** What the model got for it. */
  readonly answers: readonly Seen<'model' | 'failure'>[];
}

type Found<Kind extends Finding['saw']> = Said<Extract<Finding, { saw: Kind }>>;

/** The name of the scenario of a recording, if it has one. */
export function scenarioIn(events: readonly Event[]): string | undefined {
  return planIn(events)?.plan;
}

function planIn(events: readonly Event[]): EventOf<'planned'> | undefined {
  const plan = events.find(event => event.kind === 'planned' && event.by === 'scenario');
  return plan?.kind === 'planned' ? plan : undefined;
}

/** What a scenario asked of a runtime, and what the runtime showed besides its messages. */
export class RuntimeView {
  readonly scenario: string;
  /** What the scenario tests, the main requirement first. */
  readonly checks: readonly string[];
  readonly #asked: readonly Said<Instruction>[];
  readonly #seen: readonly Said<Observation | Finding>[];
  readonly #cannot: ReadonlySet<unknown>;
  /** The event of a driver that ended before it was asked to. */
  readonly crash: EventOf<'driver'> | undefined;
  /** The event of a driver that was still running long after it was asked to end. */
  readonly overdue: EventOf<'expired'> | undefined;
  /** Whether results for the model come without the id of their call. */
  readonly isAnonymous: boolean;
  readonly #calls: DriverCalls;

  private constructor(plan: EventOf<'planned'>, events: readonly Event[], calls: readonly CallEvidence[]) {
    this.scenario = plan.plan;
    this.checks = plan.checks ?? [];
    const lines = events.filter(event => event.kind === 'driver');
    const messages = lines.flatMap(event => {
      const json = event.body?.json;
      return json?.ok && isRecord(json.value) ? [{ event, events: [event.seq], message: json.value }] : [];
    });
    const of = (name: 'do' | 'saw') => messages.filter(({ message }) => name in message);
    this.#asked = of('do') as unknown as readonly Said<Instruction>[]; // written after validation
    this.#seen = of('saw') as unknown as readonly Said<Observation | Finding>[];
    this.#cannot = new Set(messages.flatMap(({ message }) => stringsIn(message['cannot'] ?? [])));
    this.crash = lines.find(({ ended }) => ended !== undefined);
    const end = this.asked('end')[0]?.event.seq ?? Number.POSITIVE_INFINITY;
    this.overdue = events.filter(event => event.kind === 'expired').find(({ seq }) => seq > end);
    this.#calls = new DriverCalls(events);
    const results = calls.flatMap(call => call.messages('tool_result'));
    this.isAnonymous = this.seen('model')
      .filter(({ message }) => message.id === undefined)
      .some(({ message: { text } }) => results.some(({ message }) => isExactly(text, message)));
  }

  /** Returns null for a recording without a scenario. */
  static of(events: readonly Event[], calls: readonly CallEvidence[]): RuntimeView | null {
    const plan = planIn(events);
    return plan ? new RuntimeView(plan, events, calls) : null;
  }

  /** When it was asked to end, in ms; undefined if it was not. */
  get endedAt(): number | undefined {
    return this.asked('end')[0]?.event.at;
  }

  /** The `seq` from which on the runtime may ignore what arrives: it was asked to cancel or to end; infinite if it was not. */
  get overSince(): number {
    const [first] = [...this.asked('cancel'), ...this.asked('end')];
    return first?.event.seq ?? Number.POSITIVE_INFINITY;
  }

  can(...abilities: readonly Ability[]): boolean {
    return abilities.every(ability => !this.#cannot.has(ability));
  }

  asked<Kind extends Instruction['do']>(kind: Kind): readonly Asked<Kind>[] {
    return this.#asked.filter((each): each is Asked<Kind> => each.message.do === kind);
  }

  seen<Kind extends Observation['saw']>(...kinds: readonly Kind[]): readonly Seen<Kind>[] {
    return this.#seen.filter((each): each is Seen<Kind> => kinds.some(kind => kind === each.message.saw));
  }

  /** What the check found in the log of the runtime. */
  found<Kind extends Finding['saw']>(kind: Kind): readonly Found<Kind>[] {
    return this.#seen.filter((each): each is Found<Kind> => each.message.saw === kind);
  }

  /** The call that an instruction led to, and what the model got for it. */
  outcomeOf(
    { message: { id } }: Asked<'invoke'>,
    calls: readonly CallEvidence[],
  ): Pick<AskedCall, 'call' | 'answers'> {
    const name = this.#calls.invocationOf(id);
    const answers = this.#calls.answersTo(id);
    return {
      call: calls.find(({ invocation }) => nameOfCall(invocation) === name),
      answers: this.seen('model', 'failure').filter(({ event }) => answers.has(event.seq)),
    };
  }

  /** What was seen of a call: by its id, or that of its instruction. */
  seenOf<Kind extends Observation['saw']>(
    { invocation }: CallEvidence,
    ...kinds: readonly Kind[]
  ): readonly Seen<Kind>[] {
    const ids = [invocation?.id, this.#calls.instructionOf(nameOfCall(invocation))];
    return this.seen(...kinds).filter(({ message }) => {
      const id = idOf(message);
      return id !== undefined && ids.includes(id);
    });
  }

  /** What may have been seen of a call: also without an id. Without a call, only what has no id. */
  mayBeOf<Kind extends Observation['saw']>(
    call: CallEvidence | null,
    ...kinds: readonly Kind[]
  ): readonly Seen<Kind>[] {
    const anonymous = this.seen(...kinds).filter(({ message }) => idOf(message) === undefined);
    return [...(call ? this.seenOf(call, ...kinds) : []), ...anonymous];
  }
}

function idOf(message: Observation): string | undefined {
  return 'id' in message ? message.id : undefined;
}
