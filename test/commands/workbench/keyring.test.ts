import { expect, test } from 'vitest';
import { Keyring } from '../../../src/commands/workbench/server-connection.js';

const KEYS = { authorization: 'Bearer canary' };

test('row 12: headers are for one origin: that which was claimed last', () => {
  const keyring = new Keyring(KEYS);
  expect(keyring.credentialsFor('http://127.0.0.1:1/').headers).toEqual({});
  keyring.claim('http://127.0.0.1:1/');
  expect(keyring.credentialsFor('http://127.0.0.1:1/a')).toEqual({
    origin: 'http://127.0.0.1:1',
    headers: KEYS,
  });
  keyring.claim('http://127.0.0.1:2/');
  expect(keyring.credentialsFor('http://127.0.0.1:1/').headers).toEqual({});
  expect(keyring.credentialsFor('http://127.0.0.1:2/').headers).toEqual(KEYS);
});

test('row 12: given up, nobody gets them, not even by what was lent before', () => {
  const keyring = new Keyring(KEYS);
  keyring.claim('http://127.0.0.1:1/');
  const lent = keyring.credentialsFor('http://127.0.0.1:1/');
  keyring.giveUp();
  expect(lent.headers).toEqual({});
  expect(keyring.credentialsFor('http://127.0.0.1:1/').headers).toEqual({});
});
