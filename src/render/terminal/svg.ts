import { halvesOf, type Line, partsOfHalf, type Span, withHalves } from '../line.js';
import { cellsOf } from './cells.js';
import { LazySegmenter } from './lazy-segmenter.js';
import { cutLine, halfWidths, widthOf, widthOfCharacter } from './theme.js';

/** How a piece of a row looks. Colours are numbers of the 256, the default one null. */
interface Look {
  readonly foreground: number | null;
  readonly background: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
}

export const PLAIN: Look = {
  foreground: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

/** What our own themes write: chalk's codes, up to 256 colours. */
const CHANGES: Readonly<Record<number, Partial<Look>>> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { foreground: null },
  49: { background: null },
};

/** The look after a sequence of SGR parameters; one that is not known changes nothing. */
export function withCodes(look: Look, codes: readonly number[]): Look {
  const [code = 0, mode, colour, ...rest] = codes;
  if (mode === 5 && colour !== undefined && (code === 38 || code === 48))
    return withRest({ ...look, [code === 38 ? 'foreground' : 'background']: colour }, rest);
  return withRest({ ...look, ...(CHANGES[code] ?? sixteen(code)) }, codes.slice(1));
}

function withRest(look: Look, codes: readonly number[]): Look {
  return codes.length === 0 ? look : withCodes(look, codes);
}

function sixteen(code: number): Partial<Look> {
  const number = (code % 10) + (code >= 90 ? 8 : 0);
  if (number % 8 !== code % 10) return {};
  const tens = code >= 90 ? code - 60 : code;
  if (tens >= 30 && tens < 38) return { foreground: number };
  return tens >= 40 && tens < 48 ? { background: number } : {};
}

/** The dark window of a picture. */
const WINDOW = {
  background: '#161b22',
  bar: '#1f262e',
  border: '#3d444d',
  title: '#8b949e',
  dots: ['#ff5f57', '#febc2e', '#28c840'],
} as const;

const INK = { plain: '#d1d7e0', bold: '#ffffff', dim: '#8b949e' } as const;

const SIXTEEN = [
  '#484f58',
  '#ff7b72',
  '#57d36c',
  '#e3b341',
  '#79c0ff',
  '#d2a8ff',
  '#4cc9e0',
  '#d1d7e0',
  '#6e7681',
  '#ffa198',
  '#7ee787',
  '#f2cc60',
  '#a5d6ff',
  '#e2c5ff',
  '#76e3ea',
  '#ffffff',
];
const LEVELS = [0, 95, 135, 175, 215, 255];
const FIRST_GREY = 232;

/** A colour of the 256 as CSS has it: the 16, the cube of 6 × 6 × 6, the 24 greys. */
export function colourOf(number: number): string {
  const named = SIXTEEN[number];
  if (named !== undefined) return named;
  if (number >= FIRST_GREY) return hex(...Array<number>(3).fill(8 + 10 * (number - FIRST_GREY)));
  const place = number - SIXTEEN.length;
  return hex(
    ...[Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map(step => LEVELS[step] ?? 0),
  );
}

function hex(...parts: readonly number[]): string {
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Neighbouring cells of one look. */
interface Run {
  /** Cells before it. */
  readonly column: number;
  readonly text: string;
  /** Cells. */
  readonly width: number;
  readonly look: Look;
}

const SGR = '\u001b[';
/** Of each of these everybody knows that it has one cell. */
const NARROW = /^[ -~]*$/;
const CLUSTERS = new LazySegmenter();

/** A dressed row as runs, blanks that nobody sees left out. Wide characters stand in runs of their own, so that each keeps its cells. */
export function runsOf(row: string): Run[] {
  const runs: Run[] = [];
  let column = 0;
  for (const { text, look } of dressedPieces(row))
    for (const piece of evenPieces(text)) {
      const width = cellsOf(piece);
      runs.push(...seen({ column, text: piece, width, look }));
      column += width;
    }
  return runs;
}

function dressedPieces(row: string): { text: string; look: Look }[] {
  const [first = '', ...rest] = row.split(SGR);
  let look = PLAIN;
  const dressed = rest.map(piece => {
    const end = piece.indexOf('m');
    look = withCodes(look, piece.slice(0, end).split(';').map(Number));
    return { text: piece.slice(end + 1), look };
  });
  return [{ text: first, look: PLAIN }, ...dressed].filter(({ text }) => text !== '');
}

/** Pieces of which each has only wide clusters, or none. */
function evenPieces(text: string): string[] {
  if (NARROW.test(text)) return [text];
  const pieces: { text: string; isWide: boolean }[] = [];
  for (const { segment } of CLUSTERS.segment(text)) {
    const isWide = cellsOf(segment) > 1;
    const last = pieces.at(-1);
    if (last?.isWide === isWide) last.text += segment;
    else pieces.push({ text: segment, isWide });
  }
  return pieces.map(piece => piece.text);
}

/** Blanks at the ends of a run without a background are not drawn: not every viewer keeps their place. */
function seen(run: Run): Run[] {
  const { background, inverse, underline } = run.look;
  if (background !== null || inverse || underline) return [run];
  const text = run.text.trim();
  const before = run.text.length - run.text.trimStart().length;
  const width = run.width - (run.text.length - text.length);
  return text === '' ? [] : [{ ...run, text, column: run.column + before, width }];
}

const FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const FONT_SIZE = 14;
const CELL = { width: 8.4, height: 20 };
/** From the top of a row to the line its letters stand on. */
const BASELINE = 14.5;
const BAR = 34;
const MARGIN = { x: 20, top: 14, bottom: 18 };

interface Picture {
  /** Cells of the widest row. */
  readonly columns: number;
  /** How many rows there are. */
  readonly height: number;
  readonly rows: Iterable<readonly Run[]>;
  readonly title: string;
}

/**
 * Rows in a dark window, as the lines of an SVG that brings nothing with it: no font, no script, nothing that is fetched.
 * Each run is stretched to its cells, whatever font there is.
 */
export function* svgLines({ columns, height: count, rows, title }: Picture): Generator<string> {
  const width = round(columns * CELL.width + 2 * MARGIN.x);
  const height = BAR + MARGIN.top + count * CELL.height + MARGIN.bottom;
  yield `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`;
  yield `<style>text{font:${FONT_SIZE}px ${FONT};fill:${INK.plain};white-space:pre}.b{font-weight:600}</style>`;
  yield* windowLines(width, height, title);
  let row = 0;
  for (const runs of rows) {
    for (const run of runs) yield* runLines(run, row);
    row++;
  }
  yield '</svg>';
}

function windowLines(width: number, height: number, title: string): string[] {
  const { background, bar, border, dots } = WINDOW;
  return [
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="${background}" stroke="${border}"/>`,
    `<path d="M1 ${BAR}V10.5A9.5 9.5 0 0 1 10.5 1H${width - 10.5}A9.5 9.5 0 0 1 ${width - 1} 10.5V${BAR}Z" fill="${bar}"/>`,
    ...dots.map((dot, index) => `<circle cx="${22 + 20 * index}" cy="${BAR / 2}" r="6" fill="${dot}"/>`),
    `<text x="${width / 2}" y="${BAR / 2 + 4.5}" text-anchor="middle" style="font-size:12px;fill:${WINDOW.title}">${escaped(title)}</text>`,
  ];
}

function runLines({ column, text, width, look }: Run, row: number): string[] {
  const x = round(MARGIN.x + column * CELL.width);
  const y = BAR + MARGIN.top + row * CELL.height;
  const length = round(width * CELL.width);
  const { ink, paper } = coloursOf(look);
  const weight = look.bold ? ' class="b"' : '';
  return [
    ...(paper ? [`<rect x="${x}" y="${y}" width="${length}" height="${CELL.height}" fill="${paper}"/>`] : []),
    `<text x="${x}" y="${y + BASELINE}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${weight}${styleOf(look, ink)} xml:space="preserve">${escaped(text)}</text>`,
  ];
}

function styleOf({ italic, underline }: Look, ink: string): string {
  const rules = [
    ...(ink === INK.plain ? [] : [`fill:${ink}`]),
    ...(italic ? ['font-style:italic'] : []),
    ...(underline ? ['text-decoration:underline'] : []),
  ];
  return rules.length > 0 ? ` style="${rules.join(';')}"` : '';
}

function coloursOf({ foreground, background, bold, dim, inverse }: Look) {
  const plain = dim ? INK.dim : bold ? INK.bold : INK.plain;
  const ink = foreground === null ? plain : colourOf(foreground);
  const paper = background === null ? null : colourOf(background);
  return inverse ? { ink: paper ?? WINDOW.background, paper: ink } : { ink, paper };
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A line that is not wrapped, scrolled by `left` cells: what stands up to the last gutter span of a half stays. */
export function slideLine(line: Line, left: number, width: number): Line {
  const rooms = roomsOf(line, width);
  return withHalves(line, (half, index) => {
    const { gutter, body } = partsOfHalf(half);
    const room = (rooms[index] ?? 0) - widthOf(gutter);
    return room > 0 ? [...gutter, ...slid(body, left, room)] : cutLine(gutter, rooms[index] ?? 0);
  });
}

/** Whether there is more of a line to the right. */
export function goesOnBeyond(line: Line, left: number, width: number): boolean {
  const rooms = roomsOf(line, width);
  return halvesOf(line).halves.some((half, index) => widthOf(half) - left > (rooms[index] ?? 0));
}

/** How far a line is to be scrolled so that the cells `from` … `to` of one of its halves, past its gutter, are seen. */
export function slideTo(line: Line, half: number, cells: Cells, left: number, width: number): number {
  const gutter = partsOfHalf(halvesOf(line).halves[half] ?? []).gutter;
  const room = (roomsOf(line, width)[half] ?? 0) - widthOf(gutter);
  const isSeen = cells.from >= left && cells.to - left < room;
  return isSeen ? left : Math.max(0, cells.from - Math.floor(room / 2));
}

interface Cells {
  readonly from: number;
  readonly to: number;
}

function roomsOf(line: Line, width: number): readonly number[] {
  const { divider } = halvesOf(line);
  return divider ? halfWidths(width, cellsOf(divider.text)) : [width];
}

function slid(body: Line, left: number, room: number): Line {
  const seen: Span[] = [];
  let cells = -left;
  const place = (character: string) => {
    const before = cells;
    cells += widthOfCharacter(character);
    if (before >= 0) return before === 0 && cells === 0 && left > 0 ? '' : character;
    // Of a wide character that is half away, a blank stays.
    return ' '.repeat(Math.max(0, cells));
  };
  for (const span of body) {
    let text = '';
    for (const character of span.text) {
      text += place(character);
      if (cells > room) break;
    }
    seen.push({ ...span, text });
    if (cells > room) break;
  }
  return cutLine(seen, room);
}
