import { expect, test } from 'vitest';
import { patience, tellIfSlow } from '../../../../src/commands/invoke/mcp/reach.js';
import { fakeClock } from '../../../support/fake-clock.js';

test.each([
  [60_000, 10_000],
  [5_000, 5_000],
  [200, 2_000],
  [0, 10_000],
])('with --timeout %i ms a server may take %i ms to start', (timeoutMs, limitMs) => {
  expect(patience(timeoutMs, fakeClock()).limitMs).toBe(limitMs);
});

test('what is left becomes less, and never nothing: the SDK takes 0 for no limit', () => {
  const clock = fakeClock();
  const { left } = patience(5_000, clock);
  clock.advance(4_000);
  expect(left()).toBe(1_000);
  clock.advance(9_000);
  expect(left()).toBe(1);
});

test('what is waited for is told where it takes long, and not where it is over', () => {
  const clock = fakeClock();
  const told: string[] = [];
  const time = patience(60_000, clock);
  tellIfSlow({ kind: 'stdio', name: 'sleep 1000' }, time, clock, text => told.push(text));
  const leave = tellIfSlow({ kind: 'http', name: 'http://h/mcp' }, time, clock, text => told.push(text));
  expect(told).toEqual([]);
  leave();
  clock.advance(3_000);
  expect(told).toEqual(['starting the MCP server: sleep 1000 (it has 10s)\n']);
});
