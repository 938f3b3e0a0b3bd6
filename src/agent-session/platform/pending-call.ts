import type { SettledCall } from '../../protocol/session.js';

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

/** A pending call in the form that clients receive and send back. */
export function publishedCall({ tool_name, args, id }: PendingCall): Omit<PendingCall, 'key'> {
  return { tool_name, ...(args && { args }), id };
}
