import { type Line, say } from '../../render/line.js';
import { cellsOf } from '../../render/terminal/cells.js';
import { cutLine, dressLine, padEnd, type Theme, widthOf } from '../../render/terminal/theme.js';
import { RecentMap } from '../../util/collections.js';
import type { Anchor } from '../document/documents.js';
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
import type { Part, Sheet, SheetLook } from './tabs.js';

/** The list, or a part of the sheet by its index. */
export type Focus = 'list' | number;

/** How the user looks at a sheet. */
export interface SheetView {
  readonly focus: Focus;
  /** The part with the focus has the room to itself. */
  readonly isZoomed: boolean;
  readonly showsBytes: boolean;
}

/** A visible part of a sheet and the room for its text, below its title. */
interface Slot {
  readonly index: number;
  readonly part: Part;
  readonly columns: number;
  readonly rows: number;
}

/** A sheet laid out in its room. */
export interface LaidSheet {
  readonly parts: readonly Part[];
  readonly slots: readonly Slot[];
  readonly isBeside: boolean;
  readonly look: SheetLook;
  readonly size: Size;
  readonly view: SheetView;
  /** Names the sheet, and where it is read to. */
  readonly name: string;
}

const TITLE = 1;

/** From so many columns on, parts are side by side. */
const WIDE = 100;

/** With fewer rows of text a part says nothing. */
const LEAST = 3;

const DIVIDER = ' │ ';

/** The visible parts: beside or below each other, or the one with the focus alone. */
function slotsOf(
  parts: readonly Part[],
  { focus, isZoomed }: SheetView,
  { columns, rows }: Size,
): Pick<LaidSheet, 'slots' | 'isBeside'> {
  const count = parts.length;
  const isBeside = columns >= WIDE && count > 1 && !isZoomed;
  if (isBeside) {
    const width = Math.floor((columns - DIVIDER.length * (count - 1)) / count);
    const height = Math.max(0, rows - TITLE);
    return { isBeside, slots: parts.map((part, index) => ({ index, part, columns: width, rows: height })) };
  }
  if (count === 1 || isZoomed || rows < count * (TITLE + LEAST)) {
    const index = Math.min(focus === 'list' ? 0 : focus, count - 1);
    const slots = parts
      .slice(index, index + 1)
      .map(part => ({ index, part, columns, rows: Math.max(0, rows - TITLE) }));
    return { isBeside, slots };
  }
  const heights = heightsOf(
    parts.map(({ document }) => document.length),
    rows - count * TITLE,
  );
  return {
    isBeside,
    slots: parts.map((part, index) => ({ index, part, columns, rows: heights[index] ?? 0 })),
  };
}

/** Short parts get the rows they need, at most their share; the longest one gets the rest. */
function heightsOf(lengths: readonly number[], room: number): readonly number[] {
  const heights = lengths.map(() => 0);
  const shortFirst = [...lengths.entries()].sort(([, a], [, b]) => a - b);
  let left = room;
  for (const [nth, [index, length]] of shortFirst.entries()) {
    const isLongest = nth === lengths.length - 1;
    const share = Math.floor(left / (lengths.length - nth));
    const height = isLongest ? left : Math.min(share, Math.max(LEAST, length));
    heights[index] = height;
    left -= height;
  }
  return heights;
}

/** A reading, and what its lines show: under another look it goes on at the same place. */
interface Kept {
  readonly reading: Reading;
  readonly look: SheetLook;
  readonly top: Anchor;
  readonly spot: Anchor | null;
}

/** Sheets whose reading position is remembered. */
const MOST = 200;

function hasHunks({ document }: Part): boolean {
  return document.landmarks('hunk').length > 0;
}

/** Lays out sheets and remembers how far each part of each sheet was read. */
export class SheetReader {
  readonly #kept = new RecentMap<string, Kept>(MOST);
  /** The parts of a sheet share the layout of their diffs. */
  readonly #layouts = new RecentMap<string, Pick<Reading, 'layout' | 'isUnfolded'>>(MOST);
  /** The last search, in any part: `n` continues it in every part. */
  #wanted: string | null = null;

  constructor(private readonly theme: Theme) {}

  /** The look depends on the width of the parts, and that on their number. */
  lay(name: string, sheetOf: (look: SheetLook) => Sheet, view: SheetView, size: Size): LaidSheet {
    const reading = { ...FIRST_READING, ...this.#layouts.get(name) };
    const lookAt = (width: number): SheetLook => ({
      ...lookOf(reading, { width, height: size.rows }, null),
      showsBytes: view.showsBytes,
    });
    const [first] = slotsOf(sheetOf(lookAt(size.columns)).parts, view, size).slots;
    const look = lookAt(first?.columns ?? size.columns);
    const { parts } = sheetOf(look);
    return { parts, ...slotsOf(parts, view, size), look, size, view, name };
  }

  hasHunks({ parts }: LaidSheet): boolean {
    return parts.some(hasHunks);
  }

  rows(laid: LaidSheet): readonly string[] {
    const blocks = laid.slots.map(slot => this.#slotRows(laid, slot));
    if (!laid.isBeside) return filled(blocks.flat(), laid.size.rows);
    const divider = this.theme.dim(DIVIDER);
    return Array.from({ length: laid.size.rows }, (_, row) =>
      blocks
        .map((rows, at) => padEnd(rows[row] ?? '', laid.slots[at]?.columns ?? 0))
        .join(divider)
        .trimEnd(),
    );
  }

  /** Does what a key asks for. Returns what there is to say about it. */
  step(laid: LaidSheet, command: ReadingCommand): string | null {
    const isSearch = command === 'nextMatch' || command === 'previousMatch';
    return this.#read(laid, command, (view, reading) =>
      view.step(isSearch ? { ...reading, wanted: this.#wanted } : reading, command),
    );
  }

  search(laid: LaidSheet, wanted: string): string | null {
    return this.#read(laid, 'nextMatch', (view, reading) => {
      const found = view.search(reading, wanted);
      this.#wanted = found.reading.wanted;
      return found;
    });
  }

  #read(
    laid: LaidSheet,
    command: ReadingCommand,
    step: (view: DocumentView, reading: Reading) => Stepped,
  ): string | null {
    const slot = targetOf(laid, command);
    if (!slot) return null;
    const { reading, said } = step(this.#viewOf(slot), this.#readingOf(laid, slot));
    this.#keep(laid, slot, reading);
    return said;
  }

  #slotRows(laid: LaidSheet, slot: Slot): readonly string[] {
    const { index, part, columns, rows: height } = slot;
    const reading = this.#readingOf(laid, slot);
    const drawn = this.#viewOf(slot).draw(reading);
    if (part.isStream && drawn.isAtEnd !== reading.isAtEnd)
      this.#keep(laid, slot, { ...reading, isAtEnd: drawn.isAtEnd });
    const title = titleLine(part, laid.view.focus === index, drawn.status, columns);
    return [dressLine(title, this.theme), ...filled(drawn.rows, height)];
  }

  #viewOf({ part, columns: width, rows: height }: Slot): DocumentView {
    return new DocumentView(part.document, { width, height }, this.theme);
  }

  /** A reader at the end of a part that grows stays at its end. */
  #readingOf({ name, look }: LaidSheet, { index, part: { document, isStream } }: Slot): Reading {
    const kept = this.#kept.get(`${index} ${name}`);
    const reading = { ...(kept?.reading ?? FIRST_READING), ...this.#layouts.get(name) };
    if (isStream && kept?.reading.isAtEnd) return { ...reading, line: document.length, row: 0 };
    if (!kept || (kept.look.isSplit === look.isSplit && kept.look.isUnfolded === look.isUnfolded))
      return reading;
    const spot = kept.spot === null ? null : document.lineAt(kept.spot);
    return { ...reading, line: document.lineAt(kept.top), row: 0, spot };
  }

  #keep({ name, look }: LaidSheet, { index, part: { document } }: Slot, reading: Reading): void {
    const { line, spot, layout, isUnfolded } = reading;
    this.#layouts.set(name, { layout, isUnfolded });
    this.#kept.set(`${index} ${name}`, {
      ...{ reading, look },
      top: document.anchorAt(line),
      spot: spot === null ? null : document.anchorAt(spot),
    });
  }
}

/** The part with the focus. Keys for diffs apply to a diff beside it too. */
function targetOf({ slots, view }: LaidSheet, command: ReadingCommand): Slot | undefined {
  const focused = slots.find(({ index }) => index === view.focus) ?? slots[0];
  if (!focused || hasHunks(focused.part) || (command !== 'split' && command !== 'fold')) return focused;
  return slots.find(({ part }) => hasHunks(part)) ?? focused;
}

/** The focus is visible without colours too. */
function titleLine({ title }: Part, isFocused: boolean, status: string, columns: number): Line {
  const line = [say(isFocused ? '❯ ' : '  ', 'running'), ...title];
  const room = columns - cellsOf(status) - 4;
  if (room < 12) return cutLine(line, columns);
  const left = cutLine(line, room);
  const gap = say(' '.repeat(Math.max(2, columns - widthOf(left) - cellsOf(status))));
  return [...left, gap, say(status, 'dim')];
}
