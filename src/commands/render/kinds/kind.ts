import type { DialectName } from '../../../dialects/dialect.js';
import type { Translatable } from '../../../dialects/index.js';
import type { JsonReading } from '../../../text/json.js';
import type { Section } from '../sheet.js';

/** For whom it is shown. */
export interface View {
  readonly supports: ReadonlySet<string>;
  /** Whether nobody but the user sees it: a terminal, no file. */
  readonly isPrivate: boolean;
}

/** Which calls are shown: the one with this number or id, those without a successful result, or both. */
export interface CallSelection {
  readonly call?: string;
  readonly failed?: boolean;
}

/** What was recognised. */
export interface Saved {
  sections(view: View): readonly Section[];
  /** `-o json`. */
  report(view: View): unknown;
  /** The answers of tools that it holds, in their order; what is a message of the wire asked for, is itself one. */
  answers?(to: DialectName): readonly SavedAnswer[];
  /** Of a transcript, only these of its calls. @throws ProtocolCliError `usage` where there is no such call */
  only?(selection: CallSelection): Saved;
  /** What of it could not be read, each with its place. */
  readonly faults: readonly string[];
  /** What was lost of it, each with its place where there is one; nothing unless told. */
  readonly losses?: readonly string[];
}

/** What can be written for another wire; without an answer, for its own alone. */
export type SavedAnswer = (Translatable | Required<Pick<Translatable, 'dialect' | 'native'>>) & Written;

/** Where its JSON is as it was written; neither where nobody wrote it. */
interface Written {
  /** The path in what was recognised. */
  readonly at?: readonly PropertyKey[];
  /** The JSON itself. */
  readonly source?: string;
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
  /** The wire that it was made for. */
  readonly dialect: DialectName;
  /** The keys it is told by, for what nearly is one. */
  readonly keys: readonly string[];
  /** Whether the object is meant to be one, sound or not. */
  isMeant(value: Readonly<Record<string, unknown>>): boolean;
  read(json: SoundJson): Promise<Recognition>;
}
