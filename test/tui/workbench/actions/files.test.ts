import { describe, expect, test } from 'vitest';
import { call, eventsOf, KEY, resultArrives } from '../../../events/build.js';
import { readyServer, toolOf } from '../support/bench.js';
import { EDIT, onCalls, openSession } from '../support/open-session.js';

const settled = [...call(), ...resultArrives({ text: 'done' })];

test('saves a call of the transcript in which it was selected, though another is opened meanwhile', async () => {
  const session = openSession({ opened: ['a.ndjson', 'b.ndjson'] });
  const b = session.model.sources[2];
  for (const event of eventsOf(settled)) b?.callLog.apply(event);
  session.press('c', 'V', 'V', 's');
  await session.options.controls.openTranscript('a.ndjson');
  expect(session.model.sources[1]).toBe(b);
  session.press('<enter>');
  await session.settles();
  expect(session.asked.at(-1)).toBe(`saveFixture ${KEY} ${b?.id} edit_file.yaml`);
  expect(session.sees()).toContain('b.ndjson');
});

describe('the suggested name is new', () => {
  const freeName = async (name: string) => name.replace('.', '-2.');

  test.each([
    ['S', /: session-2\.ndjson *$/m],
    ['s', /: edit_file-2\.yaml *$/m],
  ])('%s', async (key, shown) => {
    const session = onCalls(settled, { controls: { freeName } });
    session.press(key);
    await session.settles();
    expect(session.sees()).toMatch(shown);
  });
});

describe('after a failure the typed line is shown again', () => {
  const fails = async () => ({ text: 'no such folder', isBad: true });

  test.each([
    ['S', { saveTranscript: fails }],
    ['s', { saveFixture: fails }],
    ['O', { openTranscript: fails }],
    ['u', { open: () => ({ text: 'no such folder', isBad: true }) }],
  ])('%s', async (key, controls) => {
    const session = onCalls(settled, { controls });
    session.press(key, '<ctrl-u>');
    session.typed('over/there\r');
    await session.settles();
    expect(session.sees()).toMatch(/: over\/there *$/m);
    expect(session.sees()).toContain('no such folder');
    session.press('<escape>');
    expect(session.sees()).toContain('[Calls 1]');
  });
});

test('the row of a newly opened server is selected', () => {
  const other = { ...readyServer([toolOf('other_file')], { name: 'another' }), id: 's2' };
  const session = openSession({
    servers: [readyServer([EDIT]), other],
    controls: { open: () => ({ server: 's2' }) },
  });
  session.press('c', 'u');
  session.typed(':3002\r');
  expect(session.sees()).toMatch(/^❯ another/m);
});
