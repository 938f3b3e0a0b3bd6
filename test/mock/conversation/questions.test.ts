import { describe, expect, test } from 'vitest';
import { Questions } from '../../../src/mock/rap-conversation.js';

describe('a question', () => {
  test('row 1: has its own unguessable path', () => {
    const questions = new Questions<number, string>('/choices/');
    const paths = [questions.open('a'), questions.open('b')].map(({ path }) => path);
    expect(paths).toEqual([
      expect.stringMatching(/^\/choices\/[\w-]{43}$/),
      expect.stringMatching(/^\/choices\//),
    ]);
    expect(paths.map(path => questions.at(path)?.about)).toEqual(['a', 'b']);
    for (const wrong of ['', '/choices/', `${paths[0]}x`, paths[0]?.slice(0, -1) ?? ''])
      expect(questions.at(wrong)).toBeUndefined();
  });

  test('the oldest closed questions are dropped; open ones never are', () => {
    const questions = new Questions<number, number>('/', 2);
    const open = questions.open(0);
    const closed = [1, 2, 3].map(n => questions.open(n));
    for (const question of [...closed, ...closed]) question.close();
    expect([open, ...closed].map(({ path }) => questions.at(path)?.about)).toEqual([0, undefined, 2, 3]);
  });
});
