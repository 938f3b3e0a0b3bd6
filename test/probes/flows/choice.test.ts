import { expect, test } from 'vitest';
import { isNear } from '../../../src/check/probes/prober.js';

const REMOTE = { base: 'http://tool.example:3001', endpoint: 'http://api.example/invoke' };
const LOCAL = { base: 'http://127.0.0.1:3001', endpoint: 'http://127.0.0.1:3001/invoke' };
const MISLEADING = { ...REMOTE, endpoint: 'http://127.0.0.1:6379/' };

test.each([
  [REMOTE, 'http://tool.example:3001/choices/1', true],
  [REMOTE, 'http://api.example/choices/1', true],
  [LOCAL, 'http://localhost:4000/choices/1', true],
  [REMOTE, 'http://127.0.0.1:6379/', false],
  [REMOTE, 'http://tool.example:6379/', false],
  [MISLEADING, 'http://127.0.0.1:6379/', false],
  [LOCAL, 'http://192.0.2.1/', false],
  [LOCAL, 'nowhere', false],
])('threats, row 9: whether the answer of a tool at %j may go to %s: %s', (tool, url, isOwn) => {
  expect(isNear(url, tool)).toBe(isOwn);
});
