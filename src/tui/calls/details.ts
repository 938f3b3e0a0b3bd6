import { loadLexers } from '../../display/syntax/load.js';
import { Highlighter } from '../../display/syntax.js';
import { type Line, say } from '../../render/line.js';
import { cellsOf } from '../../render/terminal/cells.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { cutLine, dressLine, padEnd, type Theme, widthOf } from '../../render/terminal/theme.js';
import { RecentMap } from '../../util/json-diagnosis.js';
import type { Anchor, Document, Look } from '../document/documents.js';
import {
  DocumentView,
  FIRST_READING,
  lookOf,
  type Reading,
  type ReadingCommand,
  type Stepped,
} from '../document/view.js';
import { filled } from '../layout.js';
import type { Size } from '../terminal.js';
import type { Browsing } from './list.js';
import type { OtherTab, Part, Sheet, SheetLook } from './tabs.js';

/** Where a part of a sheet stands. */
interface Slot {
  /** Of the part. */
  readonly index: number;
  /** Of its text, below its title. */
  readonly columns: number;
  readonly rows: number;
}

/** A part before its place is known; its length is asked for only where its height depends on it: it may have to be laid out first. */
interface Measured {
  readonly document: { readonly length: number };
}

interface Slots {
  readonly slots: readonly Slot[];
  readonly isBeside: boolean;
}

const TITLE = 1;
/** From so many columns on, parts stand beside each other. */
const WIDE = 100;
/** Rows of text below which a part says nothing. */
const LEAST = 3;
const DIVIDER = ' │ ';

/** The parts of a sheet that are seen, and how much of each: beside or below each other, or the one with the focus alone. */
function slotsOf(
  parts: readonly Measured[],
  { focus, isZoomed }: { readonly focus: 'list' | number; readonly isZoomed: boolean },
  size: Size,
): Slots {
  const { columns, rows } = size;
  const count = parts.length;
  if (count === 0) return { slots: [], isBeside: false };
  const isWide = columns >= WIDE;
  if (count === 1 || isZoomed || (!isWide && rows < count * (TITLE + LEAST))) {
    const index = Math.min(typeof focus === 'number' ? focus : 0, count - 1);
    return { slots: [{ index, columns, rows: Math.max(0, rows - TITLE) }], isBeside: false };
  }
  return isWide
    ? { slots: besideOf(count, size), isBeside: true }
    : {
        slots: belowOf(
          parts.map(({ document }) => document.length),
          size,
        ),
        isBeside: false,
      };
}

function besideOf(count: number, { columns, rows }: Size): Slot[] {
  const width = Math.floor((columns - DIVIDER.length * (count - 1)) / count);
  return Array.from({ length: count }, (_, index) => ({
    index,
    columns: width,
    rows: Math.max(0, rows - TITLE),
  }));
}

/** The short ones get what they need, and no more than their share; the others have the rest. */
function belowOf(lengths: readonly number[], { columns, rows }: Size): Slot[] {
  const room = rows - lengths.length * TITLE;
  const granted = lengths.map(() => 0);
  const shortFirst = [...lengths.entries()].sort(([, a], [, b]) => a - b);
  let left = room;
  for (const [nth, [index, length]] of shortFirst.entries()) {
    const share = Math.floor(left / (lengths.length - nth));
    const own = nth === lengths.length - 1 ? left : Math.min(share, Math.max(LEAST, length));
    granted[index] = own;
    left -= own;
  }
  return granted.map((height, index) => ({ index, columns, rows: height }));
}

/** A sheet as it stands on the screen. */
interface LaidSheet {
  readonly sheet: Sheet;
  readonly slots: Slots;
  readonly look: SheetLook;
  /** Its name among the places that are remembered. */
  readonly place: string;
}

/** A part that a key is meant for, and where it stands. */
interface Target {
  readonly part: Part;
  readonly slot: Slot;
}

/** The part with the focus; how a diff is laid out is meant for a diff, though another part has the focus. */
function targetOf(
  laid: LaidSheet,
  focus: 'list' | number,
  command: ReadingCommand | 'search',
): Target | null {
  const targets = targetsIn(laid);
  const focused = targets.find(({ slot }) => slot.index === focus) ?? targets[0] ?? null;
  if (command !== 'split' && command !== 'fold') return focused;
  return [focused, ...targets].find(each => each && hasHunks(each.part)) ?? focused;
}

function hasHunks({ document }: Part): boolean {
  return document.landmarks('hunk').length > 0;
}

function targetsIn({ sheet, slots }: LaidSheet): readonly Target[] {
  return slots.slots.flatMap(slot => {
    const part = sheet.parts[slot.index];
    return part ? [{ part, slot }] : [];
  });
}

/** Sheets whose place is remembered. */
const MOST = 200;

/** A document, and how it is laid out. */
interface Laid {
  readonly document: Document;
  readonly look: Pick<Look, 'isSplit' | 'isUnfolded'>;
}

/** A reading, and what stands on its lines: under another look it goes on at the same. */
interface Kept {
  readonly reading: Reading;
  readonly look: Laid['look'];
  readonly top: Anchor;
  readonly spot: Anchor | null;
}

/** The parts of a sheet are laid out alike. */
type Layout = Pick<Reading, 'layout' | 'isUnfolded'>;

/** How far each part of each sheet is read: whoever comes back finds their place. */
class Readings {
  readonly #places = new RecentMap<string, Kept>(MOST);
  readonly #layouts = new RecentMap<string, Layout>(MOST);

  /** As one begins to read in a sheet. */
  first(sheet: string): Reading {
    return { ...FIRST_READING, ...this.#layouts.get(sheet) };
  }

  of(sheet: string, part: number, laid: Laid): Reading {
    const kept = this.#places.get(placeOf(sheet, part));
    if (!kept) return this.first(sheet);
    const reading = { ...kept.reading, ...this.#layouts.get(sheet) };
    return isSame(kept.look, laid.look) ? reading : moved(reading, kept, laid.document);
  }

  set(sheet: string, part: number, reading: Reading, { document, look }: Laid): void {
    const { line, spot, layout, isUnfolded } = reading;
    this.#layouts.set(sheet, { layout, isUnfolded });
    this.#places.set(placeOf(sheet, part), {
      ...{ reading, look },
      top: document.anchorAt(line),
      spot: spot === null ? null : document.anchorAt(spot),
    });
  }

  /** Whether its end was on the screen. */
  saw(isAtEnd: boolean, sheet: string, part: number, laid: Laid): void {
    const reading = this.of(sheet, part, laid);
    if (reading.isAtEnd !== isAtEnd) this.set(sheet, part, { ...reading, isAtEnd }, laid);
  }
}

function moved(reading: Reading, { top, spot }: Kept, document: Document): Reading {
  return {
    ...reading,
    line: document.lineAt(top),
    row: 0,
    spot: spot === null ? null : document.lineAt(spot),
  };
}

function isSame(one: Laid['look'], other: Laid['look']): boolean {
  return one.isSplit === other.isSplit && one.isUnfolded === other.isUnfolded;
}

function placeOf(sheet: string, part: number): string {
  return `${part} ${sheet}`;
}

interface SheetScene {
  readonly sheet: Sheet;
  readonly slots: Slots;
  readonly focus: 'list' | number;
  readonly readings: readonly Reading[];
}

/** A part as it is drawn: its title, and what is seen below it. */
interface DrawnPart {
  readonly rows: readonly string[];
  readonly isAtEnd: boolean;
  readonly index: number;
  readonly part: Part;
}

/** The parts of a sheet that are seen, each with its title and how far it is read. */
function drawnParts({ sheet, slots, focus, readings }: SheetScene, theme: Theme): readonly DrawnPart[] {
  return slots.slots.flatMap(slot => {
    const { index, columns, rows: height } = slot;
    const part = sheet.parts[index];
    const reading = readings[index];
    if (!part || !reading) return [];
    const view = new DocumentView(part.document, { width: columns, height }, theme);
    const { rows, status, isAtEnd } = view.draw(reading);
    const title = titleLine(part, { isFocused: focus === index, status }, columns);
    return [{ index, part, isAtEnd, rows: [dressLine(title, theme), ...filled(rows, height)] }];
  });
}

/** Parts where they stand. */
function sheetRows(
  parts: readonly DrawnPart[],
  { slots, isBeside }: Slots,
  size: Size,
  theme: Theme,
): readonly string[] {
  if (!isBeside)
    return filled(
      parts.flatMap(({ rows }) => rows),
      size.rows,
    );
  return Array.from({ length: size.rows }, (_, row) =>
    parts
      .map(({ rows }, index) => padEnd(rows[row] ?? '', slots[index]?.columns ?? 0))
      .join(theme.dim(DIVIDER))
      .trimEnd(),
  );
}

/** Focus is seen without colour too. */
function titleLine(
  { title }: Part,
  { isFocused, status }: { readonly isFocused: boolean; readonly status: string },
  columns: number,
): Line {
  const mark = say(isFocused ? '❯ ' : '  ', 'running');
  const room = columns - cellsOf(status) - 4;
  if (room < 12) return cutLine([mark, ...title], columns);
  const left = cutLine([mark, ...title], room);
  return [
    ...left,
    say(' '.repeat(Math.max(2, columns - widthOf(left) - cellsOf(status)))),
    say(status, 'dim'),
  ];
}

/** The call that is looked at, to be read. */
export interface Readable<Tab extends string> {
  /** Its name among all calls that are read. */
  readonly name: string;
  sheetOf(tab: Tab, look: SheetLook): Sheet;
  /** Where else something may be found that is not in this tab. */
  others(tab: Tab): readonly OtherTab<Tab>[];
}

type Step = (view: DocumentView, reading: Reading) => Stepped;

/** The sheet of the call that is looked at: laid out in the room there is, each part as far as it was read. */
export class SheetView<Tab extends string> {
  readonly #readings = new Readings();
  /** What was searched for last, in whichever part: one goes on with it in all of them. */
  #wanted: string | null = null;

  constructor(private readonly theme: Theme) {}

  /** How many parts there are to go through. */
  partsOf(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): number {
    return this.#lay(browsing, call, size)?.sheet.parts.length ?? 0;
  }

  rowsOf(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): readonly string[] {
    const laid = this.#lay(browsing, call, size);
    if (!laid) return [];
    const { sheet, slots, look, place } = laid;
    const readings = sheet.parts.map((part, index) => this.#readingOf(laid, part, index));
    const drawn = drawnParts({ sheet, slots, focus: browsing.focus, readings }, this.theme);
    for (const { index, part, isAtEnd } of drawn)
      if (part.isStream) this.#readings.saw(isAtEnd, place, index, { document: part.document, look });
    return sheetRows(drawn, slots, size, this.theme);
  }

  /** Whether there are hunks to go through. */
  hasHunks(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): boolean {
    return this.#lay(browsing, call, size)?.sheet.parts.some(hasHunks) ?? false;
  }

  /** What is to be said of it, if anything. */
  step(
    command: ReadingCommand,
    browsing: Browsing<Tab>,
    call: Readable<Tab> | null,
    size: Size,
  ): string | null {
    const step: Step = (view, reading) => view.step(reading, command);
    if (command === 'nextMatch' || command === 'previousMatch')
      return this.#seek(browsing, call, size, (view, reading) =>
        view.step({ ...reading, wanted: this.#wanted }, command),
      );
    const laid = this.#lay(browsing, call, size);
    const target = laid && targetOf(laid, browsing.focus, command);
    return target ? this.#read(laid, target, step).said : null;
  }

  search(wanted: string, browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): string | null {
    return this.#seek(browsing, call, size, (view, reading) => view.search(reading, wanted));
  }

  #seek(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size, step: Step): string | null {
    const laid = this.#lay(browsing, call, size);
    const target = laid && targetOf(laid, browsing.focus, 'search');
    if (!call || !target) return null;
    const { reading, said } = this.#read(laid, target, step);
    this.#wanted = reading.wanted;
    return said;
  }

  #read(laid: LaidSheet, { part, slot }: Target, step: Step): Stepped {
    const { index, columns: width, rows: height } = slot;
    const { document } = part;
    const view = new DocumentView(document, { width, height }, this.theme);
    const stepped = step(view, this.#readingOf(laid, part, index));
    this.#readings.set(laid.place, index, stepped.reading, { document, look: laid.look });
    return stepped;
  }

  /** Whoever has seen the end of what is added to sees it still. */
  #readingOf({ place, look }: LaidSheet, { document, isStream }: Part, index: number): Reading {
    const reading = this.#readings.of(place, index, { document, look });
    return isStream && reading.isAtEnd ? { ...reading, line: document.length, row: 0 } : reading;
  }

  /** Its look depends on the room of its parts, and that on how many there are. */
  #lay(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): LaidSheet | null {
    if (!call) return null;
    const { tab, showsBytes } = browsing;
    const place = JSON.stringify([call.name, tab]);
    const reading = this.#readings.first(place);
    const lookAt = (width: number): SheetLook => ({
      ...lookOf(reading, { width, height: size.rows }, null),
      showsBytes,
    });
    const slots = slotsOf(call.sheetOf(tab, lookAt(size.columns)).parts, browsing, size);
    const look = lookAt(slots.slots[0]?.columns ?? size.columns);
    return { sheet: call.sheetOf(tab, look), slots, look, place };
  }
}

/** What colours code: it takes a moment to load, and is not before there is something to colour, and colours to do it with. */
export class Highlighting {
  /** Null until then. */
  current: Highlighter | null = null;
  #isAsked = false;

  constructor(
    private readonly level: ColourLevel,
    private readonly onLoad: () => void,
  ) {}

  ask(): void {
    if (!this.#isAsked && this.level >= 2) void this.#load();
  }

  async #load(): Promise<void> {
    this.#isAsked = true;
    const { lexerOf } = await loadLexers();
    this.current = new Highlighter(lexerOf);
    this.onLoad();
  }
}
