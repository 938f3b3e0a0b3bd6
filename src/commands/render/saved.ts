import type { DialectName } from '../../dialects/dialect.js';
import type { Translatable } from '../../dialects/dialects.js';
import type { Event } from '../../events/events.js';
import { roundTripsIn } from '../../events/round-trips.js';
import { isRequirementId, type Warning } from '../../protocol/requirements.js';
import { problemLines } from '../../render/failure.js';
import { type Layout, type Line, say, textLines } from '../../render/line.js';
import type { ReportedWarning } from '../../render/outputs/schemas.js';
import { type Pane, type Panes, wholeDrawing, wholePane } from '../../render/panes.js';
import { loadHighlighter } from '../../render/syntax.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, type Theme } from '../../render/terminal/theme.js';
import { paneLayout, wrapLine } from '../../render/terminal/wrap.js';
import { roundTripLines } from '../../render/wire.js';
import type { Drawing } from '../../segments/segments.js';
import type { JsonReading } from '../../util/json.js';
import { type Redactor, safeJson } from '../../util/redact.js';

/** Returns the answers of tools in a file, in order. @param to the target system */
export type AnswersFor = (to: DialectName) => readonly SavedAnswer[];

/** A saved file whose format was recognized. */
export interface Saved {
  readonly sections: readonly Section[];
  /** `-o json`. */
  readonly report: unknown;
  readonly answers?: AnswersFor;
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

interface Messages {
  readonly events: readonly Event[];
  readonly redactor: Redactor;
}

interface Look extends Omit<Layout, 'count'> {
  readonly width: number;
  readonly theme: Theme;
}

/** Lays out sections for a width. Each row is created on demand, so that the first appears immediately. */
export async function layoutOf(
  sections: readonly Section[],
  level: ColourLevel,
  isUnfolded: boolean,
): Promise<(width: number) => Generator<string>> {
  const highlighter = level >= CODE_LEVEL ? await loadHighlighter(sections.flatMap(drawingsIn)) : null;
  const theme = createTheme(level);
  return width => rowsOf(sections, { width, theme, isUnfolded, highlighter });
}

/** 256 colours: enough for code. */
const CODE_LEVEL = 2;

function drawingsIn(section: Section): readonly Drawing[] {
  if ('human' in section) return [section.human.drawing, section.llm.drawing];
  if ('drawing' in section) return [section.drawing];
  return 'kind' in section ? [section] : [];
}

function* rowsOf(sections: readonly Section[], look: Look): Generator<string> {
  let isFirst = true;
  for (const section of sections) {
    let isBegun = false;
    for (const row of sectionRows(section, look)) {
      if (!isBegun && !isFirst) yield '';
      isBegun = true;
      isFirst = false;
      yield row;
    }
  }
}

function* sectionRows(section: Section, look: Look): Generator<string> {
  if ('human' in section) return yield* paneRows(section, look);
  for (const line of sectionLines(section, look)) yield* wrapLine(line, look.width, look.theme);
}

function sectionLines(section: Exclude<Section, Pick<Panes, 'human'>>, look: Look): Iterable<Line> {
  if ('events' in section) return messageLines(section, look);
  if ('drawing' in section) return wholePane(section, look);
  return 'kind' in section ? wholeDrawing(section, look) : section;
}

/** Shows panes side by side if the width allows it. */
function* paneRows({ human, llm }: Pick<Panes, 'human' | 'llm'>, look: Look): Generator<string> {
  const { isSideBySide, width, beside } = paneLayout(look.width);
  const [left, right] = [sectionRows(human, { ...look, width }), sectionRows(llm, { ...look, width })];
  if (isSideBySide) return yield* joined(left, right, beside);
  yield* left;
  yield '';
  yield* right;
}

/** Combines the rows of two panes. After the end of the right pane, left rows are not padded. */
function* joined(
  left: Iterator<string>,
  right: Iterator<string>,
  beside: (left: readonly string[], right: readonly string[]) => string[],
): Generator<string> {
  for (;;) {
    const [one, other] = [left.next(), right.next()];
    if (one.done && other.done) return;
    if (other.done) yield one.value;
    else yield* beside(one.done ? [] : [one.value], [other.value]);
  }
}

function* messageLines({ events, redactor }: Messages, look: Look): Generator<Line> {
  let heading: Line = [say('MESSAGES', 'title')];
  for (const trip of roundTripsIn(events).values()) {
    yield heading;
    heading = [];
    yield* roundTripLines(trip, redactor, look);
  }
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
