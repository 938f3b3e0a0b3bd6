import type { Look } from './look.js';
import { colourOf, INK, WINDOW } from './palette.js';
import type { Run } from './runs.js';

const FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const FONT_SIZE = 14;
const CELL = { width: 8.4, height: 20 };
/** From the top of a row to the line its letters stand on. */
const BASELINE = 14.5;
const BAR = 34;
const MARGIN = { x: 20, top: 14, bottom: 18 };

export interface Picture {
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
