import { cutLine, widthOf } from '../../dress/cut-line.js';
import type { Line } from '../../story/line.js';
import { chosenLine } from '../chosen-line.js';

/** The tabs of a sheet, by number. */
export interface Tabs {
  readonly titles: readonly string[];
  /** By its index. */
  readonly chosen: number;
}

/** Where there is no room for all titles, that of the chosen one is enough. */
export function tabsLine({ titles, chosen }: Tabs, columns: number): Line {
  const titled = (isShort: boolean) =>
    titles.map((title, index) => ({
      text: isShort && index !== chosen ? `${index + 1}` : `${index + 1} ${title}`,
      isChosen: index === chosen,
    }));
  const whole = chosenLine(titled(false));
  return cutLine(widthOf(whole) <= columns ? whole : chosenLine(titled(true)), columns);
}
