import { expect, test } from 'vitest';
import { notCalled } from '../../../src/check/evidence.js';
import { call, eventsOf, type Moment } from '../../events/build.js';

const planned: Moment = { kind: 'planned', by: 'probe', plan: 'a probe', checks: [] };
const loaded: Moment = {
  kind: 'loaded',
  base: null,
  endpoint: 'http://127.0.0.1:3001/invoke',
  toolset: 'demo',
  operations: ['edit_file', 'write_note', 'ask_note'],
};

test('what a check was offered and has not called', () => {
  expect(notCalled(eventsOf([loaded, planned], call()))).toEqual(['write_note', 'ask_note']);
  expect(notCalled(eventsOf([loaded, loaded, planned]))).toEqual(loaded.operations);
});

test('nothing where nobody has checked: whoever calls one operation wants that one', () => {
  expect(notCalled(eventsOf([loaded], call()))).toEqual([]);
});
