import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import {
  answeringWith,
  type Chooser,
  isLeftOpen,
  selectedIndex,
} from '../../../src/commands/invoke/questions.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import type { Exchange } from '../../../src/events/exchange.js';
import type { UserChoice } from '../../../src/protocol/callbacks.js';
import { acknowledged, arrives, CHOICE, call, historyOf, OAUTH } from '../../events/build.js';

const choice = { ...CHOICE, choices: ['staging', 'production', '0', 'Default'], default: 1 } as UserChoice;

test.each([
  ['default', 1],
  ['staging', 0],
  ['production', 1],
  ['1', 1],
  ['3', 3],
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

/** No one at a terminal, by default. */
function chooser({ isTTY = false, ...fields }: Partial<Chooser> & { isTTY?: boolean } = {}): Chooser {
  const stream = () => Object.assign(new PassThrough(), { isTTY });
  const terminal = { stdin: stream(), stderr: stream() } as unknown as Terminal;
  const { signal } = new AbortController();
  return { choose: undefined, terminal, signal, aside: work => work(), ...fields };
}

describe('a question', () => {
  const asked = historyOf(call(), acknowledged(), arrives(CHOICE)).first as Exchange;
  const pick = async () => 0;

  test.each([
    ['where no one is there', {}, true],
    ['where someone can be asked for a line', { isTTY: true }, false],
    ['where someone can pick', { pick }, false],
    ['where --choose fits a choice', { choose: ['production'] }, false],
    ['where --choose fits none, anyone who is there', { choose: ['mars'], pick, isTTY: true }, true],
  ])('stays without an answer %s: %j → %j', (_, who, isOpen) => {
    expect(isLeftOpen(asked, chooser(who))).toBe(isOpen);
  });

  test('may be another than the oldest: a page that is open before it', () => {
    const page = arrives(OAUTH, { leg: 'page' });
    const both = historyOf(call(), page, arrives(choice, { leg: 'pick' })).first as Exchange;
    expect(isLeftOpen(both, chooser())).toBe(true);
    expect(isLeftOpen(both, chooser({ choose: ['mars'] }))).toBe(true);
    expect(isLeftOpen(both, chooser({ choose: ['staging'] }))).toBe(false);
  });

  test('is answered by its own --choose; the last of them goes on for those that follow', () => {
    const two = historyOf(
      call(),
      arrives(choice, { leg: 'one' }),
      arrives({ ...choice, choices: ['x', 'y'] }, { leg: 'two' }),
    );
    const open = (...choose: string[]) => isLeftOpen(two.first as Exchange, chooser({ choose }));
    expect([open('staging', 'y'), open('staging', 'z'), open('staging'), open('1')]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test('is not one where the tool does not ask', () => {
    expect(isLeftOpen(historyOf(call()).first as Exchange, chooser())).toBe(false);
  });
});

describe('who answers', () => {
  const { signal } = new AbortController();

  test.each<[string, Partial<Chooser>, 'flag' | 'person', number | null]>([
    ['--choose, anyone who is there', { choose: ['production'], pick: async () => 0 }, 'flag', 1],
    ['--choose that fits none', { choose: ['mars'] }, 'flag', null],
    ['a person who picks', { pick: async () => 0 }, 'person', 0],
    ['no one', {}, 'person', null],
  ])('%s', async (_, who, by, selected) => {
    const answering = answeringWith(chooser(who));
    expect([answering.by, await answering.select(choice, signal, 0)]).toEqual([by, selected]);
  });
});

test('a person is asked one thing after the other', async () => {
  const asked: ((index: number) => void)[] = [];
  const pick: Chooser['pick'] = () => new Promise(answer => asked.push(answer));
  const { select } = answeringWith(chooser({ pick }));
  const { signal } = new AbortController();
  const [first, second] = [select(choice, signal, 0), select(choice, signal, 1)];
  await new Promise(setImmediate);
  expect(asked).toHaveLength(1);
  asked[0]?.(1);
  expect(await first).toBe(1);
  await new Promise(setImmediate);
  expect(asked).toHaveLength(2);
  asked[1]?.(2);
  expect(await second).toBe(2);
});
