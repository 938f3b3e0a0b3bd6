import type { ScriptCall } from '../../fixtures/session-script-types.js';
import type { SettledCall } from '../../protocol/session.js';
import { isRecord } from '../../util/values.js';

/** A call that the agent waits for. */
export interface PendingCall {
  /** Its id, or `#1`, `#2` … if that is null; a reused id gets a number. */
  readonly key: string;
  readonly tool_name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly id: string | null;
}

/** A call with its first accepted answer. */
export interface AnsweredCall {
  readonly call: PendingCall;
  readonly answer: SettledCall;
}

/** @param filled the arguments of the script, without templates */
export function pendingCall({ key, tool_name, args, id }: ScriptCall, filled: unknown): PendingCall {
  if (!args) return { key, tool_name, id };
  return { key, tool_name, id, args: isRecord(filled) ? filled : args };
}

/** A pending call in the form that clients receive and send back. */
export function publishedCall({ tool_name, args, id }: PendingCall): Omit<PendingCall, 'key'> {
  return { tool_name, ...(args && { args }), id };
}
