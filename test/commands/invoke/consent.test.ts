import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { confirmDestructive } from '../../../src/commands/invoke/consent.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import { errorOf, troubleOf } from '../../support/failing.js';

const TOOL = { name: 'delete_all', description: '', inputSchema: {}, annotations: { destructive: true } };

/** A person, or nobody, at a terminal; resolves to what they were asked. */
async function ask(answer: string | null, { isTTY = true, signal = new AbortController().signal } = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  if (answer !== null) stdin.end(`${answer}\n`);
  const terminal = { stdin, stderr } as unknown as Terminal;
  await confirmDestructive(TOOL, { path: 'a\u202e' }, terminal, signal);
  return String(stderr.read());
}

describe('a person is asked', () => {
  test.each(['y', 'Y', 'yes', ' yes '])('%j is yes', async answer => {
    expect(await ask(answer)).toContain(
      'delete_all({"path":"a<U+202E>"}) is marked destructive. Call it? [y/N]',
    );
  });

  test.each(['', 'n', 'no', 'yeah', 'yes please'])('%j is no', async answer => {
    expect(await troubleOf(() => ask(answer))).toBe('declined: delete_all was not called: you said no');
  });

  test('a signal takes the question back', async () => {
    await expect(ask(null, { signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

test('nobody is there: --yes is the hint', async () => {
  const { code, hint } = await errorOf(() => ask('y', { isTTY: false }));
  expect([code, hint]).toEqual(['decision-needed', 'Add --yes to call it without a question.']);
});
