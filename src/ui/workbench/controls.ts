import type { SchemaFault } from '../../json-schema/fault.js';

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
