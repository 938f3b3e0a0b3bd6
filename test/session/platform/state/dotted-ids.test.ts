import { expect, test } from 'vitest';
import { judgeResults } from '../../../../src/session/platform/judge-results.js';
import { settle } from '../../../../src/session/platform/platform.js';
import { readJson } from '../../../../src/util/json.js';
import { AT, batch, begun } from '../build.js';

const calls = ['call', 'call.1', 'call.1.a'].map(id => ({ tool_name: 'f', args: {}, id }));
const DOTTED = {
  rounds: [{ calls }],
  answer: {
    whole: '{{results.call.1}}',
    part: '{{results.call.1.b}}',
    longest: '{{results.call.1.a}}',
    shortest: '{{results.call.2}}',
  },
};

function answerOf(results: Readonly<Record<string, object>>) {
  const session = begun(DOTTED);
  const posts = calls.map(tool_req => ({ kind: 'tool_result', tool_req, ...results[tool_req.id] }));
  const { settles } = judgeResults(session, readJson(Buffer.from(JSON.stringify(batch(...posts)))));
  return settle(session, settles, AT).session.answer;
}

test('a template names the longest id that there is', () => {
  const one = { a: 'not meant', b: 'part' };
  expect(
    answerOf({
      call: { result: { 1: one, 2: 'two' } },
      'call.1': { result: one },
      'call.1.a': { result: 'a' },
    }),
  ).toEqual({ whole: one, part: 'part', longest: 'a', shortest: 'two' });
});

test('also where that call has no result: a shorter one does not stand in', () => {
  expect(answerOf({ call: { result: { 1: 'no', 2: 'two' } } })).toEqual({
    whole: null,
    part: null,
    longest: null,
    shortest: 'two',
  });
});
