import { cellsOf, clustersOf } from './cells.js';

/** An index into the 256-colour palette, or `#rrggbb`; null is the default colour. */
type Colour = number | string | null;

interface Look {
  readonly foreground: Colour;
  readonly background: Colour;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
}

const PLAIN: Look = {
  foreground: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

/** The SGR codes that chalk writes for the themes, besides those of colours. */
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

/** Applies a sequence of SGR parameters; unknown ones change nothing. */
function withCodes(look: Look, codes: readonly number[]): Look {
  let now = look;
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, mode, ...rest] = codes.slice(at);
    const extended = EXTENDED[code];
    if (extended !== undefined && mode === 5) {
      now = { ...now, [extended]: rest[0] ?? null };
      at += 2;
    } else if (extended !== undefined && mode === 2) {
      now = { ...now, [extended]: hex(rest.slice(0, 3)) };
      at += 4;
    } else now = { ...now, ...(CHANGES[code] ?? sixteen(code)) };
  }
  return now;
}

/** The codes whose colour follows: as an index (5), or as red, green and blue (2). */
const EXTENDED: Readonly<Record<number, 'foreground' | 'background'>> = {
  38: 'foreground',
  48: 'background',
};

/** 30–37 and 90–97 are foregrounds, 40–47 and 100–107 backgrounds. */
function sixteen(code: number): Partial<Look> {
  const isBright = code >= 90;
  const [kind, colour] = [Math.floor(code / 10) - (isBright ? 6 : 0), code % 10];
  if (colour > 7) return {};
  const number = colour + (isBright ? 8 : 0);
  if (kind === 3) return { foreground: number };
  return kind === 4 ? { background: number } : {};
}

const WINDOW = {
  background: '#161b22',
  bar: '#1f262e',
  border: '#3d444d',
  title: '#8b949e',
  dots: ['#ff5f57', '#febc2e', '#28c840'],
} as const;

const INK = { plain: '#d1d7e0', bold: '#ffffff', dim: '#8b949e' } as const;

const SIXTEEN =
  '#484f58 #ff7b72 #57d36c #e3b341 #79c0ff #d2a8ff #4cc9e0 #d1d7e0 #6e7681 #ffa198 #7ee787 #f2cc60 #a5d6ff #e2c5ff #76e3ea #ffffff'.split(
    ' ',
  );
const LEVELS = [0, 95, 135, 175, 215, 255];
const FIRST_GREY = 232;

/** Converts a colour of the 256 to CSS: 16 basic colours, a cube of 6 × 6 × 6, 24 greys. */
function colourOf(number: number | string): string {
  if (typeof number === 'string') return number;
  const named = SIXTEEN[number];
  if (named !== undefined) return named;
  if (number >= FIRST_GREY) return hex(Array<number>(3).fill(8 + 10 * (number - FIRST_GREY)));
  const place = number - SIXTEEN.length;
  return hex([Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map(step => LEVELS[step] ?? 0));
}

function hex(parts: readonly number[]): string {
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`;
}

interface Run {
  readonly column: number;
  readonly text: string;
  readonly width: number;
  readonly look: Look;
}

/** Splits a styled row into runs without invisible blanks. Wide characters have their own runs, so that each keeps its cells. */
export function runsOf(row: string): Run[] {
  const runs: Run[] = [];
  let column = 0;
  for (const { text, look } of styledPieces(row))
    for (const piece of evenPieces(text)) {
      const width = cellsOf(piece);
      runs.push(...trimmed({ column, text: piece, width, look }));
      column += width;
    }
  return runs;
}

function styledPieces(row: string): { text: string; look: Look }[] {
  const [first = '', ...rest] = row.split('\u001b[');
  let look = PLAIN;
  const styled = rest.map(piece => {
    const end = piece.indexOf('m');
    look = withCodes(look, piece.slice(0, end).split(';').map(Number));
    return { text: piece.slice(end + 1), look };
  });
  return [{ text: first, look: PLAIN }, ...styled].filter(({ text }) => text !== '');
}

/** Splits a text so that each piece has only wide clusters, or none. */
function evenPieces(text: string): string[] {
  if (/^[ -~]*$/.test(text)) return [text];
  const pieces: { text: string; isWide: boolean }[] = [];
  for (const cluster of clustersOf(text)) {
    const isWide = cellsOf(cluster) > 1;
    const last = pieces.at(-1);
    if (last?.isWide === isWide) last.text += cluster;
    else pieces.push({ text: cluster, isWide });
  }
  return pieces.map(piece => piece.text);
}

/** Removes invisible blanks at both ends: some viewers do not keep their position. */
function trimmed(run: Run): Run[] {
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
/** Distance from the top of a row to the baseline of its letters. */
const BASELINE = 14.5;
const BAR = 34;
const MARGIN = { x: 20, top: 14, bottom: 18 };

/** Draws styled rows as the lines of an SVG. The rows are laid out twice, since an SVG begins with its height. */
export function pictureLines(
  rowsFor: (columns: number) => Iterable<string>,
  columns: number,
): Iterable<string> {
  let height = 0;
  for (const _ of rowsFor(columns)) height++;
  function* rows() {
    for (const row of rowsFor(columns)) yield runsOf(row);
  }
  return svgLines({ columns, height, rows: rows(), title: 'protocol-cli' });
}

interface Picture {
  readonly columns: number;
  readonly height: number;
  readonly rows: Iterable<readonly Run[]>;
  readonly title: string;
}

/**
 * Draws rows in a dark window, as the lines of a self-contained SVG: no font, no script, no request. Each run is stretched to its cells,
 * whatever the font.
 */
export function* svgLines({ columns, height: count, rows, title }: Picture): Generator<string> {
  const { background, bar, border, dots } = WINDOW;
  const width = round(columns * CELL.width + 2 * MARGIN.x);
  const height = BAR + MARGIN.top + count * CELL.height + MARGIN.bottom;
  const label = escaped(title);
  yield `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">`;
  yield `<style>text{font:${FONT_SIZE}px ${FONT};fill:${INK.plain};white-space:pre}.b{font-weight:600}</style>`;
  yield `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="${background}" stroke="${border}"/>`;
  yield `<path d="M1 ${BAR}V10.5A9.5 9.5 0 0 1 10.5 1H${width - 10.5}A9.5 9.5 0 0 1 ${width - 1} 10.5V${BAR}Z" fill="${bar}"/>`;
  yield* dots.map((dot, at) => `<circle cx="${22 + 20 * at}" cy="${BAR / 2}" r="6" fill="${dot}"/>`);
  yield `<text x="${width / 2}" y="${BAR / 2 + 4.5}" text-anchor="middle" style="font-size:12px;fill:${WINDOW.title}">${label}</text>`;
  let row = 0;
  for (const runs of rows) {
    for (const run of runs) yield* runLines(run, row);
    row++;
  }
  yield '</svg>';
}

function runLines({ column, text, width, look }: Run, row: number): string[] {
  const x = round(MARGIN.x + column * CELL.width);
  const y = BAR + MARGIN.top + row * CELL.height;
  const length = round(width * CELL.width);
  const { ink, paper } = coloursOf(look);
  const styles = [
    ...(ink === INK.plain ? [] : [`fill:${ink}`]),
    ...(look.italic ? ['font-style:italic'] : []),
    ...(look.underline ? ['text-decoration:underline'] : []),
  ].join(';');
  const attributes = (look.bold ? ' class="b"' : '') + (styles && ` style="${styles}"`);
  return [
    ...(paper ? [`<rect x="${x}" y="${y}" width="${length}" height="${CELL.height}" fill="${paper}"/>`] : []),
    `<text x="${x}" y="${y + BASELINE}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${attributes} xml:space="preserve">${escaped(text)}</text>`,
  ];
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
