import { isEqual } from '../../fixtures/matching/equal.js';
import { ACTIVE_STATE_CHANGE } from '../../protocol/session/changes.js';
import { isSettledStatus } from '../../protocol/session/status.js';
import { excerpt } from '../../text/excerpt.js';
import { foreignWords } from '../../text/foreign-words.js';
import { isRecord } from '../../text/is-record.js';

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
