import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { ruleOption } from '../../../src/commands/check/command.js';
import { CHECK_FORMAT_NAMES, checkReports, reportReader } from '../../../src/commands/reports.js';
import { errorOf } from '../../support/failing.js';

describe('--only, --skip, --spec', () => {
  test('accepts ids in any case, and can be repeated', () => {
    expect(ruleOption('rt-op', ruleOption('TOOL-ACK'))).toEqual(['TOOL-ACK', 'RT-OP']);
  });

  test.each([
    ['TOOL-AKC', 'Did you mean "TOOL-ACK"'],
    ['no rule is called like this at all', 'check --list` shows them all'],
    ['__proto__', 'unknown rule'],
    ['TOOL-DIFF,TOOL-ACK', 'repeat the option for each'],
  ])('%s: %s', (text, words) => {
    expect(() => ruleOption(text)).toThrow(InvalidArgumentError);
    expect(() => ruleOption(text)).toThrow(words);
  });
});

const [JSON_OUT, XML] = [
  { format: 'json', file: null },
  { format: 'junit', file: 'a.xml' },
] as const;

describe.each([
  ['--reporter', reportReader(...CHECK_FORMAT_NAMES), 'human, json, junit, github, markdown'],
  ['--report', reportReader('junit', 'json'), 'junit, json'],
] as const)('%s', (flag, read, formats) => {
  test('accepts a format and a file, and can be repeated', () => {
    expect(read('junit:out/a:b c.xml', [JSON_OUT])).toEqual([
      JSON_OUT,
      { format: 'junit', file: 'out/a:b c.xml' },
    ]);
    expect(read('json:-')).toEqual([JSON_OUT]);
  });

  test.each([
    ['tap', `unknown format "tap"; choose from ${formats}.`],
    ['', `unknown format ""; choose from ${formats}.`],
    ['__proto__:x', `unknown format "__proto__"; choose from ${formats}.`],
    ['junit:', 'Add a file after the colon: junit:report.xml.'],
  ])('refuses %j', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test.each([
    ['one on stdout', [JSON_OUT, XML], false],
    ['none on the stdout of a command', [XML], true],
    ['no report', [], true],
  ])('accepts %s', async (_, reports, isTaken) => {
    await checkReports(reports, flag, isTaken);
  });

  const hint = new RegExp(`${flag} json:report.json`);

  test.each([
    [
      'the stdout of a command',
      [JSON_OUT],
      true,
      new RegExp(`^${flag} json and the command would both`),
      hint,
    ],
    ['two on stdout', [JSON_OUT, { ...XML, file: null }], false, /^only one/, hint],
    ['one file twice', [XML, { ...JSON_OUT, file: 'a.xml' }], false, /written to a.xml$/, /its own file/],
  ] as const)('refuses %s', async (_, reports, isTaken, message, says) => {
    expect(await errorOf(() => checkReports(reports, flag, isTaken))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(says),
    });
  });
});
