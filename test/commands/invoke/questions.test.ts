import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import {
  answeringWith,
  type Chooser,
  type Consent,
  denialOf,
  isLeftOpen,
  loadPolicy,
  selectedIndex,
} from '../../../src/commands/invoke/questions.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import type { Exchange } from '../../../src/events/exchange.js';
import type { UserChoice } from '../../../src/protocol/callbacks.js';
import type { ToolInfo } from '../../../src/runtime/policy.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { acknowledged, arrives, CHOICE, call, historyOf, OAUTH } from '../../events/build.js';
import { errorOf } from '../../support/failing.js';

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

/** Without a user at the terminal, by default. */
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
    ['without a person', {}, true],
    ['with a person at a terminal', { isTTY: true }, false],
    ['with a screen', { pick }, false],
    ['with a --choose that fits', { choose: ['production'] }, false],
    ['with a --choose that does not fit', { choose: ['mars'], pick, isTTY: true }, true],
  ])('%s: %j leaves it open: %j', (_, fields, isOpen) => {
    expect(isLeftOpen(asked, chooser(fields))).toBe(isOpen);
  });

  test('after an open page, uses several --choose in order, the last one repeatedly', () => {
    const page = arrives(OAUTH, { leg: 'page' });
    const both = historyOf(call(), page, arrives(choice, { leg: 'pick' })).first as Exchange;
    expect(isLeftOpen(both, chooser())).toBe(true);
    const second = arrives({ ...choice, choices: ['x', 'y'] }, { leg: 'two' });
    const two = historyOf(call(), arrives(choice, { leg: 'one' }), second).first as Exchange;
    const open = (...choose: string[]) => isLeftOpen(two, chooser({ choose }));
    expect([open('staging', 'y'), open('staging', 'z'), open('staging'), open('1')]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  const { signal } = new AbortController();

  test.each<[string, Partial<Chooser>, 'flag' | 'person', number | null]>([
    ['--choose before the person', { choose: ['production'], pick: async () => 0 }, 'flag', 1],
    ['a --choose that does not fit', { choose: ['mars'] }, 'flag', null],
    ['a person who picks', { pick: async () => 0 }, 'person', 0],
    ['without a person', {}, 'person', null],
  ])('is answered: %s', async (_, fields, by, selected) => {
    const answering = answeringWith(chooser(fields));
    expect([answering.by, await answering.select(choice, signal, 0)]).toEqual([by, selected]);
  });

  test('waits for the previous one', async () => {
    const questions: ((index: number) => void)[] = [];
    const { select } = answeringWith(chooser({ pick: () => new Promise(each => questions.push(each)) }));
    const [first, second] = [select(choice, signal, 0), select(choice, signal, 1)];
    await new Promise(setImmediate);
    expect(questions).toHaveLength(1);
    questions[0]?.(1);
    expect(await first).toBe(1);
    await new Promise(setImmediate);
    questions[1]?.(2);
    expect(await second).toBe(2);
  });
});

const TOOL: ToolInfo = { name: 'delete_all', annotations: { destructive: true } };
const ASKS: Consent = { policy: null, yes: false };

/** Asks whether a tool may be called; null without an answer. */
async function consent(
  answer: string | null,
  { isTTY = true, signal = new AbortController().signal, of = ASKS, tool = TOOL } = {},
) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  if (answer !== null) stdin.end(`${answer}\n`);
  const terminal = { stdin, stderr, interrupt: () => {} } as unknown as Terminal;
  const stage = { terminal, signal, aside: <T>(work: () => Promise<T>) => work() };
  const denial = await denialOf(tool, { path: 'a\u202e' }, of, stage);
  return { denial, question: String(stderr.read() ?? '') };
}

describe('a destructive tool', () => {
  test.each(['y', 'Y', ' yes '])('%j means yes', async answer => {
    const { denial, question } = await consent(answer);
    expect(denial).toBeNull();
    expect(question).toContain('delete_all({"path":"a<U+202E>"}) is marked destructive. Call it? [y/N]');
  });

  test.each(['', 'no', 'yeah', 'yes please'])('%j means no', async answer => {
    expect((await consent(answer)).denial).toEqual({ by: 'person', reason: 'the user said no' });
  });

  test('is not called after a signal, or without a terminal, where the hint is --yes', async () => {
    expect((await consent(null, { signal: AbortSignal.abort() })).denial).not.toBeNull();
    expect(await errorOf(() => consent('y', { isTTY: false }))).toMatchObject({
      code: 'decision-needed',
      hint: 'Add --yes to call it without a question, or a --policy that allows it by name.',
    });
  });

  test.each<[string, ToolInfo, Consent]>([
    ['--yes', TOOL, { policy: null, yes: true }],
    ['a policy by name', TOOL, { policy: { version: 1, allow: ['delete_all'] }, yes: false }],
    ['a tool that is not destructive', { name: 'read', annotations: { destructive: false } }, ASKS],
  ])('%s needs no question', async (_, tool, of) => {
    expect(await consent(null, { isTTY: false, tool, of })).toEqual({ denial: null, question: '' });
  });

  test('a policy denies before --yes', async () => {
    const of: Consent = { policy: { version: 1, deny: ['delete_all'] }, yes: true };
    expect((await consent('y', { of })).denial).toEqual({
      by: 'policy',
      reason: 'the policy denies delete_all',
    });
  });

  test.each<Consent['policy']>([
    { version: 1, default: 'allow' },
    { version: 1, allow: ['*'] },
    { version: 1, allow: [{ annotation: 'destructive' }] },
  ])('%j is not a full name: the user is asked', async policy => {
    expect((await consent('n', { of: { policy, yes: false } })).question).toContain('is marked destructive');
  });
});

describe('a policy', () => {
  const read = (path: string, input = '') =>
    loadPolicy(path, { stdin: Readable.from([Buffer.from(input)]) as unknown as Terminal['stdin'] });

  test.each([
    'version: 1\ndeny:\n  - delete_*\n  - { annotation: destructive, reason: ask ops }\n',
    '{"version":1,"deny":["delete_*",{"annotation":"destructive","reason":"ask ops"}]}',
  ])('is YAML or JSON: %j', async text => {
    const deny = ['delete_*', { annotation: 'destructive', reason: 'ask ops' }];
    expect(await read('-', text)).toEqual({ version: 1, deny });
  });

  test.each([
    ['version: 1\ndenny: [a]\n', ':2:1 $.denny: unknown field. Did you mean "deny"?'],
    ['version: 2\n', ':1:1 $.version: '],
    ['version: 1\ndeny: [{ reason: x }]\n', ':2:8 $.deny[0]: needs a name or an annotation'],
    ['version: 1\ndeny: [\n', ':3:1 '],
    ['', 'policy.yaml:1:1 the file is empty; it needs at least `version: 1`'],
  ])('with an error reports its place: %j', async (text, fault) => {
    await using folder = await temporaryFolder();
    const path = await folder.write('policy.yaml', text);
    const { code, faults } = await errorOf(() => read(path));
    expect(code).toBe('unreadable-file');
    expect(faults[0]).toContain(fault);
  });
});
