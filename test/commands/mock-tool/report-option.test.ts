import { describe, expect, test } from 'vitest';
import { checkReports, reportOption } from '../../../src/commands/reports.js';
import { errorOf } from '../../support/failing.js';

describe('--report', () => {
  test.each([
    ['json', { format: 'json', file: null }],
    ['junit:out.xml', { format: 'junit', file: 'out.xml' }],
    ['json:a:b/c d.json', { format: 'json', file: 'a:b/c d.json' }],
  ])('%s', (text, request) => {
    expect(reportOption(text)).toEqual([request]);
  });

  test('one more each time', () => {
    expect(reportOption('json', reportOption('junit:a.xml'))).toHaveLength(2);
  });

  test.each([
    ['xml', 'unknown format "xml"; choose from junit, json.'],
    ['', 'unknown format ""; choose from junit, json.'],
    ['__proto__:x', 'unknown format "__proto__"; choose from junit, json.'],
    ['junit:', 'Add a file after the colon: junit:report.xml.'],
  ])('not %j', (text, message) => {
    expect(() => reportOption(text)).toThrow(message);
  });
});

describe('reports do not run into each other', () => {
  const json = { format: 'json', file: null } as const;
  const toFile = { format: 'junit', file: 'a.xml' } as const;

  test.each([
    ['one on stdout', [json, toFile], false],
    ['none on the stdout of a command', [toFile], true],
    ['none at all', [], true],
  ])('%s is fine', (_, reports, isTaken) => {
    expect(() => checkReports(reports, isTaken)).not.toThrow();
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
  ] as const)('%s is not', async (_, reports, isTaken, message, hint) => {
    expect(await errorOf(() => checkReports(reports, isTaken))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});
