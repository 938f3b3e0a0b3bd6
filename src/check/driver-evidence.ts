import { isDeepStrictEqual } from 'node:util';
import type { Event, EventOf } from '../events/events.js';
import type { ToolResult } from '../protocol/callbacks.js';
import {
  type Ability,
  DriverAbilities,
  type Finding,
  type Instruction,
  type Observation,
} from '../protocol/driver.js';
import { llmText } from '../protocol/outcome.js';
import type { Tool } from '../protocol/toolset.js';
import { isRecord, stringsIn } from '../util/values.js';
import type { CallEvidence } from './call.js';
import { isErrorText } from './error-text.js';
import { messagesOf } from './recorded-call.js';

/** A line of the driver protocol, and its event. */
interface DriverMessage<Message> {
  readonly event: EventOf<'driver'>;
  /** The `seq` of the event. */
  readonly events: readonly number[];
  readonly message: Message;
}

export type InstructionMessage<Kind extends Instruction['do'] = Instruction['do']> = DriverMessage<
  Instruction<Kind>
>;

export type ObservationMessage<Kind extends Observation['saw'] = Observation['saw']> = DriverMessage<
  Observation<Kind>
>;

/** What the model got. */
type ModelLine = ObservationMessage<'model' | 'failure'>;

/** A call that a scenario requested, with its invocation and the results that the model received. */
export interface RequestedCall extends InstructionMessage<'invoke'> {
  /** The tools of this name, of all valid toolsets. */
  readonly tools: readonly Tool[];
  /** Null if the arguments could not be checked, or not by one tool only. */
  readonly argumentFaults: readonly string[] | null;
  /** Undefined if it was not sent. */
  readonly call: CallEvidence | undefined;
  /** What the model got for it. */
  readonly answers: readonly ModelLine[];
}

interface Sent {
  /** Of thread and call. */
  readonly name: string;
  readonly message: Readonly<Record<string, unknown>>;
  readonly isAccepted: boolean;
}

/** The plan of the scenario of a recording, if it has one. */
export function scenarioPlanIn(events: readonly Event[]): EventOf<'planned'> | undefined {
  const plan = events.find(event => event.kind === 'planned' && event.by === 'scenario');
  return plan?.kind === 'planned' ? plan : undefined;
}

export function nameOfCall(ids: { readonly group_id?: unknown; readonly id?: unknown } | null): string {
  return JSON.stringify([ids?.group_id, ids?.id]);
}

/** The instructions of a scenario, and the observations that the driver reported (HTTP traffic is in the other evidence). */
export class DriverEvidence {
  readonly scenario: string;
  /** What the scenario tests, the main requirement first. */
  readonly checks: readonly string[];
  /** The event of a driver that ended before it was asked to. */
  readonly crash: EventOf<'driver'> | undefined;
  /** The event of a driver that was still running long after it was asked to end. */
  readonly overdue: EventOf<'expired'> | undefined;
  /** Whether results for the model come without the id of their call. */
  readonly isAnonymous: boolean;
  readonly #lines: readonly DriverMessage<Instruction | Observation | Finding>[];
  readonly #abilities = new DriverAbilities();
  readonly #calls: DriverCalls;

  private constructor(plan: EventOf<'planned'>, events: readonly Event[], calls: readonly CallEvidence[]) {
    this.scenario = plan.plan;
    this.checks = plan.checks ?? [];
    const lines = linesIn(events);
    this.#lines = lines as readonly DriverMessage<Instruction | Observation | Finding>[]; // written after validation
    for (const { message } of lines)
      this.#abilities.add({
        can: stringsIn(message['can'] ?? []),
        cannot: stringsIn(message['cannot'] ?? []),
      });
    this.crash = events.filter(event => event.kind === 'driver').find(({ ended }) => ended !== undefined);
    const end = this.instructions('end')[0]?.event.seq ?? Number.POSITIVE_INFINITY;
    this.overdue = events.filter(event => event.kind === 'expired').find(({ seq }) => seq > end);
    this.#calls = new DriverCalls(events);
    const results = calls.flatMap(call => messagesOf(call, 'tool_result'));
    this.isAnonymous = this.observations('model')
      .filter(({ message }) => message.id === undefined)
      .some(({ message: { text } }) => results.some(({ message }) => isExactly(text, message)));
  }

  /** Returns null for a recording without a scenario. */
  static of(events: readonly Event[], calls: readonly CallEvidence[]): DriverEvidence | null {
    const plan = scenarioPlanIn(events);
    return plan ? new DriverEvidence(plan, events, calls) : null;
  }

  /** When it was asked to end, in ms; undefined if it was not. */
  get endRequestedAt(): number | undefined {
    return this.instructions('end')[0]?.event.at;
  }

  /** The `seq` from which on the runtime may ignore what arrives: it was asked to cancel or to end; infinite if it was not. */
  get mayIgnoreFromSeq(): number {
    const [first] = [...this.instructions('cancel'), ...this.instructions('end')];
    return first?.event.seq ?? Number.POSITIVE_INFINITY;
  }

  /** As {@link mayIgnoreFromSeq}; the subscription of this call may be canceled alone. */
  mayIgnoreFromSeqOf({ invocation }: CallEvidence): number {
    const own = this.instructions('cancel-subscription').find(({ message }) => message.id === invocation?.id);
    return Math.min(own?.event.seq ?? Number.POSITIVE_INFINITY, this.mayIgnoreFromSeq);
  }

  supports(...abilities: readonly Ability[]): boolean {
    return this.#abilities.supports(...abilities);
  }

  instructions<Kind extends Instruction['do']>(kind: Kind): readonly InstructionMessage<Kind>[] {
    return this.#lines.filter(
      (each): each is InstructionMessage<Kind> => 'do' in each.message && each.message.do === kind,
    );
  }

  observations<Kind extends Observation['saw']>(
    ...kinds: readonly Kind[]
  ): readonly ObservationMessage<Kind>[] {
    return this.#lines.filter((each): each is ObservationMessage<Kind> => {
      const { message } = each;
      return 'saw' in message && kinds.some(kind => kind === message.saw);
    });
  }

  /** Whether the runtime ends when it likes, such as an agent: then an early end breaks no rule. */
  get endsByItself(): boolean {
    return !this.supports('end');
  }

  /** What the check itself saw: in the log of the runtime, or as its model. */
  findings<Kind extends Finding['saw']>(kind: Kind): readonly DriverMessage<Finding<Kind>>[] {
    return this.#lines.filter(
      (each): each is DriverMessage<Finding<Kind>> => 'saw' in each.message && each.message.saw === kind,
    );
  }

  /** The call that an instruction led to, and what the model got for it. */
  outcomeOf(
    { message: { id } }: InstructionMessage<'invoke'>,
    calls: readonly CallEvidence[],
  ): Pick<RequestedCall, 'call' | 'answers'> {
    const name = this.#calls.invocationOf(id);
    return {
      call: calls.find(({ invocation }) => nameOfCall(invocation) === name),
      answers: this.#calls.answersTo(id),
    };
  }

  /** The observations with the id of this call, or with the id of the instruction that led to it. */
  observationsOf<Kind extends Observation['saw']>(
    { invocation }: CallEvidence,
    ...kinds: readonly Kind[]
  ): readonly ObservationMessage<Kind>[] {
    const ids = [invocation?.id, this.#calls.instructionOf(nameOfCall(invocation))];
    return this.observations(...kinds).filter(({ message }) => {
      const id = idOf(message);
      return id !== undefined && ids.includes(id);
    });
  }

  /** The observations of this call, and all observations without an id. With `call: null`, only those without an id. */
  possibleObservationsOf<Kind extends Observation['saw']>(
    call: CallEvidence | null,
    ...kinds: readonly Kind[]
  ): readonly ObservationMessage<Kind>[] {
    const anonymous = this.observations(...kinds).filter(({ message }) => idOf(message) === undefined);
    return [...(call ? this.observationsOf(call, ...kinds) : []), ...anonymous];
  }

  /** The first line with which the model got this text, after an event. */
  textForModel(text: string, afterSeq = 0): ObservationMessage | undefined {
    return this.observationsShowing([text], 'model', 'failure').find(({ event }) => event.seq > afterSeq);
  }

  /** The lines that show one of these texts, also within a longer one. */
  observationsShowing<Kind extends Observation['saw']>(
    texts: readonly string[],
    ...kinds: readonly Kind[]
  ): readonly ObservationMessage<Kind>[] {
    return this.observations(...kinds).filter(({ message }) => {
      const shown = stringsIn({ ...message, saw: null, id: null });
      return texts.some(text => shown.some(each => each.includes(text)));
    });
  }
}

/**
 * Matches each instruction with its invocation and the results that the model received. A runtime may use the id of the instruction or
 * generate one; its driver may report either id, or no id.
 */
export class DriverCalls {
  /** By the name of the invocation; the invocation that belongs to an instruction comes before others that are equal. */
  readonly #instructions = new Map<string, InstructionMessage<'invoke'>>();
  readonly #asked: readonly InstructionMessage<'invoke'>[];
  readonly #sent: readonly Sent[];
  readonly #lines: readonly ModelLine[];
  /** The instructions of failed results with an unknown id or none. */
  readonly #failed = new Map<ModelLine, InstructionMessage<'invoke'>>();

  constructor(events: readonly Event[]) {
    const lines = linesIn(events);
    const of = (member: string, ...names: readonly unknown[]) =>
      lines.filter(({ message }) => names.includes(message[member])) as readonly unknown[];
    this.#asked = of('do', 'invoke') as readonly InstructionMessage<'invoke'>[];
    this.#lines = of('saw', 'model', 'failure') as readonly ModelLine[];
    this.#sent = invocationsIn(events);
    this.#pair();
    this.#assignFailures();
  }

  /** The id of the instruction that led to an invocation. */
  instructionOf(name: string): string | undefined {
    return this.#instructions.get(name)?.message.id;
  }

  /** The name of the invocation that an instruction led to. */
  invocationOf(id: string): string | undefined {
    return this.#sent.find(({ name }) => this.instructionOf(name) === id)?.name;
  }

  /** What the model got for an instruction. */
  answersTo(id: string): readonly ModelLine[] {
    const own = this.#sent.filter(({ name }) => this.instructionOf(name) === id);
    const ids: readonly unknown[] = [id, ...own.map(({ message }) => message['id'])];
    return this.#lines.filter(
      line => ids.includes(line.message.id) || this.#failed.get(line)?.message.id === id,
    );
  }

  /** Whether the model got something for an instruction, or may have: without an id, after the instruction. */
  isAnswered(id: string): boolean {
    const seq = this.#asked.find(({ message }) => message.id === id)?.event.seq ?? 0;
    return (
      this.answersTo(id).length > 0 ||
      this.#lines.some(({ event, message }) => message.id === undefined && event.seq > seq)
    );
  }

  #pair(): void {
    const unpaired = new Set(this.#asked);
    const pair = (find: (sent: Sent) => InstructionMessage<'invoke'> | undefined) => {
      for (const sent of this.#sent) {
        const instruction = this.#instructions.has(sent.name) ? undefined : find(sent);
        if (!instruction) continue;
        this.#instructions.set(sent.name, instruction);
        unpaired.delete(instruction);
      }
    };
    pair(sent => this.#asked.find(({ message }) => message.id === sent.message['id']));
    pair(sent => [...unpaired].find(each => isEqual(each, sent)));
    pair(sent => this.#asked.find(each => isEqual(each, sent)));
  }

  /** A call that was not sent or not accepted has one failed result: the oldest such call the first one. */
  #assignFailures(): void {
    const known = new Set<unknown>([
      ...this.#asked.map(({ message }) => message.id),
      ...this.#sent.map(({ message }) => message['id']),
    ]);
    const sent = new Set(this.#instructions.values());
    const accepted = new Set(
      this.#sent.flatMap(({ name, isAccepted }) => (isAccepted ? (this.#instructions.get(name) ?? []) : [])),
    );
    const open = new Set(this.#asked.filter(({ message }) => this.answersTo(message.id).length === 0));
    for (const line of this.#lines) {
      const { saw, text, id } = line.message;
      if (known.has(id) || (saw !== 'failure' && !isErrorText(text, null))) continue;
      const others = id === undefined ? accepted : sent;
      const instruction = [...open].find(each => each.event.seq < line.event.seq && !others.has(each));
      if (!instruction) continue;
      this.#failed.set(line, instruction);
      open.delete(instruction);
    }
  }
}

/** Whether the text is exactly this result; any text may stand for an image. */
export function isExactly(text: string, result: ToolResult): boolean {
  const { content = [] } = result;
  if (!content.some(({ type }) => type === 'image')) return text === llmText(result);
  const runs: string[][] = [[]];
  for (const item of content)
    if (item.type === 'text') runs.at(-1)?.push(item.text);
    else runs.push([]);
  const [first = [], ...others] = runs;
  const last = others.pop() ?? [];
  const between = others.filter(({ length }) => length > 0);
  return hasRuns(
    text,
    [first, ...between, last].map(run => run.join('\n')),
  );
}

/** Whether a text consists of these runs, with something visible between each two. */
function hasRuns(text: string, [first = '', ...others]: readonly string[]): boolean {
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const [index, run] of others.entries()) {
    const isLast = index === others.length - 1;
    const at = isLast ? text.length - run.length : text.indexOf(run, from + 1);
    if (at <= from || text.slice(from, at).trim() === '' || !text.startsWith(run, at)) return false;
    from = at + run.length;
  }
  return true;
}

function idOf(message: Observation): string | undefined {
  return 'id' in message ? message.id : undefined;
}

function isEqual({ message: one }: InstructionMessage<'invoke'>, { message: other }: Sent): boolean {
  return one.operation === other['operation'] && isDeepStrictEqual(one.arguments, other['arguments']);
}

function messageIn(event: Event): Readonly<Record<string, unknown>> | null {
  const json = 'body' in event ? event.body?.json : undefined;
  return json?.ok && isRecord(json.value) ? json.value : null;
}

function linesIn(events: readonly Event[]): readonly DriverMessage<Readonly<Record<string, unknown>>>[] {
  return events.flatMap(event => {
    const message = event.kind === 'driver' ? messageIn(event) : null;
    return event.kind === 'driver' && message ? [{ event, events: [event.seq], message }] : [];
  });
}

/** Each invocation once, however often it was sent. */
function invocationsIn(events: readonly Event[]): readonly Sent[] {
  const accepted = new Set(
    events.flatMap(event => (event.kind === 'response' && event.status === 200 ? [event.leg] : [])),
  );
  const found = new Map<string, Sent>();
  for (const event of events) {
    if (event.kind !== 'request' || event.purpose !== 'invocation') continue;
    const message = messageIn(event);
    if (!message) continue;
    const name = nameOfCall(message);
    const isAccepted = accepted.has(event.leg) || found.get(name)?.isAccepted === true;
    found.set(name, { message, name, isAccepted });
  }
  return [...found.values()];
}
