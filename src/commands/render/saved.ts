import type { DialectName } from '../../dialects/dialect.js';
import type { Translatable } from '../../dialects/dialects.js';
import type { Event } from '../../events/events.js';
import { isRequirementId, type Warning } from '../../protocol/requirements.js';
import { problemLines } from '../../render/failure.js';
import { type Line, say, textLines } from '../../render/line.js';
import type { ReportedWarning } from '../../render/outputs/schemas.js';
import type { Pane, Panes } from '../../render/panes.js';
import type { Drawing } from '../../segments/segments.js';
import type { JsonReading } from '../../util/json.js';
import type { Redactor } from '../../util/redact.js';
import { safeJson } from '../../util/safe-json.js';

/** Returns the answers of tools in a file, in order. @param to the target system */
export type AnswersFor = (to: DialectName) => readonly SavedAnswer[];

/** A saved file whose format was recognized. */
export interface Saved {
  readonly sections: readonly Section[];
  /** `-o json`. */
  readonly report: unknown;
  readonly answers?: AnswersFor;
  /** The numbers of the shown calls without an answer; transcripts only. */
  readonly unanswered?: readonly number[];
  /** Returns the file with only the selected calls, null if none of them failed; transcripts only. @throws ProtocolCliError `usage` for an unknown call */
  only?(selection: CallSelection): Saved | null;
  /** What could not be read, each with its place. */
  readonly faults?: readonly string[];
  /** What is missing, each with its place if known. */
  readonly losses?: readonly string[];
}

/** Who sees the output. */
export interface View {
  readonly supports: ReadonlySet<string>;
  /** Whether the output goes to a terminal, which only the user sees. */
  readonly isPrivate: boolean;
}

/** Which calls are shown: the one with this number or id, those without a successful result, or both. */
export interface CallSelection {
  readonly call?: string;
  readonly failed?: boolean;
}

/** An answer that can be written for another system; without `answer`, only for its own. */
export type SavedAnswer = Partial<Translatable> & {
  /** Returns its original JSON. */
  source?(): string | null;
};

/**
 * A part of the output: lines, a drawing, a pane, two panes, or messages with their answers. Laid out only when it is printed; a blank
 * row separates parts.
 */
export type Section = readonly Line[] | Drawing | Pane | Pick<Panes, 'human' | 'llm'> | Messages;

export interface Messages {
  readonly events: readonly Event[];
  readonly redactor: Redactor;
}

/** The JSON of a file, or of a part of it. */
export type Json = Extract<JsonReading, { ok: true }> & {
  /** Returns the original JSON at a path; null if unknown. */
  source(path: readonly PropertyKey[]): string | null;
};

/** JSON that is invalid for the kind that it looks like. */
export class InvalidJson extends Error {
  /** @param faults each with its JSON path */
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

/** A kind of JSON object that can be shown. */
export interface Kind {
  /** Includes its article, for messages. */
  readonly name: string;
  readonly dialect: DialectName;
  /** Whether the object looks like this kind, valid or not. */
  looksLike(value: Readonly<Record<string, unknown>>): boolean;
  /** @throws InvalidJson */
  read(json: Json, view: View): Saved | Promise<Saved>;
}

/** @param place path of a part in the whole JSON @throws InvalidJson */
export function requireValid<Read extends { readonly ok: true }>(
  reading: Read | { readonly ok: false; readonly faults: readonly string[] },
  place = '$',
): Read {
  if (reading.ok) return reading;
  throw new InvalidJson(reading.faults.map(fault => fault.replace(/^\$/, place)));
}

/** Returns a file with its warnings, which are the last section. @param members of `-o json` */
export function saved(
  kind: string,
  sections: readonly Section[],
  members: object,
  warnings: readonly Warning[] = [],
  answers?: AnswersFor,
): Saved {
  return {
    sections: [...sections, problemLines(warnings)],
    report: { kind, ...members, warnings },
    ...(answers && { answers }),
  };
}

/** An unknown id is added to the message. */
export function asWarning({ id, message }: ReportedWarning): Warning {
  if (id === undefined) return { message };
  return isRequirementId(id) ? { id, message } : { message: `${message} [${id}]` };
}

export const messagesOf = (texts: readonly string[]) => texts.map(message => ({ message }));

/** Returns a value under its title; nothing without one. */
export function jsonSection([title, value]: [title: string, value: unknown]): Line[] {
  if (value === undefined) return [];
  return [[say(title, 'title')], ...textLines(safeJson(value, 2), Number.POSITIVE_INFINITY).lines];
}

/** Returns several items of a kind, each under a title. */
export function numbered(what: string, all: readonly (readonly Section[])[]): Section[] {
  return all.flatMap((sections, index) => [
    [[say(`${what} ${index + 1} of ${all.length}`, 'title')]],
    ...sections,
  ]);
}
