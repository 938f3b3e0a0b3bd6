import { RecentMap } from '../../text/recent-map.js';
import { FIRST_READING, type Reading } from '../document/index.js';

/** Sheets whose place is remembered. */
const MOST = 200;

/** How far each part of each sheet is read: whoever comes back finds their place. */
export class Readings {
  readonly #places = new RecentMap<string, Reading>(MOST);

  of(sheet: string, part: number): Reading {
    return this.#places.get(placeOf(sheet, part)) ?? FIRST_READING;
  }

  set(sheet: string, part: number, reading: Reading): void {
    this.#places.set(placeOf(sheet, part), reading);
  }
}

function placeOf(sheet: string, part: number): string {
  return `${part} ${sheet}`;
}
