import type { JsonReading } from '../../../text/json.js';
import type { Section } from '../sheet.js';

/** The wire that a saved thing was made for. One that is new is a line here, and kinds that have it. */
export const DIALECTS = ['rap'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** For whom it is shown. */
export interface View {
  readonly supports: ReadonlySet<string>;
  /** Whether nobody but the user sees it: a terminal, no file. */
  readonly isPrivate: boolean;
}

/** What was recognised. */
export interface Saved {
  sections(view: View): readonly Section[];
  /** `-o json`. */
  report(view: View): unknown;
  /** What of it could not be read, each with its place. */
  readonly faults: readonly string[];
}

export type Recognition =
  | { readonly ok: true; readonly saved: Saved }
  /** What it should have been, and each fault with its JSON path. */
  | { readonly ok: false; readonly faults: readonly string[] };

export type SoundJson = Extract<JsonReading, { ok: true }>;

/** One kind of JSON object that can be shown. */
export interface Kind {
  /** With its article, for a person. */
  readonly name: string;
  readonly dialect: Dialect;
  /** The keys it is told by, for what nearly is one. */
  readonly keys: readonly string[];
  /** Whether the object is meant to be one, sound or not. */
  isMeant(value: Readonly<Record<string, unknown>>): boolean;
  read(json: SoundJson): Promise<Recognition>;
}
