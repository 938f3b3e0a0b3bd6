import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Chooser, selectedIndex } from '../../../src/commands/invoke/questions.js';
import { Prompts, type Terminal } from '../../../src/commands/terminal.js';
import type { Exchange } from '../../../src/events/exchange.js';
import type { UserChoice } from '../../../src/protocol/callbacks.js';
import { createRedactor } from '../../../src/util/redact.js';
import { acknowledged, arrives, CHOICE, call, historyOf, OAUTH } from '../../events/build.js';

const choice = { ...CHOICE, choices: ['staging', 'production', '0', 'Default'], default: 1 } as UserChoice;

test.each([
  ['default', 1],
  ['staging', 0],
  ['1', 1],
  ['0', 2],
  ['Default', 3],
  ['4', null],
  ['-1', null],
  ['1.0', null],
  ['', null],
  ['Production', null],
])('RT-CHOICE: --choose %j picks %j', (choose, index) => {
  expect(selectedIndex(choose, choice)).toBe(index);
});

interface Given {
  readonly choose?: readonly string[];
  readonly pick?: Chooser['pick'];
  readonly isTTY?: boolean;
}

/** Without a user at the terminal, by default. */
function chooser({ choose, pick, isTTY = false }: Given = {}): Chooser {
  const stream = () => Object.assign(new PassThrough(), { isTTY });
  const terminal = { stdin: stream(), stderr: stream(), env: {}, interrupt() {} } as unknown as Terminal;
  const { signal } = new AbortController();
  return new Chooser(new Prompts({ terminal, signal, clean: createRedactor(['s3cret']).text }), choose, pick);
}

test('row 25: secrets that a tool repeats are not in its question', async () => {
  const answering = chooser({ isTTY: true });
  const { stdin, stderr } = answering.prompts.terminal;
  stdin.push('1\n');
  const asking = { ...choice, prompt: 'with s3cret?' };
  expect(await answering.select(asking, new AbortController().signal, 0)).toBe(1);
  expect(String((stderr as unknown as PassThrough).read())).toMatch(/^with \S+\?\n {2}0 (?!.*s3cret)/s);
});

const asked = historyOf(call(), acknowledged(), arrives(CHOICE)).first as Exchange;
const pick = async () => 0;

test.each<[string, Given, boolean]>([
  ['without a person', {}, true],
  ['with a person at a terminal', { isTTY: true }, false],
  ['with a screen', { pick }, false],
  ['with a --choose that fits', { choose: ['production'] }, false],
  ['with a --choose that does not fit', { choose: ['mars'], pick, isTTY: true }, true],
])('a question %s: %j leaves it open: %j', (_, given, isOpen) => {
  expect(chooser(given).isLeftOpen(asked)).toBe(isOpen);
});

test('after an open page, uses several --choose in order, the last one repeatedly', () => {
  const page = arrives(OAUTH, { leg: 'page' });
  const both = historyOf(call(), page, arrives(choice, { leg: 'pick' })).first as Exchange;
  expect(chooser().isLeftOpen(both)).toBe(true);
  const second = arrives({ ...choice, choices: ['x', 'y'] }, { leg: 'two' });
  const two = historyOf(call(), arrives(choice, { leg: 'one' }), second).first as Exchange;
  const open = (...choose: string[]) => chooser({ choose }).isLeftOpen(two);
  expect([open('staging', 'y'), open('staging', 'z'), open('staging'), open('1')]).toEqual([
    ...[false, true, true, false],
  ]);
});

describe('a question is answered', () => {
  const { signal } = new AbortController();

  test.each<[string, Given, 'flag' | 'person', number | null]>([
    ['--choose before the person', { choose: ['production'], pick }, 'flag', 1],
    ['a --choose that does not fit', { choose: ['mars'] }, 'flag', null],
    ['a person who picks', { pick }, 'person', 0],
    ['without a person', {}, 'person', null],
  ])('%s', async (_, given, by, selected) => {
    const answering = chooser(given);
    expect([answering.by, await answering.select(choice, signal, 0)]).toEqual([by, selected]);
  });
});
