import type { CallLog } from '../../events/call-log.js';
import type { Listener } from '../../events/log.js';
import type { SchemaFault } from '../../json-schema/schema-faults.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import type { Colours } from '../../render/terminal/theme.js';
import type { Clock } from '../../system/clock.js';
import type { Redactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import type { FullScreenOptions } from '../full-screen.js';
import type { ActionResult } from '../screen/effects.js';

export interface Draft {
  readonly server: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface RunOptions {
  /** Validates the arguments against the `inputSchema`. */
  readonly validates: boolean;
  /** The user agreed to this destructive call. */
  readonly isAgreed?: boolean;
}

/** The result of a draft: sent under this key, or why it was not sent. */
export type Sent =
  | { readonly kind: 'sent'; readonly key: string }
  /** The arguments do not match the `inputSchema` (RT-ARGS). */
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** A shell command, on one or several lines, without hidden characters. */
export interface ShellLine {
  readonly text: string;
  /** The names of the placeholders to fill in before the command can run: secrets, the callback URL. */
  readonly gaps: readonly string[];
}

/** A tool server that was opened: its id. */
export interface Opened {
  readonly server: string;
}

/** The actions of the workbench. They never throw or reject: failures are returned. */
export interface Controls {
  /** Opens a tool server by URL, `:port` or `demo`, or reloads it. Returns its id, or why it cannot be opened. */
  readonly open: (target: string) => Opened | ActionResult;
  /** Starts a server that was not started, or reloads one; a ready server stays ready meanwhile. */
  readonly load: (server: string) => void;
  /** Restarts a server that is a command; reloads any other server. @param why if the user did not ask for it */
  readonly restart: (server: string, why?: string) => void;
  readonly remove: (server: string) => void;
  /** Whether the user must agree first: the operation is destructive, and no option or policy allows it by name. */
  readonly needsConsent: (server: string, operation: string) => boolean;
  /** Validates and sends a draft. Refuses a draft that needs consent unless the user agreed to this call. */
  readonly run: (draft: Draft, options: RunOptions) => Promise<Sent>;
  /** Records that the user declined; sends nothing. */
  readonly decline: (draft: Draft) => Promise<ActionResult>;
  /** @param leg the request id of the question @param selected index from 0. Returns null if the answer is being sent. */
  readonly answer: (key: string, leg: string, selected: number) => ActionResult | null;
  /** Cancels the pending call, or its subscription, and notifies the tool. */
  readonly cancel: (key: string) => Promise<ActionResult>;
  readonly visit: (url: string) => Promise<ActionResult>;
  /** The invocation of a call as a new one, as a curl command. @param source its id */
  readonly asCurl: (key: string, source: number) => ShellLine | null;
  /** The call as a command of this program, or why that is impossible. */
  readonly asCommand: (key: string, source: number) => ShellLine | ActionResult;
  /** Copies to the terminal's clipboard (OSC 52). */
  readonly copy: (text: string) => ActionResult;
  /** Saves the call as a fixture file for a mock. Never replaces a file. */
  readonly saveFixture: (key: string, source: number, path: string) => Promise<ActionResult>;
  /** Saves all events of this session, without secrets. Never replaces a file. */
  readonly saveTranscript: (path: string) => Promise<ActionResult>;
  readonly openTranscript: (path: string) => Promise<ActionResult>;
  /** This file name, or a similar one that is still free. */
  readonly freeName: (name: string) => Promise<string>;
  /** The paths that begin with this text, sorted; directories end in a slash. */
  readonly paths: (typed: string) => Promise<readonly string[]>;
  readonly quit: () => void;
}

export interface Server {
  /** An id assigned by this program, not by the server. */
  readonly id: string;
  /** The user's name for it: a URL, a command, or the demo. */
  readonly about: string;
  /** The server is listed in `.infinity/rap.json`. */
  readonly isConfigured: boolean;
  /** The latest lines of a started server's stderr, without secrets. */
  readonly output?: readonly string[];
  /** The last restart, after it ended: a new object each time. `why` is null if the user asked for it. */
  readonly restarted?: { readonly why: string | null };
  readonly state:
    | { readonly kind: 'loading' }
    /** A configured command starts only when the user allows it. */
    | { readonly kind: 'unstarted'; readonly command: string }
    | {
        readonly kind: 'ready';
        readonly base: string;
        readonly toolset: Toolset;
        readonly notes: readonly string[];
      }
    | {
        readonly kind: 'failed';
        /** How a started server ended: `exited with status 1`. */
        readonly exited?: string;
        readonly message: string;
        /** The individual errors with their places, if there are several. */
        readonly faults: readonly string[];
        readonly hint: string | null;
      };
}

export function toolsOf({ state }: Server): readonly Tool[] {
  return state.kind === 'ready' ? state.toolset.tools : [];
}

/**
 * Returns the number of configured toolsets that define an operation of a server. If there are several, none is used (RT-TOOLSET). A
 * server that the user opened counts alone.
 */
export function definitionsIn(servers: readonly Server[]) {
  const counts = new Map<string, number>();
  for (const server of servers)
    for (const { name } of server.isConfigured ? toolsOf(server) : [])
      counts.set(name, (counts.get(name) ?? 0) + 1);
  return ({ isConfigured }: Server, operation: string) => (isConfigured && counts.get(operation)) || 1;
}

export function definitionsText(definitions: number): string {
  return `${definitions} configured toolsets define it, so none of them is used (RT-TOOLSET)`;
}

/** The events of this session, or of a transcript that was opened. */
export interface Source {
  /** Unique; a file that is opened again keeps its id. */
  readonly id: number;
  /** `this session`, or the name of the file. */
  readonly name: string;
  readonly callLog: CallLog;
  readonly isLive: boolean;
  /** Removes the credentials of the session and the secrets in these events (threats, row 25). */
  readonly redactor: Redactor;
}

/** The state that the workbench shows. It is mutable; changes call the listeners of `subscribe`. */
export interface Model {
  readonly servers: readonly Server[];
  /** The URLs of servers that the user opened before, the latest first. Untrusted. */
  readonly recent: readonly string[];
  /** The first one is this session. */
  readonly sources: readonly Source[];
  /** The id of the server of a call in this session, sent or declined; null for any other call. */
  readonly serverOf: (key: string) => string | null;
  readonly isUnvalidated: (key: string) => boolean;
}

interface Start {
  /** The id of a server; by default the first server that has the operation. */
  readonly server?: string;
  readonly operation?: string;
  readonly transcript?: string;
  /** The values of its form. Their types depend on the `inputSchema`, which is loaded later. */
  readonly arguments?: (schema: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

export interface SessionOptions extends Colours {
  readonly model: Model;
  readonly controls: Controls;
  readonly clock: Clock;
  readonly supports: ReadonlySet<string>;
  readonly start: Start;
}

export interface WorkbenchOptions extends SessionOptions, FullScreenOptions {
  /** Calls the listener after changes of servers or sources. */
  readonly onModelChange: (listener: () => void) => () => void;
  /** Calls the listener for each event, after it was added to the session's call log. */
  readonly subscribe: (listener: Listener) => () => void;
}

export const TRANSCRIPT_NAME = 'session.ndjson';

/** The suggested file name for a fixture: the operation, without characters that could form a path. */
export function fixtureName(operation: string): string {
  const stem = visibleLine(operation)
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '_')
    .replace(/^\.+/, '')
    .slice(0, 60);
  return `${stem || 'fixture'}.yaml`;
}
