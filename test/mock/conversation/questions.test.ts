import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Questions } from '../../../src/mock/waits.js';

describe('a question', () => {
  test('row 1: has an unguessable path of its own', () => {
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

  test('counts once, however often it is answered', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer(), { minLength: 1 }), async answers => {
        const questions = new Questions<number, string>('/');
        const question = questions.open('about');
        const counted = answers.map((answer, n) =>
          (n % 2 ? question : questions.at(question.path))?.resolve(answer),
        );
        expect(counted).toEqual(answers.map((_, n) => n === 0));
        expect(await question.answer).toBe(answers[0]);
        expect(questions.at(question.path)?.isOpen).toBe(false);
      }),
    );
  });

  test('that is closed is still known, and takes no answer', () => {
    const questions = new Questions<number, string>('/');
    const question = questions.open('about');
    question.close();
    expect([questions.at(question.path)?.isOpen, question.resolve(1)]).toEqual([false, false]);
  });

  test('the oldest that are closed are forgotten; what is open never is', () => {
    const questions = new Questions<number, number>('/', 2);
    const open = questions.open(0);
    const closed = [1, 2, 3].map(n => questions.open(n));
    for (const question of [...closed, ...closed]) question.close();
    expect([open, ...closed].map(({ path }) => questions.at(path)?.about)).toEqual([0, undefined, 2, 3]);
  });
});
