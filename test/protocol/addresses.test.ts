import { expect, test } from 'vitest';
import { discoveryCandidates } from '../../src/protocol/toolset.js';

test.each([
  ['http://127.0.0.1:3001', ['http://127.0.0.1:3001']],
  ['http://127.0.0.1:3001/', ['http://127.0.0.1:3001']],
  ['HTTP://Tools.Example:80/a//', ['http://tools.example/a', 'http://tools.example']],
  ['https://tools.example/a/b/?x=1#y', ['https://tools.example/a/b', 'https://tools.example']],
])('%s: tries the given URL, then its origin', (url, bases) => {
  expect(discoveryCandidates(url)).toEqual(
    bases.map(base => ({ base, url: `${base}/.well-known/rap-toolset` })),
  );
});
