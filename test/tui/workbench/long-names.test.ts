import { describe, expect, test } from 'vitest';
import { acknowledged, call, INVOCATION, resultArrives } from '../../events/build.js';
import { openSession } from './support/open-session.js';
import { readyServer, toolOf } from './support/set-up-workbench.js';

const NAME = 'rename_symbol_across_the_whole_workspace_and_its_vendors';
const ID = `call_${'0123456789abcdef'.repeat(2)}`;
const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
const FACTS = [
  ...call({ invocation: { ...INVOCATION, operation: NAME, group_id: `thread_${'fedcba'.repeat(6)}` } }),
  ...acknowledged(),
  ...resultArrives({ text: 'done' }),
];
const WIDTHS = [40, 41, 47, 60, 61, 79, 100, 131, 200];

/** A session in which everything has a long name. */
function longNamed() {
  const server = readyServer([toolOf(NAME, { inputSchema })], { name: `${NAME}_toolset` });
  const session = openSession({
    servers: [{ ...server, about: `https://tools.internal.example.com/${ID}/v2` }],
    opened: [`${ID}-of-the-nightly-run-on-the-big-machine.ndjson`],
  });
  session.emit(FACTS);
  return session;
}

const FORM = /^(protocol-cli)? +\[?Tools\]? +\[?Form r.*Calls 1, 1 running/;
/** Keys that lead from one place to the next. */
const PLACES: readonly (readonly [string, readonly string[], head: RegExp, foot: RegExp])[] = [
  ['the tools', [], /Tools\] +Calls 1, 1 running/, /\? keys {3}q quit$/],
  ['a form', ['<enter>'], FORM, /Ctrl-G keys {3}Esc back {3}Ctrl-C quit$/],
  ['the calls', ['<escape>', 'c'], FORM, /\? keys {3}q quit$/],
  ['a call', ['<enter>'], FORM, /\? keys {3}q quit$/],
  ['all keys', ['?'], FORM, /Esc close {3}Ctrl-C quit$/],
  ['a transcript', ['<escape>', '<escape>', 'V'], /Form r.*Calls 0/, /\? keys {3}q quit$/],
];

describe('long names, at any width', () => {
  const session = longNamed();
  test.each(PLACES)('the first row has all pages, the last one the keys: %s', (_, keys, head, foot) => {
    session.press(...keys);
    for (const [index, columns] of WIDTHS.entries()) {
      const seen = session.sees({ columns, rows: index % 2 === 0 ? 10 : 24 }).split('\n');
      expect(seen[0]).toMatch(head);
      expect(seen.at(-1)).toMatch(foot);
      expect(seen.at(-1)).not.toContain('…');
    }
  });

  test('the open call is named beside the pages', () => {
    const reading = longNamed();
    reading.press('<enter>', '<escape>', 'c', '<enter>');
    for (const columns of WIDTHS.filter(each => each >= 60))
      expect(reading.sees({ columns, rows: 24 }).split('\n')[0]).toMatch(/Calls 1.* rename_symb/);
  });
});
