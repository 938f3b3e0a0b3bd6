import { isDeepStrictEqual } from 'node:util';
import type { Event } from '../events/events.js';
import { isRecord, valueAt } from '../util/values.js';
import { isErrorText } from './call.js';

interface Instruction {
  readonly seq: number;
  readonly id: unknown;
  readonly operation: unknown;
  readonly arguments: unknown;
}

interface Sent extends Omit<Instruction, 'seq'> {
  /** Of thread and call. */
  readonly name: string;
  readonly isAccepted: boolean;
}

/** What the model got: a line of the driver. */
interface Line {
  readonly seq: number;
  readonly id: unknown;
  readonly isFailure: boolean;
}

export function nameOfCall(ids: { readonly group_id?: unknown; readonly id?: unknown } | null): string {
  return JSON.stringify([ids?.group_id, ids?.id]);
}

/**
 * Which invocation each instruction led to, and what the model got for it. A runtime may use the id of the instruction or its own; its
 * driver may report either, or none.
 */
export class DriverCalls {
  /** By the name of the invocation; the invocation that belongs to an instruction comes before others that are equal. */
  readonly #instructions = new Map<string, Instruction>();
  readonly #asked: readonly Instruction[];
  readonly #sent: readonly Sent[];
  readonly #lines: readonly Line[];
  /** The instructions of failed results with an unknown id or none. */
  readonly #failed = new Map<Line, Instruction>();

  constructor(events: readonly Event[]) {
    this.#asked = instructionsIn(events);
    this.#sent = invocationsIn(events);
    this.#lines = linesIn(events);
    this.#pair();
    this.#assignFailures();
  }

  /** The id of the instruction that led to an invocation. */
  instructionOf(name: string): unknown {
    return this.#instructions.get(name)?.id;
  }

  /** The name of the invocation that an instruction led to. */
  invocationOf(id: unknown): string | undefined {
    return [...this.#instructions].find(([, instruction]) => instruction.id === id)?.[0];
  }

  /** The `seq` of each line with what the model got for an instruction. */
  answersTo(id: unknown): ReadonlySet<number> {
    const ids = this.#idsOf(id);
    const own = this.#lines.filter(line => ids.has(line.id) || this.#failed.get(line)?.id === id);
    return new Set(own.map(({ seq }) => seq));
  }

  /** Whether the model got something for an instruction, or may have: without an id, after the instruction. */
  isAnswered(id: unknown): boolean {
    const seq = this.#asked.find(each => each.id === id)?.seq ?? 0;
    return this.answersTo(id).size > 0 || this.#lines.some(line => line.id === undefined && line.seq > seq);
  }

  #pair(): void {
    const unpaired = new Set(this.#asked);
    const pair = (find: (sent: Sent) => Instruction | undefined) => {
      for (const sent of this.#sent) {
        const instruction = this.#instructions.has(sent.name) ? undefined : find(sent);
        if (!instruction) continue;
        this.#instructions.set(sent.name, instruction);
        unpaired.delete(instruction);
      }
    };
    pair(sent => this.#asked.find(({ id }) => id === sent.id));
    pair(sent => [...unpaired].find(each => isEqual(each, sent)));
    pair(sent => this.#asked.find(each => isEqual(each, sent)));
  }

  /** A call that was not sent or not accepted has one failed result: the oldest such call the first one. */
  #assignFailures(): void {
    const known = new Set([...this.#asked, ...this.#sent].map(({ id }) => id));
    const sent = new Set(this.#instructions.values());
    const accepted = new Set(
      this.#sent.flatMap(({ name, isAccepted }) => (isAccepted ? (this.#instructions.get(name) ?? []) : [])),
    );
    const open = new Set(this.#asked.filter(({ id }) => this.answersTo(id).size === 0));
    for (const line of this.#lines) {
      if (!line.isFailure || known.has(line.id)) continue;
      const others = line.id === undefined ? accepted : sent;
      const instruction = [...open].find(each => each.seq < line.seq && !others.has(each));
      if (!instruction) continue;
      this.#failed.set(line, instruction);
      open.delete(instruction);
    }
  }

  #idsOf(id: unknown): ReadonlySet<unknown> {
    const own = this.#sent.filter(({ name }) => this.#instructions.get(name)?.id === id);
    return new Set([id, ...own.map(sent => sent.id)]);
  }
}

function isEqual(one: Omit<Instruction, 'seq' | 'id'>, other: Omit<Instruction, 'seq' | 'id'>): boolean {
  return one.operation === other.operation && isDeepStrictEqual(one.arguments, other.arguments);
}

function messageIn(event: Event): Readonly<Record<string, unknown>> | null {
  const json = 'body' in event ? event.body?.json : undefined;
  return json?.ok && isRecord(json.value) ? json.value : null;
}

function instructionsIn(events: readonly Event[]): readonly Instruction[] {
  return events.flatMap(event => {
    const message = event.kind === 'driver' ? messageIn(event) : null;
    return message?.['do'] === 'invoke' ? [{ ...callIn(message), seq: event.seq }] : [];
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
    found.set(name, { ...callIn(message), name, isAccepted });
  }
  return [...found.values()];
}

function callIn(message: unknown): Omit<Instruction, 'seq'> {
  const [id, operation, args] = ['id', 'operation', 'arguments'].map(name => valueAt(message, name));
  return { id, operation, arguments: args };
}

function linesIn(events: readonly Event[]): readonly Line[] {
  return events.flatMap(event => {
    const message = event.kind === 'driver' ? messageIn(event) : null;
    const { saw, text, id } = message ?? {};
    if (saw !== 'model' && saw !== 'failure') return [];
    return [{ seq: event.seq, id, isFailure: saw === 'failure' || isErrorText(String(text), null) }];
  });
}
