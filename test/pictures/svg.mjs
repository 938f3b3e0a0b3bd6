import { colourOf, INK, WINDOW } from './palette.mjs';

/**
 * @typedef {{ foreground: number | null, background: number | null, bold: boolean, dim: boolean, inverse: boolean }} Look
 * @typedef {{ column: number, text: string, width: number, look: Look }} Run
 */

const FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const FONT_SIZE = 14;
const CELL = { width: 8.4, height: 20 };
/** From the top of a row to the line its letters stand on. */
const BASELINE = 14.5;
const BAR = 34;
const MARGIN = { x: 20, top: 14, bottom: 18 };

/** A terminal's rows in a window, as a picture that needs no font of its own: each run is stretched to its cells. */
export function svgOf({ columns, rows }, title) {
  const width = round(columns * CELL.width + 2 * MARGIN.x);
  const height = BAR + MARGIN.top + rows.length * CELL.height + MARGIN.bottom;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>text{font:${FONT_SIZE}px ${FONT};fill:${INK.plain};white-space:pre}.b{font-weight:600}</style>`,
    ...windowOf(width, height, title),
    ...rows.flatMap((runs, row) => runs.flatMap(run => drawn(run, row))),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

function windowOf(width, height, title) {
  const { background, bar, border, dots } = WINDOW;
  return [
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="${background}" stroke="${border}"/>`,
    `<path d="M1 ${BAR}V10.5A9.5 9.5 0 0 1 10.5 1H${width - 10.5}A9.5 9.5 0 0 1 ${width - 1} 10.5V${BAR}Z" fill="${bar}"/>`,
    ...dots.map((dot, index) => `<circle cx="${22 + 20 * index}" cy="${BAR / 2}" r="6" fill="${dot}"/>`),
    `<text x="${width / 2}" y="${BAR / 2 + 4.5}" text-anchor="middle" style="font-size:12px;fill:${WINDOW.title}">${escaped(title)}</text>`,
  ];
}

function drawn({ column, text, width, look }, row) {
  const x = round(MARGIN.x + column * CELL.width);
  const y = BAR + MARGIN.top + row * CELL.height;
  const length = round(width * CELL.width);
  const { ink, paper } = coloursOf(look);
  const fill = ink === INK.plain ? '' : ` style="fill:${ink}"`;
  const weight = look.bold ? ' class="b"' : '';
  return [
    ...(paper
      ? [`<rect x="${x}" y="${y + 1}" width="${length}" height="${CELL.height - 2}" fill="${paper}"/>`]
      : []),
    `<text x="${x}" y="${y + BASELINE}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${weight}${fill} xml:space="preserve">${escaped(text)}</text>`,
  ];
}

function coloursOf({ foreground, background, bold, dim, inverse }) {
  const plain = dim ? INK.dim : bold ? INK.bold : INK.plain;
  const ink = foreground === null ? plain : colourOf(foreground);
  const paper = background === null ? null : colourOf(background);
  return inverse ? { ink: paper ?? WINDOW.background, paper: ink } : { ink, paper };
}

function escaped(text) {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
}

function round(value) {
  return Math.round(value * 10) / 10;
}
