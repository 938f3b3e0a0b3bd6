import { expect, test } from 'vitest';
import { intakeWith } from '../start-mock.js';

test('row 1: a question has its own unguessable path', async () => {
  const { choices } = (await intakeWith(null)).questions;
  const about = { calls: ['k'], thread: 'g' };
  const question = { prompt: 'Sure?', choices: ['Yes'], default: 0, id: 'i', search: '', about };
  const paths = ['a', 'b'].map(prompt => choices.open({ ...question, prompt }).path);
  for (const path of paths) expect(path).toMatch(/^\/choices\/[\w-]{43}$/);
  expect(paths.map(path => choices.at(path)?.about.prompt)).toEqual(['a', 'b']);
  for (const wrong of ['', '/choices/', `${paths[0]}x`, paths[0]?.slice(0, -1) ?? ''])
    expect(choices.at(wrong)).toBeUndefined();
});
