import { expect, test } from 'vitest';
import { createStore } from '../../src/tui/store.js';

const sumStore = () => createStore((sum: number, add: number) => sum + add, 0);

test('the state is changed at once, by the reducer', () => {
  const store = sumStore();
  store.dispatch(2);
  store.dispatch(3);
  expect(store.state()).toBe(5);
});

test('listeners are called after each change, until they are removed', () => {
  const store = sumStore();
  const seen: number[] = [];
  const stop = store.subscribe(() => seen.push(store.state()));
  store.dispatch(2);
  store.dispatch(3);
  stop();
  store.dispatch(4);
  expect(seen).toEqual([2, 5]);
});

test('an action without effect calls no listener', () => {
  const store = sumStore();
  const seen: number[] = [];
  store.subscribe(() => seen.push(store.state()));
  store.dispatch(0);
  expect(seen).toEqual([]);
});
