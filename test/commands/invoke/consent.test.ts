import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type Consent, type Denial, denialOf } from '../../../src/commands/invoke/questions.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import type { Governed } from '../../../src/runtime/policy.js';
import { errorOf } from '../../support/failing.js';

const TOOL = { name: 'delete_all', annotations: { destructive: true } };
const UNASKED: Consent = { policy: null, yes: false };

interface Asked {
  readonly denial: Denial | null;
  /** What was put before the person. */
  readonly question: string;
}

/** A person, or no one, at a terminal. */
async function ask(
  answer: string | null,
  { isTTY = true, signal = new AbortController().signal, consent = UNASKED, tool = TOOL as Governed } = {},
): Promise<Asked> {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  if (answer !== null) stdin.end(`${answer}\n`);
  const terminal = { stdin, stderr, interrupt: () => {} } as unknown as Terminal;
  const stage = { terminal, signal, aside: <T>(work: () => Promise<T>) => work() };
  const denial = await denialOf(tool, { path: 'a\u202e' }, consent, stage);
  return { denial, question: String(stderr.read() ?? '') };
}

describe('a person is asked', () => {
  test.each(['y', 'Y', 'yes', ' yes '])('%j is yes', async answer => {
    const { denial, question } = await ask(answer);
    expect(denial).toBeNull();
    expect(question).toContain('delete_all({"path":"a<U+202E>"}) is marked destructive. Call it? [y/N]');
  });

  test.each(['', 'n', 'no', 'yeah', 'yes please'])('%j is no', async answer => {
    expect((await ask(answer)).denial).toEqual({ by: 'person', reason: 'the user said no' });
  });

  test('a signal takes the question back, and nothing is called', async () => {
    expect((await ask(null, { signal: AbortSignal.abort() })).denial).not.toBeNull();
  });
});

describe('no one is asked', () => {
  const cases: [string, Governed, Consent][] = [
    ['with --yes', TOOL, { policy: null, yes: true }],
    ['where a policy allows it by name', TOOL, { policy: { version: 1, allow: ['delete_all'] }, yes: false }],
    ['of a tool that destroys nothing', { name: 'read', annotations: { destructive: false } }, UNASKED],
  ];

  test.each(cases)('%s', async (_, tool, consent) => {
    const { denial, question } = await ask(null, { isTTY: false, tool, consent });
    expect([denial, question]).toEqual([null, '']);
  });

  test('where a policy denies it, whatever else', async () => {
    const consent: Consent = { policy: { version: 1, deny: ['delete_all'] }, yes: true };
    expect((await ask('y', { consent })).denial).toEqual({
      by: 'policy',
      reason: 'the policy denies delete_all',
    });
  });
});

test.each<[string, Consent['policy']]>([
  ['by default', { version: 1, default: 'allow' }],
  ['by a wildcard', { version: 1, allow: ['*'] }],
  ['by an annotation', { version: 1, allow: [{ annotation: 'destructive' }] }],
])('a policy that allows %s is nobody’s word for a destructive tool', async (_, policy) => {
  const consent: Consent = { policy, yes: false };
  expect((await ask('n', { consent })).question).toContain('is marked destructive');
});

test('no one is there: --yes is the hint', async () => {
  const { code, hint } = await errorOf(() => ask('y', { isTTY: false }));
  expect([code, hint]).toEqual([
    'decision-needed',
    'Add --yes to call it without a question, or a --policy that allows it by name.',
  ]);
});
