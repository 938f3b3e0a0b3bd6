import { expect, test } from 'vitest';
import { acknowledgedAfter, answeredAttempt } from '../../src/events/exchange.js';
import { answered, at, call, exchangeOf, lost } from './build.js';

test.each([
  ['nothing came back', [at(0, call())], undefined, null],
  ['it broke', [at(0, call()), at(5, lost())], undefined, null],
  ['a 200', [at(10, call()), at(13.5, answered(200))], 200, 3.5],
  ['a 201', [at(10, call()), at(13, answered(201))], 201, null],
  [
    'a 503, then a 200: the last attempt counts',
    [
      at(0, call()),
      at(9, answered(503)),
      at(100, call({ attempt: 2 })),
      at(102, answered(200, { attempt: 2 })),
    ],
    200,
    2,
  ],
  ['a 503, then silence', [at(0, call()), at(9, answered(503)), at(100, call({ attempt: 2 }))], 503, null],
])('%s', (_, story, status, after) => {
  const exchange = exchangeOf(...story);
  expect(answeredAttempt(exchange)?.status).toBe(status);
  expect(acknowledgedAfter(exchange)).toBe(after);
});
