import type { JudgedOutcome } from '../protocol/outcome.js';

/** The wires on which a tool's outcome is handed back (platforms "One model"). */
export const DIALECT_NAMES = ['rap', 'session', 'lmkit', 'mcp'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** Which call is answered, as far as a wire says. */
export interface AnsweredCall {
  /** Null where the wire has none, or says null. */
  readonly id: string | null;
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** RAP's `group_id`. */
  readonly thread?: string;
  /** RAP's `call_id`. */
  readonly secondaryId?: string;
  /** The pending call of an agent session, as it was asked: its answer echoes it whole (seed 001). */
  readonly request?: Readonly<Record<string, unknown>>;
}

/** What a tool's answer says, whichever wire it came on. */
export interface Answer {
  readonly call: AnsweredCall;
  readonly outcome: JudgedOutcome;
  /**
   * What the model gets: a text, or other JSON. Absent where nothing was given, which is not null.
   * A success is written with it, and an unknown outcome; any other is written in the words of its wire.
   */
  readonly payload?: unknown;
  /** What a wire says beside that: display segments, structured content, a subscription, images. By feature. */
  readonly beside?: Readonly<Partial<Record<Feature, unknown>>>;
}

/** An image of an answer. */
export interface Image {
  /** Base64. */
  readonly data: string;
  readonly mediaType: string;
}

/** What an answer can have, and a wire can carry or not. */
export const FEATURES = [
  'success',
  'error',
  'canceled',
  'timeout',
  'denied',
  'unknown',
  'error code',
  'error type',
  'error origin',
  'text',
  'JSON',
  'no payload',
  'images',
  'other content',
  'order of content',
  'structured content',
  'meta',
  'display',
  'subscription',
  'id',
  'tool',
  'arguments',
  'other request fields',
  'thread',
  'secondary id',
  'other fields',
] as const;
export type Feature = (typeof FEATURES)[number];

/** `convention`: carried, and read back for what it is only because texts are commonly written so. */
export type Carriage = 'exact' | 'convention' | 'lost';

/** What a writer could not carry, in words for a person. */
export interface Loss {
  readonly feature: Feature;
  readonly message: string;
}

/** The native message is kept: written unchanged on its own wire, it is exactly what it was. */
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

export interface Writing {
  /** JSON. */
  readonly body: unknown;
  readonly losses: readonly Loss[];
}

/** A pure pair: from a wire's message to the one model, and back. Never throws. */
export interface Dialect {
  readonly name: DialectName;
  /** What its message is, for people, with its article. */
  readonly title: string;
  /** By feature. Whatever an outcome has is lost with it. */
  readonly carries: Readonly<Record<Feature, Carriage>>;
  /** @param native JSON, as somebody else wrote it */
  read(native: unknown): Reading;
  write(answer: Answer): Writing;
}
