import { RecentMap } from '../../text/recent-map.js';
import { type Anchor, type Document, FIRST_READING, type Look, type Reading } from '../document/index.js';

/** Sheets whose place is remembered. */
const MOST = 200;

/** A document, and how it is laid out. */
export interface Laid {
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
export class Readings {
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
