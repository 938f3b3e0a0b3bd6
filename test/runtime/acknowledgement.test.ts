import { describe, expect, test } from 'vitest';
import { judgeAcknowledgement } from '../../src/runtime/runtime.js';

describe('RT-NON200, RT-RETRY, RT-NORETRY', () => {
  test.each([
    [200, 'accepted', 'accepted'],
    [201, 'refused', 'accepted'],
    [202, 'refused', 'accepted'],
    [204, 'refused', 'accepted'],
    [299, 'refused', 'accepted'],
    [301, 'refused', 'refused'],
    [302, 'refused', 'refused'],
    [307, 'refused', 'refused'],
    [400, 'refused', 'refused'],
    [404, 'refused', 'refused'],
    [429, 'refused', 'refused'],
    [499, 'refused', 'refused'],
    [500, 'retry', 'retry'],
    [503, 'retry', 'retry'],
    [599, 'retry', 'retry'],
  ])('%i is %s, leniently %s', (status, strict, lenient) => {
    expect(judgeAcknowledgement(status, false)).toBe(strict);
    expect(judgeAcknowledgement(status, true)).toBe(lenient);
  });
});
