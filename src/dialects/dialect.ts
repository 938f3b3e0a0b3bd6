import type { JudgedOutcome } from '../protocol/outcome.js';

/** The formats in which the answer of a tool is handed back (platforms "One model"). */
export const DIALECT_NAMES = ['rap', 'session', 'lmkit', 'mcp'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** The call that is answered, as far as a format says. */
export interface AnsweredCall {
  /** Null if the format has none, or says null. */
  readonly id: string | null;
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** RAP's `group_id`. */
  readonly thread?: string;
  /** RAP's `call_id`. */
  readonly secondaryId?: string;
  /** The pending call of an agent session: the answer repeats it whole (seed 001). */
  readonly request?: Readonly<Record<string, unknown>>;
}

/** A tool's answer, independent of the format it came in. */
export interface Answer {
  readonly call: AnsweredCall;
  readonly outcome: JudgedOutcome;
  /**
   * What the model gets: a text, or other JSON; absent if nothing was given, which is not null. Only a success and an unknown outcome
   * are written with it; the others have words of their own.
   */
  readonly payload?: unknown;
  /** Everything else: display segments, structured content, a subscription, images. */
  readonly beside?: Readonly<Partial<Record<Feature, unknown>>>;
}

export interface Image {
  /** Base64. */
  readonly data: string;
  readonly mediaType: string;
}

/** What an answer can have, and a format may not support. */
export type Feature =
  | JudgedOutcome['type']
  | 'error code'
  | 'error type'
  | 'error origin'
  | 'JSON'
  | 'no payload'
  | 'images'
  | 'other content'
  | 'order of content'
  | 'structured content'
  | 'meta'
  | 'display'
  | 'subscription'
  | 'id'
  | 'tool'
  | 'arguments'
  | 'other request fields'
  | 'thread'
  | 'secondary id'
  | 'other fields';

/** The native message is kept: in its own format it is written unchanged. */
export type Reading = SoundReading | { readonly ok: false; readonly faults: readonly string[] };

export interface SoundReading {
  readonly ok: true;
  readonly dialect: DialectName;
  readonly native: unknown;
  readonly answer: Answer;
  /** What the model gets, as one text: JSON as it is written, an image as a placeholder. */
  readonly text: string;
  /** What is odd about it, though it could be read. */
  readonly notes: readonly string[];
}

/** What a written message does not say. */
export interface WriteWarning {
  readonly feature: Feature;
  readonly message: string;
}

export interface Writing {
  /** JSON. */
  readonly body: unknown;
  readonly warnings: readonly WriteWarning[];
}

/** Converts messages of a format to the common model and back. Pure; never throws. */
export interface Dialect {
  readonly name: DialectName;
  /** What its message is, for people, with its article. */
  readonly title: string;
  /** @param native JSON from a foreign program */
  read(native: unknown): Reading;
  write(answer: Answer): Writing;
}
