import { helpLines } from '../help.js';
import type { KeyTable } from '../keys.js';
import { pageWindow } from '../screen/layout.js';
import type { Size } from '../tty.js';
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
  const seen = pageWindow(helpLines(tables, filter, columns), scroll, rows);
  return <Lines lines={seen} width={columns} height={rows} />;
}
