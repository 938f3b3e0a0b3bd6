import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { progressOn } from '../../../src/commands/check/witness.js';
import type { Terminal } from '../../../src/commands/terminal.js';

function terminal(isTTY: boolean, env: Terminal['env'] = {}) {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk));
      done();
    },
  });
  const stderr = Object.assign(stream, { isTTY }) as unknown as Terminal['stderr'];
  return { stderr, env, text: () => written.join('') };
}

const CLEAR = '\r\u001b[2K';

test('one line, written over and gone at the end', () => {
  const screen = terminal(true);
  const progress = progressOn(screen, false);
  progress.update(1, 3);
  progress.update(1, 3);
  progress.update(2, 3);
  progress.end();
  progress.end();
  expect(screen.text()).toBe(`${CLEAR}checking … 1 of 3${CLEAR}checking … 2 of 3${CLEAR}`);
});

test('makes room for what is to stay', () => {
  const screen = terminal(true);
  const progress = progressOn(screen, false);
  progress.update(1, 3);
  progress.aside('visit this\n');
  expect(screen.text()).toBe(`${CLEAR}checking … 1 of 3${CLEAR}visit this\n${CLEAR}checking … 1 of 3`);
});

test.each([
  ['in a pipe', terminal(false), false],
  ['on a dumb terminal', terminal(true, { TERM: 'dumb' }), false],
  ['with -q', terminal(true), true],
] as const)('%s: nothing but what is to stay', (_, screen, isQuiet) => {
  const progress = progressOn(screen, isQuiet);
  progress.update(1, 3);
  progress.aside('visit this\n');
  progress.end();
  expect(screen.text()).toBe('visit this\n');
});
