import { Chalk } from 'chalk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PLAIN, runsOf, withCodes } from '../../../src/render/terminal/svg.js';

const chalk = new Chalk({ level: 2 });

describe('a look is read back from what chalk writes', () => {
  test.each([
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
  ])('%s', (_, text, change) => {
    expect(runsOf(text).map(run => run.look)).toEqual([{ ...PLAIN, ...change }]);
  });

  test('and ends where it does', () => {
    const [one, other] = runsOf(`${chalk.red.bold('a')}b`);
    expect([one?.text, other?.text, other?.look]).toEqual(['a', 'b', PLAIN]);
  });
});

test('a code that is not known changes nothing', () => {
  for (const code of [5, 8, 9, 21, 28, 38, 48, 50, 53, 108, 1_000])
    expect(withCodes(PLAIN, [code])).toEqual(PLAIN);
});

test('whatever the codes are, a look comes out', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(260), { minLength: 1, maxLength: 6 }), codes => {
      expect(Object.keys(withCodes(PLAIN, codes))).toEqual(Object.keys(PLAIN));
    }),
  );
});
