import { describe, expect, it } from 'vitest';
import { retrying } from '../../src/http/retry.js';

const always = () => true;
const failing = (attempts: number[]) => async (attempt: number) => {
  attempts.push(attempt);
  throw new Error(`attempt ${attempt}`);
};

describe('retrying', () => {
  it('gives back the first success', async () => {
    const work = async (attempt: number) => (attempt < 2 ? Promise.reject(new Error('not yet')) : attempt);
    expect(await retrying(work, { retries: 2, shouldRetry: always })).toBe(2);
  });

  it('throws the last error when the retries are used up', async () => {
    const attempts: number[] = [];
    await expect(retrying(failing(attempts), { retries: 1, shouldRetry: always })).rejects.toThrow(
      'attempt 2',
    );
    expect(attempts).toEqual([1, 2]);
  });

  it('throws at once what is not to be retried', async () => {
    const attempts: number[] = [];
    const refusing = { retries: 5, shouldRetry: (error: Error) => error.message !== 'attempt 1' };
    await expect(retrying(failing(attempts), refusing)).rejects.toThrow('attempt 1');
    expect(attempts).toEqual([1]);
  });

  it('stops when the time is over', async () => {
    const attempts: number[] = [];
    await expect(
      retrying(failing(attempts), { retries: 99, within: 150, shouldRetry: always }),
    ).rejects.toThrow(/^attempt \d$/);
    expect(attempts.length).toBeLessThan(10); // of the hundred allowed
  });

  it('stops waiting when it is called off', async () => {
    const attempts: number[] = [];
    const calledOff = new AbortController();
    const shouldRetry = () => {
      setImmediate(() => calledOff.abort(new Error('called off')));
      return true;
    };
    const work = retrying(failing(attempts), { retries: 9, shouldRetry, signal: calledOff.signal });
    await expect(work).rejects.toThrow('called off');
    expect(attempts).toEqual([1]);
  });
});
