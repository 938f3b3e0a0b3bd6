import type { Theme } from '../../dress/theme.js';
import {
  lookOf,
  type Reading,
  type ReadingCommand,
  type Stepped,
  search,
  stepReading,
  type Viewport,
} from '../document/index.js';
import type { Size } from '../terminal.js';
import type { Browsing } from './browsing.js';
import { elsewhere, partsBeside, type Somewhere } from './elsewhere.js';
import { hasHunks, type LaidSheet, type Target, targetOf } from './laid-sheet.js';
import type { OtherTab } from './other-tabs.js';
import { Readings } from './readings.js';
import { drawnParts, sheetRows } from './sheet-rows.js';
import type { Part, Sheet, SheetLook } from './sheets/sheet.js';
import { slotsOf } from './slots.js';

/** The call that is looked at, to be read. */
export interface Readable<Tab extends string> {
  /** Its name among all calls that are read. */
  readonly name: string;
  sheetOf(tab: Tab, look: SheetLook): Sheet;
  /** Where else something may be found that is not in this tab. */
  others(tab: Tab): readonly OtherTab<Tab>[];
}

type Step = (reading: Reading, document: Part['document'], viewport: Viewport) => Stepped;

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
    const step: Step = (reading, document, viewport) =>
      stepReading(reading, command, document, viewport, this.theme);
    if (command === 'nextMatch' || command === 'previousMatch')
      return this.#seek(browsing, call, size, (reading, document, viewport) =>
        step({ ...reading, wanted: this.#wanted }, document, viewport),
      );
    const laid = this.#lay(browsing, call, size);
    const target = laid && targetOf(laid, browsing.focus, command);
    return target ? this.#read(laid, target, step).said : null;
  }

  search(wanted: string, browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): string | null {
    return this.#seek(browsing, call, size, (reading, document, viewport) =>
      search(reading, wanted, document, viewport, this.theme),
    );
  }

  /** Where nothing is found, it is said where else something would be. */
  #seek(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size, step: Step): string | null {
    const laid = this.#lay(browsing, call, size);
    const target = laid && targetOf(laid, browsing.focus, 'search');
    if (!call || !target) return null;
    const { reading, said } = this.#read(laid, target, step);
    const { wanted, spot } = reading;
    this.#wanted = wanted;
    if (wanted === null || spot !== null) return said;
    return elsewhere(wanted, target.part, placesBeside(laid, target, call, browsing.tab)) ?? said;
  }

  #read(laid: LaidSheet, { part, slot }: Target, step: Step): Stepped {
    const { index, columns: width, rows: height } = slot;
    const { document } = part;
    const stepped = step(this.#readingOf(laid, part, index), document, { width, height });
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

/** The parts beside it first; a sheet of another tab is made only where they have nothing. */
function* placesBeside<Tab extends string>(
  { sheet, look }: LaidSheet,
  { slot }: Target,
  call: Readable<Tab>,
  here: Tab,
): Generator<Somewhere> {
  yield* partsBeside(sheet.parts, slot.index);
  for (const { tab, title, key } of call.others(here))
    yield { title, key, parts: call.sheetOf(tab, look).parts };
}
