import { expect, test } from 'vitest';
import { readAs } from '../../../src/dialects/dialects.js';

/** What LM-Kit's newer pages say. */
const reading = (Type: string, ResultJson: string) => {
  const read = readAs('lmkit', { Type, ResultJson, ToolCallId: 'a', ToolName: 't' });
  if (!read.ok) throw new Error(read.faults.join());
  return read;
};

test.each(['', ' \n'])('a blank ResultJson (%j) counts as null', blank => {
  expect(reading('Success', blank)).toMatchObject({ answer: { payload: null }, notes: [] });
});

test.each([
  ['user', []],
  ['system', []],
  ['robot', ['"by" is "robot"; it should be user, policy or system']],
])('a call canceled by %s has the notes %j', (by, notes) => {
  const canceled = JSON.stringify({ canceled: { reason: 'r', by } });
  expect(reading('Canceled', canceled)).toMatchObject({ answer: { outcome: { by } }, notes });
});

test('the data of an error is part of its outcome', () => {
  const error = JSON.stringify({ error: { message: 'm', data: { k: 1 } } });
  const { answer } = reading('Error', error);
  expect(answer).toMatchObject({ outcome: { type: 'error', message: 'm', data: { k: 1 } } });
});
