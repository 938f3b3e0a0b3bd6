import { describe, expect, test } from 'vitest';
import type { Sent, Server } from '../../../src/tui/workbench/model.js';
import { call, denied, eventsOf, INVOCATION, KEY, type Moment, resultArrives } from '../../events/build.js';
import { DROP, EDIT, onCalls, openSession } from './support/open-session.js';
import { readyServer, toolOf } from './support/set-up-workbench.js';

const filled = { operation: 'edit_file', arguments: () => ({ path: 'x' }) };
const FAULTS: Sent = { kind: 'invalid', faults: [{ path: '$.path', message: 'is too short' }] };
const settled = [...call(), ...resultArrives({ text: 'done' })];

/** A session whose calls are answered by hand, the oldest first. */
function slowSession() {
  const waiting: ((sent: Sent) => void)[] = [];
  const session = openSession({
    servers: [readyServer([EDIT, toolOf('other_file', { inputSchema: EDIT.inputSchema })])],
    start: filled,
    controls: { run: () => new Promise(resolve => waiting.push(resolve)) },
  });
  return {
    ...session,
    waiting,
    async answers(sent: Sent) {
      waiting.shift()?.(sent);
      await session.settles();
    },
  };
}

/** Another server, whose operations go elsewhere. */
function elsewhere(id: string): Server {
  return { ...readyServer([EDIT], { endpoint: `http://${id}.example/invoke` }), id, about: `${id}.example` };
}

describe('after a call was sent', () => {
  test('a user who types in another form stays there, and gets a message', async () => {
    const session = slowSession();
    session.press('<ctrl-r>', '<escape>', 'j', '<enter>');
    await session.answers({ kind: 'sent', key: KEY });
    session.press('q');
    expect(session.sees()).toContain('[Form other_file]');
    expect(session.sees()).toMatch(/^❯ path\* {2}q/m);
    expect(session.sees()).toContain('edit_file was sent: see Calls.');
  });

  test('its errors are shown in no other form', async () => {
    const session = slowSession();
    session.press('<ctrl-r>', '<escape>', 'j', '<enter>', 'y');
    await session.answers(FAULTS);
    expect(session.sees()).toMatch(/^❯ path\* {2}y/m);
    expect(session.sees()).not.toContain('is too short');
    expect(session.sees()).toContain('edit_file: Not sent');
  });

  test('a user who types on in the same form stays in the field, which shows its error', async () => {
    const session = slowSession();
    session.press('<ctrl-r>', 'z');
    await session.answers(FAULTS);
    expect(session.sees()).toMatch(/^❯ path\*.*\n {4}✗ is too short$/m);
    session.press('<ctrl-r>', 'z');
    await session.answers({ kind: 'sent', key: KEY });
    expect(session.sees()).toContain('[Form edit_file]');
  });

  test('its errors stay until a key changes the form', async () => {
    const session = slowSession();
    session.press('<ctrl-r>');
    await session.answers(FAULTS);
    session.press('<down>', '<up>', '<left>');
    expect(session.sees()).toContain('Not sent: the arguments do not match the inputSchema.');
    session.press('z');
    expect(session.sees()).not.toContain('Not sent');
  });

  test('only its own form shows that it is being sent, and sends it once, also when reopened', async () => {
    const session = slowSession();
    session.press('<ctrl-r>', '<escape>', '<enter>', '<ctrl-r>');
    expect(session.waiting).toHaveLength(1);
    expect(session.sees()).toContain('sending …');
    session.press('<escape>', 'j', '<enter>');
    expect(session.sees()).not.toContain('sending …');
  });
});

describe('a user who went elsewhere stays there, and gets a message', () => {
  test.each([
    ['types a line', ['O', 'a'], /^Open transcript: a/m],
    ['reads a call', ['<enter>'], /❯ HUMAN/],
  ])('%s', async (_, keys, seen) => {
    const session = slowSession();
    const other = { ...INVOCATION, id: 'call_other' };
    const others = call({ invocation: other }).map(moment => ({
      ...moment,
      leg: 'o',
      calls: ['call_other'],
    }));
    session.emit([...others, ...settled]);
    session.press('<escape>', 'c', 'r', ...keys);
    await session.answers({ kind: 'sent', key: 'call_other' });
    expect(session.sees()).toMatch(seen);
    expect(session.sees()).toContain('edit_file was sent: see Calls.');
  });
});

describe('an empty form', () => {
  const tool = toolOf('edit_file', {
    inputSchema: {
      properties: { depth: { type: 'integer' }, path: { type: 'string' } },
      required: ['path'],
    },
  });
  const unfilled = { operation: 'edit_file', arguments: () => ({ depth: 12 }) };

  test('is sent by Ctrl-T as it is', async () => {
    const session = openSession({ servers: [readyServer([tool])], start: unfilled });
    session.press('<ctrl-t>');
    await session.settles();
    expect(session.asked).toEqual(['run edit_file {"depth":12} unchecked']);
  });
});

test.each([
  ['fields', []],
  ['JSON', ['<ctrl-o>']],
])('a form whose inputSchema changed is new, with the text typed in %s', (_, keys) => {
  const session = openSession({ start: filled });
  session.press(...keys, '<escape>');
  const inputSchema = { properties: { path: { type: 'string' }, mode: { type: 'string' } } };
  Object.assign(session.model, { servers: [readyServer([toolOf('edit_file', { inputSchema })])] });
  session.press('<enter>', ...keys);
  expect(session.sees()).toMatch(/^❯ path {2}x/m);
  expect(session.sees()).toMatch(/^ {2}mode/m);
});

describe('repeating a call', () => {
  const EVIL_TWIN = { ...readyServer([EDIT]), id: 's2', about: 'twin.example' };

  test('uses the server that had it, at its present address, and no other that names its endpoint', () => {
    const servers: string[] = [];
    const moved = { ...elsewhere('moved'), id: 's3' };
    const session = onCalls(settled, {
      servers: [EVIL_TWIN, moved],
      serverOf: key => (key === KEY ? 's3' : null),
      controls: {
        run: async ({ server }) => {
          servers.push(server);
          return { kind: 'refused', reason: 'no' };
        },
      },
    });
    session.press('r');
    expect(servers).toEqual(['s3']);
    session.press('e');
    expect(session.sees()).not.toContain('This form is of');
  });

  test('fails if its server no longer has the operation', () => {
    const session = onCalls(settled, { servers: [EVIL_TWIN] });
    session.press('r');
    expect(session.asked).toEqual([]);
    expect(session.sees()).toContain(
      'Not run: its own tool server does not offer it now. Press e to open its form at',
    );
    session.press('e');
    expect(session.sees()).toContain('This is the form of twin.example');
    expect(session.sees()).toMatch(/^❯ path\* {2}src\/main\.rs/m);
  });

  test('uses the selected server if the user declined before', () => {
    const session = onCalls(denied('person'));
    session.press('r');
    expect(session.asked).toEqual(['run edit_file {"path":"src/main.rs"}']);
  });

  test('of a transcript uses the server of its endpoint, unless several name it', () => {
    const transcriptOf = (servers: readonly Server[]) => {
      const session = onCalls([], { servers, opened: ['a.ndjson'] });
      for (const event of eventsOf(settled)) session.model.sources[1]?.callLog.apply(event);
      session.press('V', 'r');
      return session;
    };
    expect(transcriptOf([elsewhere('evil'), readyServer([EDIT])]).asked).toHaveLength(1);
    const strict = { ...EDIT, annotations: { destructive: true } };
    const torn = transcriptOf([EVIL_TWIN, readyServer([strict])]);
    expect(torn.asked).toEqual([]);
    expect(torn.sees()).toContain('2 open tool servers have its endpoint. Press e to open its form at');
    torn.press('e');
    expect(torn.sees()).toContain('This is the form of http://127.0.0.1:3001');
  });

  test('is unvalidated if the call was; for a transcript this is unknown', () => {
    const session = onCalls(settled, { unvalidated: [KEY], opened: ['a.ndjson'] });
    for (const event of eventsOf(settled)) session.model.sources[1]?.callLog.apply(event);
    session.press('r', 'V', 'r');
    const sent = 'run edit_file {"path":"src/main.rs"}';
    expect(session.asked).toEqual([`${sent} unchecked`, sent]);
  });

  test('is shown as being sent, and not sent twice', async () => {
    const waiting: ((sent: Sent) => void)[] = [];
    const session = onCalls(settled, {
      controls: { run: () => new Promise(resolve => waiting.push(resolve)) },
    });
    session.press('r', 'r');
    expect(waiting).toHaveLength(1);
    expect(session.sees()).toContain('[Calls 1, sending …]');
    expect(session.sees()).toContain('Not run: it is being sent already.');
    waiting[0]?.({ kind: 'sent', key: KEY });
    await session.settles();
    expect(session.sees()).not.toContain('sending …');
    session.press('r');
    expect(waiting).toHaveLength(2);
  });

  test('of a transcript is refused if a secret was redacted; its form too, until Ctrl-T', () => {
    const invocation = { ...INVOCATION, arguments: { path: '/home/[redacted]' } };
    const session = onCalls([], { opened: ['a.ndjson'] });
    for (const event of eventsOf(call({ invocation }))) session.model.sources[1]?.callLog.apply(event);
    session.press('V', 'r');
    expect(session.sees()).toContain('Not run: [redacted] replaces a secret.');
    session.press('e', '<ctrl-r>');
    expect(session.sees()).toContain('Not sent: [redacted] replaces a secret.');
    expect(session.asked).toEqual([]);
    session.press('<ctrl-t>');
    expect(session.asked).toEqual(['run edit_file {"path":"/home/[redacted]"} unchecked']);
  });

  test('asks again if it is destructive: No is the default, and the answer is recorded', async () => {
    const invocation = { ...INVOCATION, operation: 'drop_table', arguments: { path: 'a\u202eb' } };
    const agreed: unknown[] = [];
    const session = onCalls(call({ invocation }), {
      servers: [readyServer([DROP])],
      controls: {
        needsConsent: () => true,
        run: async (_, { isAgreed }) => {
          agreed.push(isAgreed);
          return { kind: 'sent', key: KEY };
        },
      },
    });
    session.press('r');
    expect(session.sees()).toContain(String.raw`At http://127.0.0.1:3001, with {"path":"a\u202eb"}`);
    session.press('<enter>');
    await session.settles();
    expect(session.sees()).toContain('drop_table: decline: done. Press r, then 0, to call it.');
    session.press('r', '<escape>');
    expect(session.asked).toEqual(['decline drop_table', 'decline drop_table']);
    expect(agreed).toEqual([]);
    session.press('r', '0', '<enter>');
    expect(agreed).toEqual([true]);
  });
});

test('the question about a very large call still names operation and server', () => {
  const tool = toolOf('drop_table', { inputSchema: {} });
  const session = openSession({
    servers: [readyServer([tool])],
    start: { operation: 'drop_table', arguments: () => ({ path: 'x'.repeat(1_000_000) }) },
    controls: { needsConsent: () => true },
  });
  session.press('<ctrl-r>');
  expect(session.sees()).toMatch(
    /drop_table is marked destructive\. Call it\?\nAt http:\/\/127\.0\.0\.1:3001, with/,
  );
  expect(session.sees()).toContain('❯ 1 Do not call it');
});

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
    session.emit(settled);
    session.press('<enter>', 'a', '<escape>', 'c', 'e');
    expect(session.sees()).toMatch(/^❯ path\* {2}src\/main\.rs /m);
    session.press('Z', '<escape>', 't', '<enter>');
    expect(session.sees()).toMatch(/^❯ path\* {2}a /m);
    session.press('<escape>', 'c', 'e');
    expect(session.sees()).toMatch(/^❯ path\* {2}src\/main\.rsZ/m);
  });

  test('until it is sent: editing a call again starts from the call', async () => {
    const session = openSession({ controls: { run: async () => ({ kind: 'sent', key: KEY }) } });
    session.emit(settled);
    session.press('c', 'e', 'Z', '<ctrl-r>');
    await session.settles();
    expect(session.sees()).toContain('[Calls 1]');
    session.press('e');
    expect(session.sees()).toMatch(/^❯ path\* {2}src\/main\.rs /m);
  });
});

test('Esc returns to where the form was opened', () => {
  const session = openSession();
  session.emit(settled);
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

describe('a call whose server exited', () => {
  const crashed: Server = {
    ...{ id: 's1', about: 'node crash.mjs', isConfigured: false, output: ['boom'] },
    state: {
      kind: 'failed',
      exited: 'exited with status 1',
      message: 'the server …',
      faults: [],
      hint: null,
    },
  };
  const exited: Moment = {
    kind: 'exited',
    how: 'exited with status 1',
    message: 'the server exited with status 1 during `edit_file`',
    output: ['TypeError: no user', '    at line 7'],
    calls: [KEY],
  };

  test('r says that the server is starting', () => {
    const session = onCalls([...call(), exited], { servers: [crashed] });
    session.changes({ servers: [{ ...crashed, state: { kind: 'loading' } }] });
    session.press('r');
    expect(session.sees()).toContain('node crash.mjs is starting');
  });

  test('r names the end of its own server also if another server has the operation', () => {
    const session = onCalls([...call(), exited], { servers: [crashed, elsewhere('other')] });
    session.press('r');
    expect(session.sees({ columns: 160, rows: 24 })).toContain(
      'Not run: node crash.mjs exited with status 1 · R restarts it. Press e to open its form at other.example.',
    );
  });

  test('a restart is said once', () => {
    const session = onCalls([...call(), exited], { servers: [crashed] });
    const ready = { ...readyServer([EDIT]), about: crashed.about, restarted: { why: null } };
    session.changes({ servers: [ready] });
    session.press('j');
    session.changes({ servers: [{ ...ready, output: [] }] });
    session.clock.advance(60_000);
    expect(session.sees()).not.toContain('was restarted');
  });

  test('a restart that failed is said', () => {
    const session = onCalls([...call(), exited], { servers: [crashed] });
    session.changes({ servers: [{ ...crashed, restarted: { why: null } }] });
    expect(session.sees()).toContain('node crash.mjs did not restart: the server …');
  });
});
