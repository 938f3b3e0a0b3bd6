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
import { Readings } from './readings.js';
import { sheetRows } from './sheet-rows.js';
import type { Part, Sheet, SheetLook } from './sheets/sheet.js';
import { type Slots, slotsOf } from './slots.js';

/** The call that is looked at, to be read. */
export interface Readable<Tab extends string> {
  /** Its name among all calls that are read. */
  readonly name: string;
  sheetOf(tab: Tab, look: SheetLook): Sheet;
}

/** A sheet as it stands on the screen. */
interface Laid {
  readonly sheet: Sheet;
  readonly slots: Slots;
  /** Its name among the places that are remembered. */
  readonly place: string;
}

/** The sheet of the call that is looked at: laid out in the room there is, each part as far as it was read. */
export class SheetView<Tab extends string> {
  readonly #readings = new Readings();

  constructor(private readonly theme: Theme) {}

  /** How many parts there are to go through. */
  partsOf(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): number {
    return this.#lay(browsing, call, size)?.sheet.parts.length ?? 0;
  }

  rowsOf(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): readonly string[] {
    const laid = this.#lay(browsing, call, size);
    if (!laid) return [];
    const { sheet, slots, place } = laid;
    const readings = sheet.parts.map((_, part) => this.#readings.of(place, part));
    return sheetRows({ sheet, slots, focus: browsing.focus, readings }, size, this.theme);
  }

  /** Whether there are hunks to go through. */
  hasHunks(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): boolean {
    const parts = this.#lay(browsing, call, size)?.sheet.parts ?? [];
    return parts.some(({ document }) => document.landmarks('hunk').length > 0);
  }

  /** What is to be said of it, if anything. */
  step(
    command: ReadingCommand,
    browsing: Browsing<Tab>,
    call: Readable<Tab> | null,
    size: Size,
  ): string | null {
    return this.#read(browsing, call, size, (reading, document, viewport) =>
      stepReading(reading, command, document, viewport, this.theme),
    );
  }

  search(wanted: string, browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): string | null {
    return this.#read(browsing, call, size, (reading, document, viewport) =>
      search(reading, wanted, document, viewport, this.theme),
    );
  }

  #read(
    browsing: Browsing<Tab>,
    call: Readable<Tab> | null,
    size: Size,
    step: (reading: Reading, document: Part['document'], viewport: Viewport) => Stepped,
  ): string | null {
    const laid = this.#lay(browsing, call, size);
    const slot = laid?.slots.slots.find(({ index }) => index === browsing.focus) ?? laid?.slots.slots[0];
    const part = slot && laid?.sheet.parts[slot.index];
    if (!laid || !slot || !part) return null;
    const viewport = { width: slot.columns, height: slot.rows };
    const before = this.#readings.of(laid.place, slot.index);
    const { reading, said } = step(before, part.document, viewport);
    this.#readings.set(laid.place, slot.index, reading);
    return said;
  }

  /** Its look depends on the room of its parts, and that on how many there are. */
  #lay(browsing: Browsing<Tab>, call: Readable<Tab> | null, size: Size): Laid | null {
    if (!call) return null;
    const { tab, showsBytes } = browsing;
    const place = JSON.stringify([call.name, tab]);
    const reading = this.#readings.of(place, 0);
    const sheetFor = (width: number) =>
      call.sheetOf(tab, { ...lookOf(reading, { width, height: size.rows }, null), showsBytes });
    const slots = slotsOf(sheetFor(size.columns).parts, browsing, size);
    return { sheet: sheetFor(slots.slots[0]?.columns ?? size.columns), slots, place };
  }
}
