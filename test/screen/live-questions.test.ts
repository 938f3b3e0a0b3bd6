import { expect, test } from 'vitest';
import { Questions } from '../../src/tui/live/session.js';
import { question } from './support/scenes.js';

const FIRST = question('first?', ['a', 'b', 'c'], 1);
const SECOND = question('second?', ['x', 'y']);
const { signal: never } = new AbortController();

function asking() {
  let changes = 0;
  const questions = new Questions(() => changes++);
  return { questions, changes: () => changes, prompt: () => questions.picker?.question.prompt };
}

test('RT-CHOICE: what is picked is its answer, and a question that is dismissed means its default', async () => {
  const { questions } = asking();
  const picked = questions.ask(FIRST, never);
  questions.press('down');
  questions.press('pick');
  expect(await picked).toBe(2);
  const dismissed = questions.ask(FIRST, never);
  questions.press('first');
  questions.press('dismiss');
  expect(await dismissed).toBe(1);
  expect(questions.picker).toBeNull();
});

test('several are asked one after another', async () => {
  const { questions, prompt } = asking();
  const answers = [questions.ask(FIRST, never), questions.ask(SECOND, never)];
  expect(prompt()).toBe('first?');
  questions.press('pick');
  expect(prompt()).toBe('second?');
  questions.press('pick');
  expect(await Promise.all(answers)).toEqual([1, 0]);
});

test('one that is called off goes, and the others stay; its answer is none', async () => {
  const { questions, prompt, changes } = asking();
  const over = new AbortController();
  const calledOff = questions.ask(FIRST, over.signal);
  const answered = questions.ask(SECOND, never);
  const before = changes();
  over.abort();
  expect(await calledOff).toBeNull();
  expect(prompt()).toBe('second?');
  expect(changes()).toBe(before + 1);
  questions.press('pick');
  expect(await answered).toBe(0);
});

test('one that is called off before it is asked is never shown', async () => {
  const { questions, changes } = asking();
  expect(await questions.ask(FIRST, AbortSignal.abort())).toBeNull();
  expect(changes()).toBe(0);
});

test('at the end all are called off, and keys mean nothing any more', async () => {
  const { questions } = asking();
  const answers = [questions.ask(FIRST, never), questions.ask(SECOND, never)];
  questions.callOff();
  questions.press('pick');
  expect(await Promise.all(answers)).toEqual([null, null]);
});
