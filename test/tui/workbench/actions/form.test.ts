import { describe, expect, test } from 'vitest';
import type { Sent } from '../../../../src/tui/workbench/model.js';
import { call, KEY, resultArrives } from '../../../events/build.js';
import { readyServer, toolOf } from '../support/bench.js';
import { EDIT, openSession } from '../support/open-session.js';

const settled = [...call(), ...resultArrives({ text: 'done' })];
const filesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => toolOf(`file_${at}`, { inputSchema: EDIT.inputSchema }));

describe('typed text is kept', () => {
  test('in each form, whichever is opened next', () => {
    const session = openSession({ servers: [readyServer(filesOf(2))] });
    session.press('<enter>', 'a', '<escape>', 'j', '<enter>', 'b', '<escape>', 'k', '<enter>');
    expect(session.sees()).toMatch(/^❯ path\* {2}a/m);
    session.press('<escape>', 'j', '<enter>');
    expect(session.sees()).toMatch(/^❯ path\* {2}b/m);
  });

  test('in the last fifty forms', () => {
    const session = openSession({ servers: [readyServer(filesOf(52))] });
    for (let at = 0; at < 52; at++) session.press('<enter>', 'x', '<escape>', 'j');
    session.press('g', 'j', '<enter>');
    expect(session.sees()).not.toMatch(/^❯ path\* {2}x/m);
    session.press('<escape>', 'j', 'j', '<enter>');
    expect(session.sees()).toMatch(/^❯ path\* {2}x/m);
  });

  test('while a call is edited meanwhile, and in that', () => {
    const session = openSession();
    session.tell(settled);
    session.press('<enter>', 'a', '<escape>', 'c', 'e');
    expect(session.sees()).toMatch(/^❯ path\* {2}src\/main\.rs /m);
    session.press('Z', '<escape>', 't', '<enter>');
    expect(session.sees()).toMatch(/^❯ path\* {2}a /m);
    session.press('<escape>', 'c', 'e');
    expect(session.sees()).toMatch(/^❯ path\* {2}src\/main\.rsZ/m);
  });

  test('until it is sent: editing a call again starts from the call', async () => {
    const session = openSession({ controls: { run: async () => ({ kind: 'sent', key: KEY }) } });
    session.tell(settled);
    session.press('c', 'e', 'Z', '<ctrl-r>');
    await session.settles();
    expect(session.sees()).toContain('[Calls 1]');
    session.press('e');
    expect(session.sees()).toMatch(/^❯ path\* {2}src\/main\.rs /m);
  });
});

test('Esc returns to where the form was opened', () => {
  const session = openSession();
  session.tell(settled);
  session.press('c', 'e', '<escape>');
  expect(session.sees()).toContain('[Calls 1]');
  session.press('t', '<enter>', '<escape>');
  expect(session.sees()).toContain('[Tools]');
});

test('errors of the inputSchema are shown again when the form is reopened', async () => {
  const waiting: ((sent: Sent) => void)[] = [];
  const session = openSession({
    servers: [readyServer(filesOf(2))],
    controls: { run: () => new Promise(resolve => waiting.push(resolve)) },
  });
  session.press('<enter>', 'a', '<ctrl-r>', '<escape>', 'j', '<enter>');
  waiting[0]?.({ kind: 'invalid', faults: [{ path: '$.path', message: 'is too short' }] });
  await session.settles();
  expect(session.sees()).not.toContain('is too short');
  session.press('<escape>', 'k', '<enter>');
  expect(session.sees()).toMatch(/^❯ path\*.*\n {4}✗ is too short$/m);
});
