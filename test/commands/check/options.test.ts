import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { ruleOption } from '../../../src/commands/check/command.js';
import { checkReports, reporterOption, reportOption, reportsOf } from '../../../src/commands/reports.js';
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

describe('--reporter', () => {
  const HUMAN = { format: 'human', file: null };

  test('accepts a format and a file', () => {
    expect(reporterOption('junit:out/a:b.xml', reporterOption('json'))).toEqual([
      { format: 'json', file: null },
      { format: 'junit', file: 'out/a:b.xml' },
    ]);
  });

  test.each([
    ['tap', /unknown format "tap"; choose from human, json, junit, github, markdown/],
    ['junit:', /junit:report\.xml/],
    ['', /unknown format ""/],
  ])('refuses %j', (text, words) => {
    expect(() => reporterOption(text)).toThrow(words);
  });

  test('the human format goes to stdout, unless another report does', () => {
    expect(reportsOf()).toEqual([HUMAN]);
    expect(reportsOf(reporterOption('junit:a.xml'))).toEqual([HUMAN, { format: 'junit', file: 'a.xml' }]);
    for (const text of ['json', 'json:-'])
      expect(reportsOf(reporterOption(text))).toEqual([{ format: 'json', file: null }]);
  });

  test.each([
    ['two on stdout', ['json', 'github'], 'only one --reporter can be written to stdout'],
    ['two in one file', ['json:a', 'junit:a'], 'two reports would be written to a'],
  ])('%s', async (_, texts, message) => {
    const asked = reportsOf(texts.flatMap(text => reporterOption(text)));
    await expect(checkReports(asked, '--reporter')).rejects.toThrow(message);
  });
});

describe('--report', () => {
  test.each([
    ['json', { format: 'json', file: null }],
    ['junit:out.xml', { format: 'junit', file: 'out.xml' }],
    ['json:a:b/c d.json', { format: 'json', file: 'a:b/c d.json' }],
  ])('%s', (text, request) => {
    expect(reportOption(text)).toEqual([request]);
  });

  test('can be repeated', () => {
    expect(reportOption('json', reportOption('junit:a.xml'))).toHaveLength(2);
  });

  test.each([
    ['xml', 'unknown format "xml"; choose from junit, json.'],
    ['', 'unknown format ""; choose from junit, json.'],
    ['__proto__:x', 'unknown format "__proto__"; choose from junit, json.'],
    ['junit:', 'Add a file after the colon: junit:report.xml.'],
  ])('refuses %j', (text, message) => {
    expect(() => reportOption(text)).toThrow(message);
  });
});

describe('reports must not be mixed', () => {
  const json = { format: 'json', file: null } as const;
  const toFile = { format: 'junit', file: 'a.xml' } as const;

  test.each([
    ['one on stdout', [json, toFile], false],
    ['none on the stdout of a command', [toFile], true],
    ['no report', [], true],
  ])('accepts %s', async (_, reports, isTaken) => {
    await checkReports(reports, '--report', isTaken);
  });

  test.each([
    [
      'the stdout of a command',
      [json],
      true,
      /^--report json and the command would both write/,
      /--report json:report.json/,
    ],
    ['two on stdout', [json, { ...json, format: 'junit' }], false, /^only one/, /--report json:report.json/],
    ['one file twice', [toFile, { ...toFile, format: 'json' }], false, /written to a.xml$/, /its own file/],
  ] as const)('refuses %s', async (_, reports, isTaken, message, hint) => {
    expect(await errorOf(() => checkReports(reports, '--report', isTaken))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});
