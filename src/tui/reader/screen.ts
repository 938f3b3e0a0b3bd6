import type { Line } from '../../render/line.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { wrapRows } from '../../render/terminal/wrap.js';
import type { Clock } from '../../system/clock.js';
import { copyToClipboard } from '../clipboard.js';
import type { FullScreenOptions } from '../full-screen.js';
import { bind, Keys } from '../keys.js';
import { READING_KEYS } from '../list/list-keys.js';
import { fullScreenList } from '../live-list/full-screen-list.js';
import { createLiveList, type LiveListControls } from '../live-list/live-list.js';
import type { Sheet } from '../reading/parts.js';
import type { ActionResult } from '../screen/effects.js';

/** A message, a report or a diff to read. */
export interface Readable {
  /** The name of its file. */
  readonly name: string;
  /** A few lines above the sheet. */
  readonly heading: readonly Line[];
  readonly sheet: Sheet;
  /** Unchanged lines of a diff are shown. */
  readonly isUnfolded: boolean;
}

interface ReaderOptions extends Readable {
  /** Called for `q`, Esc or Ctrl-C. */
  readonly quit: () => void;
  /** Copies to the clipboard of the terminal. */
  readonly copy: (text: string) => ActionResult;
  readonly clock: Clock;
  readonly level: ColourLevel;
}

export const READER_KEYS = new Keys<LiveListControls<Sheet>>([
  bind('everywhere', '?', 'show or hide the keys', reader => reader.effects.showHelp()),
  bind('everywhere', 'q escape ctrl+c', 'quit', reader => reader.quit()),
  ...READING_KEYS.filter(({ keys }) => !keys.includes('escape')),
]);

/** Maximum number of rows of the heading, on a large and on a small screen. */
const HEADING_ROWS = { large: 8, small: 2 };

/** A list with one entry, whose details are all that is shown: the same keys and tabs as for a call in a list. */
export function createReader({ name, heading, sheet, isUnfolded, ...options }: ReaderOptions) {
  const reader = createLiveList<Sheet, 'text', LiveListControls<Sheet>>({
    source: () => ({
      list: {
        title: name,
        isSingle: true,
        tabs: [{ name: 'text', title: 'Text' }],
        wide: Number.POSITIVE_INFINITY,
        share: 1,
        entries: () => ({ keys: [name], get: () => sheet }),
        titleOf: () => name,
        textOf: () => [],
        hasHead: false,
        table: () => ({ head: null, rows: [], isRunning: false }),
        sheetOf: () => sheet,
        empty: () => [],
      },
      apply: () => null,
      head(columns, isRoomy) {
        const rows = heading.flatMap(line => wrapRows(line, columns));
        return rows.slice(0, HEADING_ROWS[isRoomy ? 'large' : 'small']);
      },
      summary: () => name,
    }),
    keys: READER_KEYS,
    controls: base => base,
    ...options,
  });
  if (isUnfolded) reader.press({ name: 'z', text: '' });
  return reader;
}

/** Shows a text full screen. Needs a terminal on stdin and stdout. */
export function readerScreen(options: Omit<ReaderOptions, 'copy'> & FullScreenOptions) {
  const copy = (text: string) => copyToClipboard(options.stdout, text);
  return fullScreenList(createReader({ ...options, copy }), options);
}
