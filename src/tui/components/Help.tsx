import { fitRows } from '../../render/terminal/fit.js';
import { helpLines } from '../help.js';
import type { KeyTable } from '../keys.js';
import { moreRows } from '../screen/layout.js';
import type { Size } from '../terminal.js';
import { Lines } from './Line.js';

interface HelpProps {
  readonly tables: readonly KeyTable[];
  /** Only the keys that contain this text. */
  readonly filter: string;
  readonly scroll: number;
  readonly size: Size;
}

/** The keys of a screen, in as many columns as fit. */
export function Help({ tables, filter, scroll, size: { columns, rows } }: HelpProps) {
  const lines = helpLines(tables, filter, columns);
  const seen = lines.slice(Math.max(0, Math.min(scroll, lines.length - rows))); // the terminal may have become higher
  return <Lines lines={fitRows(seen, rows, moreRows)} width={columns} height={rows} />;
}
