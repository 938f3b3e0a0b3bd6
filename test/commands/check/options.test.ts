import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { ruleOption } from '../../../src/commands/check/command.js';
import { readReporter } from '../../../src/commands/reporter-option.js';
import { checkReports } from '../../../src/commands/reports.js';
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

const [JSON_OUT, XML, GITHUB] = [
  { format: 'json', file: null },
  { format: 'junit', file: 'a.xml' },
  { format: 'github', file: null },
] as const;

describe('--reporter', () => {
  const formats = 'human, json, junit, github, markdown';

  test('accepts a format and a file, and can be repeated', () => {
    expect(readReporter('junit:out/a:b c.xml', [JSON_OUT])).toEqual([
      JSON_OUT,
      { format: 'junit', file: 'out/a:b c.xml' },
    ]);
    expect(readReporter('json:-')).toEqual([JSON_OUT]);
  });

  test.each([
    ['', `unknown format ""; choose from ${formats}.`],
    ['__proto__:x', `unknown format "__proto__"; choose from ${formats}.`],
    ['junit:', 'Add a file after the colon: junit:report.xml.'],
  ])('refuses %j', (text, message) => {
    expect(() => readReporter(text)).toThrow(message);
  });

  test.each([
    ['one on stdout', [JSON_OUT, XML], null],
    ['none on the stdout of a command', [XML], 'the command'],
    ['annotations beside a command', [GITHUB, XML], 'the command'],
    ['no report', [], 'the command'],
  ])('accepts %s', async (_, reports, stdoutUser) => {
    await checkReports(reports, stdoutUser);
  });

  test.each([
    [
      'the stdout of a command',
      [JSON_OUT],
      'the command',
      '--reporter json and the command would both write to stdout',
      'Give the report a file: --reporter json:report.json.',
    ],
    [
      'the stdout of a command, twice',
      [JSON_OUT, { ...XML, file: null }],
      'the command',
      '--reporter json and the command would both write to stdout',
      'Give the report a file: --reporter json:report.json.',
    ],
    [
      'two on stdout',
      [JSON_OUT, { ...XML, file: null }],
      null,
      '--reporter json and --reporter junit would both write to stdout',
      'Give one of them a file: --reporter junit:report.xml.',
    ],
    [
      'annotations and another on stdout',
      [{ ...XML, file: null }, GITHUB],
      null,
      '--reporter junit and --reporter github would both write to stdout',
      'Give one of them a file: --reporter junit:report.xml.',
    ],
    [
      'one file twice',
      [XML, { ...JSON_OUT, file: 'a.xml' }],
      null,
      'two reports would be written to a.xml',
      'Give each report its own file.',
    ],
  ] as const)('refuses %s', async (_, reports, stdoutUser, message, hint) => {
    expect(await errorOf(() => checkReports(reports, stdoutUser))).toMatchObject({
      code: 'usage',
      message,
      hint,
    });
  });
});
