import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Answers } from '../../../src/commands/workbench/server-connection.js';
import type { UserChoice } from '../../../src/protocol/callbacks.js';
import { CHOICE } from '../../events/build.js';

const question = (): UserChoice => ({ ...CHOICE, type: 'user_choice' });

test('a question that is answered listens for the end of its call no more', async () => {
  const answers = new Answers();
  const { signal } = new AbortController();
  const one = question();
  const selected = answers.answering.select(one, signal, 0);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  expect(answers.give(one, 1)).toBe(true);
  expect(await selected).toBe(1);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('one that is called off is answered by nobody', async () => {
  const answers = new Answers();
  const over = new AbortController();
  const one = question();
  const selected = answers.answering.select(one, over.signal, 0);
  over.abort();
  expect(await selected).toBeNull();
  expect(answers.give(one, 1)).toBe(false);
  expect(await answers.answering.select(one, over.signal, 1)).toBeNull();
});
