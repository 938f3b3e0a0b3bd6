import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { ruleOption } from '../../../src/commands/check/command.js';
import { reporterOption, reportsOf } from '../../../src/commands/reports.js';
import { ProtocolCliError } from '../../../src/util/errors.js';

describe('--only, --skip, --spec', () => {
  test('ids in any case, one more each time', () => {
    expect(ruleOption('rt-op', ruleOption('TOOL-ACK'))).toEqual(['TOOL-ACK', 'RT-OP']);
  });

  test.each([
    ['TOOL-AKC', 'Did you mean "TOOL-ACK"'],
    ['no rule is called like this at all', 'check --list` shows them all'],
    ['__proto__', 'is no rule'],
    ['TOOL-DIFF,TOOL-ACK', 'give the option once for each'],
  ])('%s: %s', (text, words) => {
    expect(() => ruleOption(text)).toThrow(InvalidArgumentError);
    expect(() => ruleOption(text)).toThrow(words);
  });
});

describe('--reporter', () => {
  const HUMAN = { format: 'human', file: null };

  test('a format, and the file it goes to', () => {
    expect(reporterOption('junit:out/a:b.xml', reporterOption('json'))).toEqual([
      { format: 'json', file: null },
      { format: 'junit', file: 'out/a:b.xml' },
    ]);
  });

  test.each([
    ['tap', /unknown format "tap"; choose from human, json, junit, github, markdown/],
    ['junit:', /junit:report\.xml/],
    ['', /unknown format ""/],
  ])('%j is refused', (text, words) => {
    expect(() => reporterOption(text)).toThrow(words);
  });

  test('people get theirs on stdout, unless another one goes there', () => {
    expect(reportsOf()).toEqual([HUMAN]);
    expect(reportsOf(reporterOption('junit:a.xml'))).toEqual([HUMAN, { format: 'junit', file: 'a.xml' }]);
    for (const text of ['json', 'json:-'])
      expect(reportsOf(reporterOption(text))).toEqual([{ format: 'json', file: null }]);
  });

  test.each([
    ['two on stdout', ['json', 'github'], 'only one --reporter can be written to stdout'],
    ['two in one file', ['json:a', 'junit:a'], 'two reports would be written to a'],
  ])('%s', (_, texts, message) => {
    const asked = texts.flatMap(text => reporterOption(text));
    expect(() => reportsOf(asked)).toThrow(ProtocolCliError);
    expect(() => reportsOf(asked)).toThrow(message);
  });
});
