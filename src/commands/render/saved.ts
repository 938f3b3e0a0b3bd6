import type { DialectName, SoundReading } from '../../dialects/dialect.js';
import type { Translatable } from '../../dialects/dialects.js';
import type { Drawing } from '../../display/segments.js';
import type { Event } from '../../events/events.js';
import type { Line } from '../../render/line.js';
import type { Pane } from '../../render/panes.js';
import type { JsonReading } from '../../util/json.js';
import type { Redactor } from '../../util/redact.js';

/** A part of what is shown, laid out only when it is printed. A blank row separates parts. */
export type Section =
  | { readonly kind: 'lines'; readonly lines: readonly Line[] }
  | { readonly kind: 'drawing'; readonly drawing: Drawing }
  | { readonly kind: 'pane'; readonly pane: Pane }
  | { readonly kind: 'messages'; readonly events: readonly Event[]; readonly redactor: Redactor }
  /** Side by side where there is room. */
  | { readonly kind: 'panes'; readonly human: Pane; readonly llm: Pane };

export const linesSection = (lines: readonly Line[]): Section => ({ kind: 'lines', lines });

export const paneSection = (pane: Pane): Section => ({ kind: 'pane', pane });

export const panesSection = ({ human, llm }: { readonly human: Pane; readonly llm: Pane }): Section => ({
  kind: 'panes',
  human,
  llm,
});

/** For whom it is shown. */
export interface View {
  readonly supports: ReadonlySet<string>;
  /** Whether it goes to a terminal, which only the user sees. */
  readonly isPrivate: boolean;
}

/** Which calls are shown: the one with this number or id, those without a successful result, or both. */
export interface CallSelection {
  readonly call?: string;
  readonly failed?: boolean;
}

/** A saved file whose format was recognized. */
export interface Saved {
  sections(view: View): readonly Section[];
  /** `-o json`. */
  report(view: View): unknown;
  /** The answers of tools in it, in order. @param to the system for which they are wanted */
  answers?(to: DialectName): readonly SavedAnswer[];
  /** Of a transcript, only these calls. @throws ProtocolCliError `usage` for an unknown call */
  only?(selection: CallSelection): Saved;
  /** What could not be read, each with its place. */
  readonly faults?: readonly string[];
  /** What is missing, each with its place if there is one. */
  readonly losses?: readonly string[];
}

/** What can be written for another system; without `answer`, for its own only. */
export type SavedAnswer = (Translatable | Pick<SoundReading, 'dialect' | 'native'>) & {
  readonly answer?: SoundReading['answer'];
  /** Its path in the file, if it was written there. */
  readonly at?: readonly PropertyKey[];
  /** Its JSON as it was written, if that is not at a path of the file. */
  readonly source?: string;
};

export type Recognition =
  | { readonly ok: true; readonly saved: Saved }
  /** Each fault with its JSON path. */
  | Refused;

interface Refused {
  readonly ok: false;
  readonly faults: readonly string[];
}

export type SoundJson = Extract<JsonReading, { ok: true }>;

/** One kind of JSON object that can be shown. */
export interface Kind {
  /** With its article, for messages. */
  readonly name: string;
  readonly dialect: DialectName;
  /** Its members, to find the closest kind of an unknown object. */
  readonly keys: readonly string[];
  /** Whether the object is meant to be of this kind, valid or not. */
  isMeant(value: Readonly<Record<string, unknown>>): boolean;
  read(json: SoundJson): Recognition | Promise<Recognition>;
}

/** A reading that succeeded, as something to show. */
export function recognized<Reading extends { readonly ok: true }>(
  reading: Reading | Refused,
  show: (reading: Reading) => Saved,
): Recognition {
  return reading.ok ? { ok: true, saved: show(reading) } : reading;
}

export const messagesOf = (texts: readonly string[]) => texts.map(message => ({ message }));
