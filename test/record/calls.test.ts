import { describe, expect, test } from 'vitest';
import { CallKeys } from '../../src/record/routes.js';

describe('the key of a call', () => {
  test('is its id, and the same again for the same call', () => {
    const keys = new CallKeys();
    expect([keys.keyFor('t', 'c'), keys.keyFor('t', 'c'), keys.find('t', 'c')]).toEqual(['c', 'c', 'c']);
  });

  test('is one of ours where another thread uses the id', () => {
    const keys = new CallKeys();
    keys.keyFor('t', 'c');
    expect([keys.keyFor('u', 'c'), keys.keyFor('u', 'c'), keys.find('u', 'c')]).toEqual(
      Array(3).fill('recorded-1'),
    );
    expect(keys.find('t', 'c')).toBe('c');
  });

  test.each([[undefined], [null], [7], [{}], ['']])('is one of ours for an id that is %j', id => {
    expect(new CallKeys().keyFor('t', id)).toBe('recorded-1');
  });

  test('is never one that a call has as its id', () => {
    const keys = new CallKeys();
    expect([keys.keyFor('t', 'recorded-1'), keys.keyFor('t', null)]).toEqual(['recorded-1', 'recorded-2']);
  });

  test('is not known before it came in', () => {
    expect(new CallKeys().find('t', 'c')).toBeUndefined();
  });

  test('is never longer than a name can be, and the same again all the same', () => {
    const keys = new CallKeys();
    const id = 'x'.repeat(1_000_000);
    const key = keys.keyFor(id, id);
    expect(key).toMatch(/^recorded-\d+$/);
    expect(keys.find(id, id)).toBe(key);
    expect(keys.find(`${id}y`, id)).toBeUndefined();
  });
});
