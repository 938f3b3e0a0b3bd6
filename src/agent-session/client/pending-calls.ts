import { isEqual } from '../../fixtures/pattern.js';
import { ACTIVE_STATE_CHANGE, isSettledStatus } from '../../protocol/session.js';
import { SessionCallKeys } from '../../protocol/session-call-keys.js';
import { excerpt } from '../../util/text.js';
import { isRecord, stringOrJson } from '../../util/values.js';

type Fields = Readonly<Record<string, unknown>>;

/** A call that an agent session waits for. */
export interface PendingCall {
  /** Call key in every event: its id, or `#1`, `#2` … if that is null; a reused id gets a number. */
  readonly key: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly id: string | null;
  /** The request as the platform sent it; the answer contains all of it (seed 001). */
  readonly native: Readonly<Record<string, unknown>>;
  /** Why the call cannot be passed to a tool. */
  readonly fault?: string;
}

/**
 * The pending calls of a session, from its events. The latest `ActiveStateChangeEvent` counts. When calls settle, the remaining ones
 * are published again and keep their keys. Invalid events never throw.
 */
export class PendingCalls {
  calls: readonly PendingCall[] = [];
  readonly #keys = new SessionCallKeys();

  /** @param clean redacts everything that is not sent back to the platform */
  constructor(private readonly clean: (text: string) => string) {}

  /** @returns warnings about unreadable parts. */
  apply(event: unknown): readonly string[] {
    if (!isRecord(event) || event['type'] !== ACTIVE_STATE_CHANGE) return [];
    const { data } = event;
    if (!isRecord(data) || typeof data['state'] !== 'string')
      return [`an ${ACTIVE_STATE_CHANGE} has no state`];
    const { state } = data;
    const listed = data['pending_tool_calls'] ?? [];
    if (state === 'running' || isSettledStatus(state)) return this.#replace([]);
    if (!Array.isArray(listed)) return ['pending_tool_calls is not a list'];
    // Other states, such as paused, do not mean that no call is pending.
    return listed.length > 0 || state === 'awaiting_tool_results' ? this.#replace(listed) : [];
  }

  #replace(listed: readonly unknown[]): readonly string[] {
    const before = [...this.calls];
    const calls: PendingCall[] = [];
    const warnings: string[] = [];
    for (const entry of listed) {
      const same = (call: PendingCall) => isRecord(entry) && isSameCall(call.native, entry);
      if (!isRecord(entry) || typeof entry['tool_name'] !== 'string')
        warnings.push(this.#unanswerable(entry));
      else if (hasId(entry) && calls.some(same)) warnings.push(this.#twice(entry));
      else {
        const index = before.findIndex(same);
        const [known] = index < 0 ? [] : before.splice(index, 1);
        calls.push(known ?? this.#newCall(entry, entry['tool_name']));
      }
    }
    this.calls = calls;
    return warnings;
  }

  #newCall(native: Fields, tool: string): PendingCall {
    const { args = {}, id = null } = native;
    const name = typeof id === 'string' ? this.clean(id) : '';
    return {
      key: this.#keys.next(name),
      tool,
      args: isRecord(args) ? args : {},
      id: typeof id === 'string' ? id : null,
      native,
      ...(!isRecord(args) && args !== null && { fault: 'the args of this call are not a JSON object' }),
    };
  }

  #unanswerable(entry: unknown): string {
    const written = excerpt(this.clean(JSON.stringify(entry) ?? ''));
    return `a pending call has no tool_name and cannot be answered: ${written}`;
  }

  #twice({ id }: Fields): string {
    const written = excerpt(this.clean(stringOrJson(id)));
    return `the id ${written} is pending twice: only the first of the two calls is answered`;
  }
}

/** Identifies a call by id; without an id by name and arguments. */
function isSameCall(a: Fields, b: Fields): boolean {
  if (hasId(a) || hasId(b)) return isEqual(a['id'], b['id']);
  return a['tool_name'] === b['tool_name'] && isEqual(a['args'] ?? {}, b['args'] ?? {});
}

function hasId({ id }: Fields): boolean {
  return id !== undefined && id !== null && id !== '';
}
