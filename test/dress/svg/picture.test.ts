import { Chalk } from 'chalk';
import { describe, expect, test } from 'vitest';
import { runsOf, svgLines } from '../../../src/render/terminal/svg.js';

const chalk = new Chalk({ level: 2 });

function svgOf(...rows: string[]): string {
  const picture = { columns: 20, height: rows.length, rows: rows.map(runsOf), title: 'a <title>' };
  return [...svgLines(picture)].join('\n');
}

/** The lines that draw rows: what comes after the window. */
function drawn(svg: string): string[] {
  return svg.split('\n').slice(8, -1);
}

test('is the same for the same rows', () => {
  expect(svgOf('a', chalk.red('b'))).toBe(svgOf('a', chalk.red('b')));
});

test('is as large as its rows', () => {
  expect(svgOf('a')).toMatch(/^<svg xmlns="\S+" width="208" height="86" viewBox="0 0 208 86" role="img"/);
  expect(svgOf('a', '', 'b')).toContain('height="126"');
});

test('brings nothing with it', () => {
  expect(svgOf('a')).not.toMatch(/<script|<image|<foreignObject|href=|url\(|@import|@font-face/i);
});

test('what is said is no markup', () => {
  const svg = svgOf('</text><script>alert("&")</script>');
  expect(svg).not.toContain('<script');
  expect(svg).toContain('>&#60;/text&#62;&#60;script&#62;alert(&#34;&#38;&#34;)&#60;/script&#62;</text>');
  expect(svg).toContain('aria-label="a &#60;title&#62;"');
});

describe('a run', () => {
  test('is stretched to its cells, at its place', () => {
    expect(drawn(svgOf('', '  漢字'))).toEqual([
      '<text x="36.8" y="82.5" textLength="33.6" lengthAdjust="spacingAndGlyphs" xml:space="preserve">漢字</text>',
    ]);
  });

  test('has its colours: ink, and paper behind it', () => {
    const [paper, text] = drawn(svgOf(chalk.bgAnsi256(22).ansi256(255)('new')));
    expect(paper).toBe('<rect x="20" y="48" width="25.2" height="20" fill="#005f00"/>');
    expect(text).toContain('style="fill:#eeeeee"');
  });

  test.each([
    ['bold', chalk.bold('x'), 'class="b" style="fill:#ffffff"'],
    ['dim', chalk.dim('x'), 'style="fill:#8b949e"'],
    ['underlined', chalk.underline('x'), 'style="text-decoration:underline"'],
    ['in italics', chalk.italic.red('x'), 'style="fill:#ff7b72;font-style:italic"'],
    ['inverse', chalk.inverse('x'), 'style="fill:#161b22"'],
  ])('%s', (_, row, style) => {
    expect(drawn(svgOf(row)).at(-1)).toContain(style);
  });
});
