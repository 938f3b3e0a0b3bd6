import { startSessionPlatform as start } from '../agent-session/platform/platform.js';
import type { Event } from '../events/events.js';
import type { SessionScript } from '../fixtures/session-script-types.js';
import type { WaitOptions } from '../mock/mock-tool.js';
import type { SessionStatus } from '../protocol/session.js';
import type { SessionVerificationReport } from '../verification/report.js';

/** What the platform serves, and where. */
export interface SessionPlatformOptions {
  /** From `readSessionScript` or `parseSessionScript`; default: one pending call of `lookup_order`. */
  readonly script?: SessionScript;
  /** The API key, which clients send as `Authorization: Bearer …`; default: a random one. */
  readonly key?: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Host names besides loopback that requests may use. */
  readonly allowHosts?: readonly string[];
}

/** A call that the agent waits for. */
export interface AgentToolCall {
  /** Its id, or `#1`, `#2` … if that is null. */
  readonly key: string;
  readonly tool_name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly id: string | null;
}

/** A call as the client posted it with its answer. */
export interface PostedCall {
  readonly tool_name: string;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  readonly id?: string | null | undefined;
}

/** A call with its first accepted answer, as the client posted it: `kind` is `tool_result` or `error_event`. */
export interface SettledToolCall {
  readonly call: AgentToolCall;
  readonly answer:
    | { readonly kind: 'tool_result'; readonly tool_req: PostedCall; readonly result?: unknown }
    | {
        readonly kind: 'error_event';
        readonly tool_req: PostedCall;
        readonly error: string;
        readonly origin: string;
      };
}

/** A snapshot of a session. */
export interface SessionState {
  readonly id: string;
  readonly status: SessionStatus;
  /** The agent's final answer as JSON; null without one. */
  readonly answer: unknown;
  readonly pending: readonly AgentToolCall[];
  readonly settled: readonly SettledToolCall[];
}

/**
 * A mock platform of agent sessions, whose agent follows a script.
 * @example
 * const answers = (platform: SessionPlatform) => platform.sessions().map(({ answer }) => answer);
 */
export interface SessionPlatform extends AsyncDisposable {
  /** The API key, which clients send as `Authorization: Bearer …`. */
  readonly key: string;
  /** The id of the session that exists from the start; clients can create others. */
  readonly session: string;
  readonly port: number;
  /** The base URL, without `/api/v2`. */
  readonly url: string;
  /** Snapshots of all sessions, oldest first. */
  sessions(): readonly SessionState[];
  /** The latest events, oldest first. */
  readonly events: readonly Event[];
  /** Calls the listener for every future event. Returns a function that stops this. */
  subscribe(listener: (event: Event) => void): () => void;
  /**
   * Resolves once a session has ended or is idle.
   * @param id default: the session that exists from the start
   * @throws Error if there is no such session, or after `timeoutMs` (default 4,000)
   */
  waitForSettled(id?: string, options?: WaitOptions): Promise<SessionState>;
  /** What is unanswered, unexpected, unreached or refused in the sessions that clients used; in all sessions if they used none. */
  verify(): SessionVerificationReport;
  /** Ends long polls with 204, then stops the server. */
  close(): Promise<void>;
}

/**
 * Starts a mock platform of agent sessions.
 * @throws ProtocolCliError `port-in-use`, `usage`
 * @example
 * await using platform = await startSessionPlatform();
 * const answerer = answerWith({ lookup_order: ({ order_id }) => `order ${order_id}: shipped` });
 * const { status } = await answerSession(platform.url, platform.session, { key: platform.key, answerer });
 */
export function startSessionPlatform(options?: SessionPlatformOptions): Promise<SessionPlatform> {
  return start(options);
}
