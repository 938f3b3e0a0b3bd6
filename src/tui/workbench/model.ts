import type { Book } from '../../events/call-log.js';
import type { Listener } from '../../events/log.js';
import type { SchemaFault } from '../../json-schema/validate.js';
import type { Toolset } from '../../protocol/toolset.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import type { Clock } from '../../system/drafts.js';
import type { Redactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';

/** A call that a person has filled in. */
export interface Draft {
  readonly server: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** How a draft is run. */
export interface RunOptions {
  /** Against the `inputSchema`. */
  readonly validates: boolean;
  /** A person agreed to this call; not unless told. */
  readonly isAgreed?: boolean;
}

/** What becomes of a draft: sent under this key, or not, and why. */
export type Sent =
  | { readonly kind: 'sent'; readonly key: string }
  /** Against the `inputSchema`; RT-ARGS. */
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** What came of a doing, in words for a person. */
export interface Said {
  readonly text: string;
  readonly isBad: boolean;
}

/** A command for a shell, in one or several lines; nothing unseen is in it. */
export interface ShellLine {
  readonly text: string;
  /** What has to be put in before it can be run: secrets, where callbacks go. By its names, which may be foreign. */
  readonly gaps: readonly string[];
}

/** What a person can make happen. Nothing here throws or rejects: what fails says so. */
export interface Controls {
  /** A tool server: a URL, `:port`, or `demo`. One that is there already is asked once more. Returns its id; else why it is none. */
  readonly open: (target: string) => { readonly server: string } | Said;
  /** Starts a server that is asleep, or asks one once more; one that is ready stays so meanwhile. */
  readonly wake: (server: string) => void;
  /** Takes a server out that failed; any other one stays. */
  readonly dismiss: (server: string) => void;
  /** Whether a person has to agree before it is called: it is destructive, and neither an option nor a policy allows it by name. */
  readonly needsConsent: (server: string, operation: string) => boolean;
  /** What of a draft breaks its `inputSchema`, as far as that can be told; nothing is sent. */
  readonly check: (draft: Draft) => Promise<readonly SchemaFault[]>;
  /** Checked against the `inputSchema`, then sent. One that needs consent is refused unless a person agreed to this very call. */
  readonly run: (draft: Draft, options: RunOptions) => Promise<Sent>;
  /** A person was asked and said no: nothing is sent, and that is on record. */
  readonly decline: (draft: Draft) => Promise<Said>;
  /** @param leg on which the question came @param selected index from 0. Null where the answer is on its way. */
  readonly answer: (key: string, leg: string, selected: number) => Said | null;
  /** The pending call, or its subscription, is given up; the tool is told. */
  readonly cancel: (key: string) => Promise<Said>;
  /** Opens a consent page in the browser. */
  readonly visit: (url: string) => Promise<Said>;
  /** The invocation of a call as a new one, by curl. @param volume its id */
  readonly asCurl: (key: string, volume: number) => ShellLine | null;
  /** The same by this program; else why there is no such line. */
  readonly asCommand: (key: string, volume: number) => Promise<ShellLine | Said>;
  /** To the terminal's clipboard (OSC 52). */
  readonly copy: (text: string) => Said;
  /** What came of the call, as a fixture file that a mock serves. Never replaces a file. */
  readonly saveFixture: (key: string, volume: number, path: string) => Promise<Said>;
  /** Everything of this session, secrets out. Never replaces a file. */
  readonly saveTranscript: (path: string) => Promise<Said>;
  /** Becomes another volume. */
  readonly openTranscript: (path: string) => Promise<Said>;
  /** The name of a file, or the next one like it that nothing has where paths begin. */
  readonly freeName: (name: string) => Promise<string>;
  /** What a path that begins so may be, in order; folders end in a slash. */
  readonly paths: (typed: string) => Promise<readonly string[]>;
  readonly quit: () => void;
}

/** A tool server of this session, however far it is. */
export interface Server {
  /** Ours, never the server's. */
  readonly id: string;
  /** As it was named: a URL, a command, the demo. */
  readonly about: string;
  /** By `.infinity/rap.json`, and not by a person. */
  readonly isConfigured: boolean;
  readonly state:
    | { readonly kind: 'loading' }
    /** A command that a configuration names is started only once a person allows it. */
    | { readonly kind: 'asleep'; readonly command: string }
    | {
        readonly kind: 'ready';
        readonly base: string;
        readonly toolset: Toolset;
        readonly notes: readonly string[];
      }
    | {
        readonly kind: 'failed';
        readonly message: string;
        /** Single ones, each with its place, where there is more than one to tell. */
        readonly faults: readonly string[];
        readonly hint: string | null;
      };
}

/** How many configured toolsets define each operation; of several none is used (RT-TOOLSET). A person knows which one they opened. */
export function definitionsIn(servers: readonly Server[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { isConfigured, state } of servers)
    if (isConfigured && state.kind === 'ready')
      for (const { name } of state.toolset.tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Events that can be looked at: this session's own, or those of a transcript that was opened. */
export interface Volume {
  /** Of this volume alone, and of the same file when it is opened again. */
  readonly id: number;
  /** `this session`, or the name of the file. */
  readonly name: string;
  readonly book: Book;
  readonly isLive: boolean;
  /** Of whatever is not for the human to read: it knows the credentials of the session, and what is secret in these events (threats, row 25). */
  readonly redactor: Redactor;
}

/** What there is to see. Its parts change meanwhile; who changes them says so. */
export interface World {
  readonly servers: readonly Server[];
  /** As they are named: those that ever told this session what they offer, be they taken out since. */
  readonly names: ReadonlySet<string>;
  /** The first is this session. */
  readonly volumes: readonly Volume[];
  /** The id of the server that a call of this session was made by, or was not, by a no; null of any other call. */
  readonly serverOf: (key: string) => string | null;
  /** Whether the arguments of a call of this session went out without validation. */
  readonly isUnvalidated: (key: string) => boolean;
}

/** What a person wants to do first. */
export interface Start {
  /** The id of a server; the first one that offers the operation unless told. */
  readonly server?: string;
  readonly operation?: string;
  /** The path of one that is shown at once. */
  readonly transcript?: string;
  /** What its form is filled in with: as words they are typed by its `inputSchema`, which is not known before. */
  readonly arguments?: (schema: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

export interface SessionOptions {
  readonly world: World;
  readonly controls: Controls;
  readonly clock: Clock;
  readonly level: ColourLevel;
  readonly supports: ReadonlySet<string>;
  readonly start: Start;
}

export interface WorkbenchOptions extends SessionOptions {
  /** Told when servers or volumes are not as they were. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Of events, once the session's book has them. */
  readonly onEvent: (listener: Listener) => () => void;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** How many configured toolsets define an operation of this server (RT-TOOLSET). @param definitions of all servers, see `definitionsIn` */
export function rivalsOf(
  { isConfigured }: Server,
  operation: string,
  definitions: ReadonlyMap<string, number>,
): number {
  return isConfigured ? (definitions.get(operation) ?? 1) : 1;
}

/** The same of the server with this id; one that is gone has none. */
export function rivalsAt(id: string, operation: string, servers: readonly Server[]): number {
  const server = servers.find(each => each.id === id);
  return server ? rivalsOf(server, operation, definitionsIn(servers)) : 1;
}

/** Why it cannot be called. */
export function rivalWords(rivals: number): string {
  return `${rivals} configured toolsets define it, so none of them is used (RT-TOOLSET)`;
}

/** Names of files, as they are offered to whoever saves one. */
export const TRANSCRIPT_NAME = 'session.ndjson';

/** The operation is a good name, as far as a file system takes it: a foreign name is no path. */
export function fixtureName(operation: string): string {
  const stem = visibleLine(operation)
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '_')
    .replace(/^\.+/, '')
    .slice(0, 60);
  return `${stem || 'fixture'}.yaml`;
}
