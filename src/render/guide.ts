import { lexer, type Token, type Tokens } from 'marked';
import { type Line, quote, type Span, say, type Tone } from './line.js';
import { widthOf } from './terminal/fit.js';

/*
 * The Markdown of the guides as lines for a terminal: paragraphs are joined, and the text at the beginning of a line with the tone `gutter`
 * is what following rows are indented by.
 */

const INDENT = '  ';

/** The part of the width that the columns before the last one may take. */
const MAX_KEYS = 0.5;

/** @param width of the terminal, by which tables are laid out */
export function guideLines(markdown: string, width: number): Line[] {
  return blocksOf(lexer(markdown), width, '');
}

function blocksOf(tokens: readonly Token[], width: number, indent: string): Line[] {
  const blocks = tokens.map(token => blockOf(token, width, indent)).filter(lines => lines.length > 0);
  return blocks.flatMap((lines, index) => (index === 0 ? lines : [[], ...lines]));
}

function blockOf(token: Token, width: number, indent: string): Line[] {
  const start = say(indent, 'gutter');
  switch (token.type) {
    case 'heading':
      return [[start, ...quote(plainText(token.tokens ?? []), token['depth'] === 1 ? 'running' : 'title')]];
    case 'paragraph':
    case 'text':
      return [[start, ...spansOf(token.tokens ?? [token])]];
    case 'code':
      return String(token['text'])
        .split('\n')
        .map(row => [say(`${indent}${INDENT}`, 'gutter'), ...quote(row, 'string')]);
    case 'list':
      return listLines(token as Tokens.List, width, indent);
    case 'table':
      return tableLines(token as Tokens.Table, width, indent);
    default:
      return token.type === 'space' || token.type === 'html' ? [] : [[start, ...quote(token.raw.trim())]];
  }
}

function listLines({ items, ordered, start }: Tokens.List, width: number, indent: string): Line[] {
  return items.flatMap((item, index) => {
    const mark = `${indent}${ordered ? `${Number(start) + index}.` : '•'} `;
    const [first = [], ...rest] = blocksOf(item.tokens, width, ' '.repeat(mark.length)).filter(
      line => line.length > 0,
    );
    return [[say(mark, 'gutter'), ...first.slice(1)], ...rest];
  });
}

/** A row is one line, whose last cell is wrapped; with wide columns, the other cells have lines of their own. */
function tableLines({ header, rows }: Tokens.Table, width: number, indent: string): Line[] {
  const all = [header, ...rows].map((cells, index) =>
    cells.map(({ tokens }) => spansOf(tokens, index === 0 ? 'dim' : 'plain')),
  );
  const last = header.length - 1;
  const widths = header.map((_, column) => Math.max(...all.map(cells => widthOf(cells[column] ?? []))));
  const keys = widths.slice(0, last).reduce((sum, each) => sum + each + INDENT.length, indent.length);
  const isWide = keys > width * MAX_KEYS && keys + (widths[last] ?? 0) > width;
  return all.flatMap(cells => {
    const value = cells[last] ?? [];
    const before = cells.slice(0, last);
    if (isWide)
      return [
        ...before.map(cell => [say(indent, 'gutter'), ...cell]),
        [say(`${indent}${INDENT}`, 'gutter'), ...value],
      ];
    const padded = before.flatMap((cell, column) => {
      const gap = (widths[column] ?? 0) - widthOf(cell) + INDENT.length;
      return [...cell, say(' '.repeat(gap))].map(({ text }) => say(text, 'gutter'));
    });
    return [[say(indent, 'gutter'), ...padded, ...value]];
  });
}

function spansOf(tokens: readonly Token[], tone: Tone = 'plain'): Span[] {
  return tokens.flatMap((token): Line => {
    switch (token.type) {
      case 'strong':
        return spansOf(token.tokens ?? [], 'title');
      case 'codespan':
        return quote(String(token['text']), tone === 'plain' ? 'string' : tone);
      case 'link':
        return [...spansOf(token.tokens ?? [], tone), ...addressOf(token as Tokens.Link)];
      case 'br':
        return [say(' ')];
      case 'html':
        return [];
      default:
        return 'tokens' in token && token.tokens
          ? spansOf(token.tokens, tone)
          : quote(String('text' in token ? token['text'] : token.raw).replaceAll('\n', ' '), tone);
    }
  });
}

/** The address of a link, unless it is its text. */
function addressOf({ href, text }: Tokens.Link): Line {
  return href.startsWith('#') || href === text ? [] : quote(` (${href})`, 'dim');
}

function plainText(tokens: readonly Token[]): string {
  return spansOf(tokens)
    .map(({ text }) => text)
    .join('');
}
