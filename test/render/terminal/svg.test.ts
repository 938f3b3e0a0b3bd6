import { Chalk } from 'chalk';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { runsOf, svgLines } from '../../../src/render/terminal/svg.js';

const chalk = new Chalk({ level: 2 });
const [PLAIN] = runsOf('x').map(run => run.look);
const SGR = (codes: string) => `\u001b[${codes}mx`;

describe('reads the looks that chalk writes', () => {
  test.each<[string, string, object]>([
    ['bold', chalk.bold('x'), { bold: true }],
    ['dim', chalk.dim('x'), { dim: true }],
    ['italic', chalk.italic('x'), { italic: true }],
    ['underline', chalk.underline('x'), { underline: true }],
    ['inverse', chalk.inverse('x'), { inverse: true }],
    ['red', chalk.red('x'), { foreground: 1 }],
    ['bright cyan', chalk.cyanBright('x'), { foreground: 14 }],
    ['on green', chalk.bgGreen('x'), { background: 2 }],
    ['on bright white', chalk.bgWhiteBright('x'), { background: 15 }],
    ['of the 256', chalk.bgAnsi256(22).ansi256(255)('x'), { background: 22, foreground: 255 }],
    ['several at once', chalk.red.bold.underline('x'), { foreground: 1, bold: true, underline: true }],
    ...['5', '8', '9', '21', '28', '38', '48', '50', '53', '108', '1000'].map(
      (code): [string, string, object] => [`unknown code ${code}`, SGR(code), {}],
    ),
  ])('%s', (_, text, change) => {
    expect(runsOf(text).map(run => run.look)).toEqual([{ ...PLAIN, ...change }]);
  });

  test('handles any codes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(260), { minLength: 1, maxLength: 6 }), codes => {
        for (const { look } of runsOf(SGR(codes.join(';'))))
          expect(Object.keys(look)).toEqual(Object.keys(PLAIN ?? {}));
      }),
    );
  });
});

test('runs keep the columns and the text of the row', () => {
  const piece = fc.tuple(
    fc.string({ unit: fc.constantFrom('a', ' ', '漢', 'é', '👍', '<', '✓'), maxLength: 8 }),
    fc.constantFrom(chalk, chalk.red, chalk.bold, chalk.bgAnsi256(22)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), pieces => {
      const runs = runsOf(pieces.map(([text, paint]) => paint(text)).join(''));
      const plain = pieces.map(([text]) => text).join('');
      let end = 0;
      for (const { column, text, width } of runs) {
        expect(column).toBeGreaterThanOrEqual(end);
        expect(width).toBe(stringWidth(text));
        end = column + width;
      }
      expect(end).toBeLessThanOrEqual(stringWidth(plain));
      expect(
        runs
          .map(({ text }) => text)
          .join('')
          .replaceAll(' ', ''),
      ).toBe(plain.replaceAll(' ', ''));
    }),
    { numRuns: 80 },
  );
});

describe('svgLines', () => {
  const svgOf = (...rows: string[]) =>
    [...svgLines({ columns: 20, height: rows.length, rows: rows.map(runsOf), title: 'a <title>' })].join(
      '\n',
    );

  test('is as large as its rows, and self-contained', () => {
    expect(svgOf('a')).toMatch(/^<svg xmlns="\S+" width="208" height="86" viewBox="0 0 208 86" role="img"/);
    expect(svgOf('a', '', 'b')).toContain('height="126"');
    expect(svgOf('a')).not.toMatch(/<script|<image|<foreignObject|href=|url\(|@import|@font-face/i);
  });

  test('escapes untrusted text', () => {
    const svg = svgOf('</text><script>alert("&")</script>');
    expect(svg).not.toContain('<script');
    expect(svg).toContain('>&#60;/text&#62;&#60;script&#62;alert(&#34;&#38;&#34;)&#60;/script&#62;</text>');
    expect(svg).toContain('aria-label="a &#60;title&#62;"');
  });
});
