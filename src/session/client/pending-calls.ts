import type { Answer, AnsweredCall, Feature } from '../../dialects/dialect.js';
import { sessionDialect } from '../../dialects/session.js';
import { Content } from '../../events/content.js';
import { isEqual } from '../../fixtures/schema/match.js';
import { isSettledStatus } from '../../protocol/callbacks.js';
import { ACTIVE_STATE_CHANGE } from '../../protocol/session.js';
import { excerpt } from '../../util/excerpt.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { foreignWords } from '../../util/redact-json.js';
import type { PlatformDesk } from './requests.js';

/** A call that an agent session waits for. */
export interface PendingCall {
  /** Names it in every event: its id, or `#1`, `#2` … where that is null; an id that comes again for another call is counted. */
  readonly key: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly id: string | null;
  /** As the platform wrote it: an answer echoes it whole (seed 001). */
  readonly native: Readonly<Record<string, unknown>>;
  /** Why no tool can be asked. */
  readonly fault?: string;
}

/**
 * Which calls follow from the events of a session: the latest `ActiveStateChangeEvent` counts, and the calls that are left are
 * published again as others settle (platforms). A call keeps its key for as long as it is on the list. Foreign events never throw.
 */
export class PendingCalls {
  #state: string | null = null;
  #calls: readonly PendingCall[] = [];
  readonly #used = new Set<string>();
  readonly #counts = new Map<string, number>();

  /** @param clean takes secrets out of whatever is not echoed */
  constructor(private readonly clean: (text: string) => string = text => text) {}

  /** What the latest event says: `running`, `idle` or `awaiting_tool_results`; null before the first one. */
  get state(): string | null {
    return this.#state;
  }

  get calls(): readonly PendingCall[] {
    return this.#calls;
  }

  /** @returns what could not be read, for a person. */
  apply(event: unknown): readonly string[] {
    if (!isRecord(event) || event['type'] !== ACTIVE_STATE_CHANGE) return [];
    const { data } = event;
    if (!isRecord(data) || typeof data['state'] !== 'string')
      return [`an ${ACTIVE_STATE_CHANGE} has no state`];
    const { state, pending_tool_calls: listed = [] } = data;
    this.#state = state;
    if (state === 'running' || isSettledStatus(state)) return this.#take([]);
    const isNone = listed === null || (Array.isArray(listed) && listed.length === 0);
    // Whatever else a state means, such as paused, it is no word on calls where it has none.
    if (isNone) return state === 'awaiting_tool_results' ? this.#take([]) : [];
    return Array.isArray(listed) ? this.#take(listed) : ['pending_tool_calls is no list'];
  }

  #take(listed: readonly unknown[]): readonly string[] {
    const left = [...this.#calls];
    const calls: PendingCall[] = [];
    const notes: string[] = [];
    for (const entry of listed) {
      if (!isRecord(entry) || typeof entry['tool_name'] !== 'string') notes.push(this.#unreadable(entry));
      else if (hasId(entry) && calls.some(({ native }) => isSameCall(native, entry)))
        notes.push(this.#twice(entry));
      else calls.push(takeSame(left, entry) ?? this.#called(entry, entry['tool_name']));
    }
    this.#calls = calls;
    return notes;
  }

  #called(native: PendingCall['native'], tool: string): PendingCall {
    const { args = {}, id = null } = native;
    const isGiven = isRecord(args) || args === null;
    return {
      key: this.#keyFor(native),
      tool,
      args: isRecord(args) ? args : {},
      id: typeof id === 'string' ? id : null,
      native,
      ...(!isGiven && { fault: 'the args of this call are no JSON object' }),
    };
  }

  #keyFor(native: PendingCall['native']): string {
    const name = hasId(native) && typeof native['id'] === 'string' ? this.clean(native['id']) : '';
    for (;;) {
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      const key = name === '' ? `#${count}` : count === 1 ? name : `${name} (${count})`;
      if (this.#used.has(key)) continue;
      this.#used.add(key);
      return key;
    }
  }

  #unreadable(entry: unknown): string {
    return `a pending call has no tool_name, so that it cannot be answered: ${excerpt(this.clean(JSON.stringify(entry) ?? ''))}`;
  }

  #twice({ id }: PendingCall['native']): string {
    return `the id ${excerpt(this.clean(foreignWords(id)))} is pending twice: the first of the two calls is answered`;
  }
}

/** The call of before that this is, taken out of those. */
function takeSame(left: PendingCall[], entry: PendingCall['native']): PendingCall | undefined {
  const at = left.findIndex(({ native }) => isSameCall(native, entry));
  return at < 0 ? undefined : left.splice(at, 1)[0];
}

/** By its id; by name and arguments where that is null (platforms). */
function isSameCall(a: PendingCall['native'], b: PendingCall['native']): boolean {
  if (hasId(a) || hasId(b)) return isEqual(a['id'], b['id']);
  return a['tool_name'] === b['tool_name'] && isEqual(a['args'] ?? {}, b['args'] ?? {});
}

function hasId({ id }: PendingCall['native']): boolean {
  return id !== undefined && id !== null && id !== '';
}

/** Who answers the calls of an agent session. */
export interface Answerer {
  /**
   * Calls of one wait come side by side. What it throws becomes an error of the client's.
   * @param context `signal` is aborted once nobody wants the answer any more
   */
  answer(call: PendingCall, context: { readonly signal: AbortSignal }): Promise<Answer>;
}

/** Functions by the name of their tool: each takes the arguments, and what it gives is the result. */
export type ToolFunctions = Readonly<
  Record<string, (args: PendingCall['args'], context: { readonly signal: AbortSignal }) => unknown>
>;

/** An answerer made of functions; a tool that is none of them is unknown. */
export function answerWith(functions: ToolFunctions): Answerer {
  return {
    async answer(call, context) {
      const work = Object.hasOwn(functions, call.tool) ? functions[call.tool] : undefined;
      return work
        ? successOf(call, await work(call.args, context))
        : unknownTool(call, Object.keys(functions));
    },
  };
}

/** The call in the one model's terms; its answer echoes it whole (seed 001). */
export function answeredCall({ id, tool, args, native }: PendingCall): AnsweredCall {
  return { id, tool, args, request: native };
}

/** A success; what is left out is null on this wire (platforms). */
export function successOf(call: PendingCall, payload: unknown): Answer {
  return {
    call: answeredCall(call),
    outcome: { type: 'success', basis: 'declared' },
    payload: payload === undefined ? null : payload,
  };
}

/** What went wrong on our side: the tool was not asked, or could not answer. */
export function clientError(call: PendingCall, message: string): Answer {
  return {
    call: answeredCall(call),
    outcome: { type: 'error', message: message.toWellFormed(), origin: 'client', basis: 'ours' },
  };
}

/** @param names of the tools there are */
export function unknownTool(call: PendingCall, names: readonly string[]): Answer {
  const there = names.length > 0 ? ` There are: ${names.join(', ')}.` : '';
  return clientError(call, `Unknown tool: ${call.tool}.${there}`);
}

/** A call with its answer, as it is posted. */
export interface Settled {
  readonly call: PendingCall;
  /** What became of it: `tool_result` or `error_event`. */
  readonly kind: string;
  /** JSON. */
  readonly bytes: Uint8Array;
  /** What the model should have had, and this wire cannot carry; in words. */
  readonly losses: readonly string[];
}

/** Whatever else a wire has is for people, or for programs, and is expected to stay here. */
const FOR_THE_MODEL: ReadonlySet<Feature> = new Set([
  'images',
  'other content',
  'structured content',
  'subscription',
]);

/** The answer on the session's wire, `tool_req` echoed whole (seed 001). What is no JSON becomes an error that says so. */
export function settle(call: PendingCall, answer: Answer): Settled {
  try {
    return written(call, answer);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return written(call, clientError(call, `the result is no JSON: ${why}`));
  }
}

/** An error in the place of an answer that cannot be posted. */
export function settleWithError(call: PendingCall, message: string): Settled {
  return written(call, clientError(call, message));
}

/** An answer that is ready becomes a fact, and so does what is lost of it. */
export function tellAnswered(
  { log, thread }: Pick<PlatformDesk, 'log' | 'thread'>,
  settled: Settled,
): Settled {
  const { call, losses } = settled;
  const concerns = { thread, calls: [call.key] };
  log.emit({ kind: 'answered', by: 'client', ...concerns, body: new Content(settled.bytes) });
  for (const message of losses)
    log.emit({ kind: 'warned', ...concerns, message: `${call.tool}: ${message}` });
  return settled;
}

function written(call: PendingCall, answer: Answer): Settled {
  const { body, losses } = sessionDialect.write({ ...answer, call: answeredCall(call) });
  const told = losses.filter(({ feature }) => FOR_THE_MODEL.has(feature)).map(({ message }) => message);
  const kind = isRecord(body) ? foreignWords(body['kind']) : '';
  if (isRecord(body) && 'result' in body && JSON.stringify(body['result']) === undefined)
    throw new TypeError(`JSON has nothing for a ${typeof body['result']}`); // it would be left out in silence
  return { call, kind, bytes: Buffer.from(JSON.stringify(body)), losses: told };
}

/** Bytes; larger bodies are refused (platforms). */
export const MOST_BYTES = 5 * 1024 * 1024;

/** One body of `tool_results`, and whose answers are in it. */
export interface ResultsBody {
  readonly settled: readonly Settled[];
  readonly bytes: Uint8Array;
}

const START = '{"type":"batch","results":[';
const END = ']}';
const FRAME = START.length + END.length;

/** As few bodies as possible, in order: bare for one call, a batch for more. One that is too large by itself has a body of its own. */
export function bodiesOf(settled: readonly Settled[], most = MOST_BYTES): ResultsBody[] {
  const groups: Settled[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of settled) {
    size += each.bytes.length + 1;
    if (size <= most) groups.at(-1)?.push(each);
    else {
      groups.push([each]);
      size = FRAME + each.bytes.length;
    }
  }
  return groups.map(bodyOf);
}

/** One body for these, whatever its size. */
export function bodyOf(settled: readonly Settled[]): ResultsBody {
  const [only] = settled;
  if (only && settled.length === 1) return { settled, bytes: only.bytes };
  const pieces = settled.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [Buffer.from(','), bytes]));
  return { settled, bytes: Buffer.concat([Buffer.from(START), ...pieces, Buffer.from(END)]) };
}
