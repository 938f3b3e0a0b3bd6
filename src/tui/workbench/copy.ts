import { openPages } from '../../events/exchange.js';
import { quote, say } from '../../render/line.js';
import { widthOf } from '../../render/terminal/theme.js';
import { cut } from '../../util/text.js';
import type { ShellLine } from './model.js';
import type { Workbench } from './workbench.js';

/** The consent page that the selected call waits for. */
function consentPage({ exchange, volume }: Workbench): string | null {
  return exchange && volume.isLive ? (openPages(exchange)[0]?.auth_url ?? null) : null;
}

const NO_PAGE = 'The call waits for no consent.';

const NO_CALL = 'No call to copy.';

export async function visitConsentPage(workbench: Workbench): Promise<void> {
  const url = consentPage(workbench);
  if (url === null) workbench.complain(NO_PAGE);
  else workbench.say(await workbench.controls.visit(url));
}

export function copyConsentPage(workbench: Workbench): void {
  const url = consentPage(workbench);
  if (url === null) workbench.complain(NO_PAGE);
  else copy(workbench, url, null);
}

export function copyCurl(workbench: Workbench): void {
  const { controls, calls, volume } = workbench;
  const key = calls.selected;
  const line = key === null ? null : controls.asCurl(key, volume.id);
  if (line) copy(workbench, line.text, line.gaps);
  else workbench.complain(key === null ? NO_CALL : 'Nothing of this call was sent that could be copied.');
}

export async function copyCommand(workbench: Workbench): Promise<void> {
  const { controls, calls, volume, position } = workbench;
  const key = calls.selected;
  if (key === null) return workbench.complain(NO_CALL);
  const line = await controls.asCommand(key, volume.id);
  if (!workbench.isAt(position)) return;
  if (!('isBad' in line)) copy(workbench, line.text, line.gaps);
  else if (controls.asCurl(key, volume.id)) workbench.complain(`${line.text}. y copies it as curl.`);
  else workbench.say(line);
}

/** More is not copied by hand. */
const MOST_SHOWN = 20_000;

/** Copies a text, and shows it: not every terminal supports clipboard access. @param gaps null unless it is a command */
function copy(workbench: Workbench, text: string, gaps: ShellLine['gaps'] | null): void {
  const { text: said, isBad } = workbench.controls.copy(text);
  const missing = gaps?.length ? [say('; put in your ', 'warn'), ...quote(gaps.join(', '), 'warn')] : [];
  const shown = cut(text, MOST_SHOWN);
  workbench.show({
    kind: 'page',
    title: [say(said, isBad ? 'bad' : 'good'), ...missing],
    lines: columns => (gaps ? shellRows(shown, columns) : [shown]).map(line => quote(line)),
    scroll: 0,
  });
}

/** A quoted text, which knows no escapes; a character with its backslash; any other character. */
const PIECES = /'[^']*'?|\\[\s\S]|[^']/gu;

const ASCII = /^[\x20-\x7e]+$/;

/** The longest text at the end of a row that continues. */
const CONTINUES = `'\\`;

/** A row as far as it is written. */
interface Row {
  readonly text: string;
  /** The index where it can be split between two words; 0 where it cannot. */
  readonly gap: number;
  readonly isQuoted: boolean;
}

/**
 * A POSIX shell command on rows of so many cells that is still the same command when it is pasted: a row that ends in a backslash
 * continues in the next one.
 * @param text its words are plain, single-quoted, or escaped by backslashes; its line breaks are kept
 */
export function shellRows(text: string, columns: number): readonly string[] {
  const room = Math.max(CONTINUES.length, columns - CONTINUES.length);
  const atoms = [...text.matchAll(PIECES)].flatMap(([piece]) =>
    piece.startsWith("'") ? [...piece] : [piece],
  );
  const rows: string[] = [];
  let row: Row = { text: '', gap: 0, isQuoted: false };
  for (const atom of atoms) {
    if (atom.endsWith('\n')) {
      rows.push(row.text + atom.slice(0, -1));
      row = { ...row, text: '', gap: 0 };
      continue;
    }
    if (cells(row.text) + cells(atom) > room) {
      const [done, rest] = splitRow(row);
      rows.push(done);
      row = rest;
    }
    row = grown(row, atom);
  }
  return [...rows, row.text];
}

function grown({ text, gap, isQuoted }: Row, atom: string): Row {
  const isGap = atom === ' ' && !isQuoted && text.trim() !== '';
  return { text: text + atom, gap: isGap ? text.length + 1 : gap, isQuoted: isQuoted !== (atom === "'") };
}

/** Moves the last word to the next row, or a part of it if it is the only one. */
function splitRow({ text, gap, isQuoted }: Row): readonly [done: string, rest: Row] {
  if (gap > 0) return [`${text.slice(0, gap)}\\`, { text: text.slice(gap), gap: 0, isQuoted }];
  return isQuoted
    ? [text + CONTINUES, { text: "'", gap: 0, isQuoted }]
    : [`${text}\\`, { text: '', gap: 0, isQuoted }];
}

function cells(text: string): number {
  return ASCII.test(text) ? text.length : widthOf(quote(text));
}
