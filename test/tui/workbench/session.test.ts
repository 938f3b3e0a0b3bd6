import { describe, expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import type { Controls, Server } from '../../../src/tui/workbench/model.js';
import {
  arrives,
  CHOICE,
  call,
  INVOCATION,
  KEY,
  loaded,
  type Moment,
  OAUTH,
  RESULT,
  resultArrives,
} from '../../events/build.js';
import { pending, settled } from './support/call-events.js';
import { EDIT, onCalls, openSession } from './support/open-session.js';
import { readyServer } from './support/set-up-workbench.js';

const asking = [...pending, ...arrives(CHOICE)];
/** The same of another call. */
const otherCall = (moments: readonly Moment[]) =>
  moments.map(moment => ({
    ...moment,
    calls: ['call_other'],
    ...('leg' in moment && { leg: `other-${moment.leg}` }),
    ...('body' in moment && { body: Content.ofJson({ ...INVOCATION, id: 'call_other' }) }),
  })) as Moment[];
const consenting = [...pending, ...arrives(OAUTH)];

describe('from the tools to a call', () => {
  test('RT-ARGS: errors of the schema are shown at their fields; Ctrl-T sends anyway', async () => {
    const session = openSession({
      start: { operation: 'edit_file', arguments: () => ({ path: 'x' }) },
      controls: {
        run: async (_, { validates }) =>
          validates
            ? { kind: 'invalid', faults: [{ path: '$.path', message: 'is too short' }] }
            : { kind: 'sent', key: KEY },
      },
    });
    session.press('<ctrl-r>');
    await session.settles();
    expect(session.sees()).toMatch(/^❯ path\*.*\n {4}✗ is too short$/m);
    expect(session.sees()).toMatch(/Press Ctrl-T to send them\s+as\s+they\s+are\./);
    session.emit(pending);
    session.press('<ctrl-t>');
    await session.settles();
    expect(session.sees()).toContain('[Calls 1, 1 running]');
    expect(session.sees()).not.toContain('Not sent');
  });

  test('a call that cannot be sent says why, and the form stays', async () => {
    const session = openSession({ start: { operation: 'edit_file', arguments: () => ({ path: 'x' }) } });
    session.press('<ctrl-r>', '<ctrl-r>');
    await session.settles();
    expect(session.asked).toEqual(['run edit_file {"path":"x"}']);
    expect(session.sees()).toContain('no one is there');
    expect(session.sees()).toContain('[Form edit_file]');
  });

  test.each([
    ['not called unless it is said', ['<enter>'], ['decline drop_table']],
    ['not called after Esc', ['<escape>'], ['decline drop_table']],
    ['called where it is said', ['0', '<enter>'], ['run drop_table {}']],
  ])('a destructive one is %s', (_, keys, asked) => {
    const session = openSession({
      start: { operation: 'drop_table' },
      controls: { needsConsent: () => true },
    });
    session.press('<ctrl-r>');
    expect(session.sees()).toMatch(
      /drop_table is marked destructive\. Call it\?\nAt http:\/\/127\.0\.0\.1:3001, with \{\}\n {2}0 Call it\n❯ 1 Do not call it/,
    );
    session.press(...keys);
    expect(session.asked).toEqual(asked);
    expect(session.sees()).not.toContain('marked destructive');
  });
});

test('x removes an unreachable server, and no other', () => {
  const ready = readyServer([EDIT]);
  const failed: Server = {
    ...ready,
    id: 's0',
    state: { kind: 'failed', message: 'no one is there', faults: [], hint: null },
  };
  const session = openSession({ servers: [failed, ready] });
  session.press('g');
  expect(session.sees()).toContain('x remove');
  session.press('x');
  session.changes({ servers: [ready] });
  expect(session.asked).toEqual(['remove s0']);
  expect(session.sees()).toMatch(/^❯ workshop/m);
  session.press('x');
  expect(session.asked).toEqual(['remove s0']);
  expect(session.sees()).toContain('Only a server that could not be reached can be removed');
});

test('Logs shows the output of a started server; R restarts it, and reloads any other', () => {
  const started: Server = { ...readyServer([EDIT]), output: ['listening', 'a \u001b[31mwarning'] };
  const session = openSession({ servers: [started, { ...readyServer([EDIT]), id: 's2' }] });
  session.press('2');
  expect(session.sees()).toMatch(
    /\[2 Logs\](?:.|\n)*LOGS stderr of the server(?:.|\n)*listening\na ␛\[31mwarning/,
  );
  session.press('R', 'G');
  expect(session.sees()).toContain('this server was not started here');
  session.press('R');
  expect(session.asked).toEqual(['restart s1', 'load s2']);
});

test('D opens the demo', () => {
  const session = openSession({ servers: [] });
  session.press('D');
  expect(session.asked).toEqual(['open demo']);
});

test('= marks a call, and compares it with another', () => {
  const session = onCalls([...settled, ...otherCall(pending)]);
  session.press('g', '6');
  expect(session.sees()).toContain('= marks this call');
  session.press('G', '=');
  expect(session.sees()).toContain('Marked. Select another call and press = to compare them.');
  session.press('g', '='); // without a mark, the first call would be compared with none
  const seen = session.sees({ columns: 100, rows: 40 });
  expect(seen).toMatch(/\[6 Compare\](?:.|\n)*COMPARE call_\w+ → call_abc123/);
  expect(seen).toMatch(/- +\(none\) *\n.*\+ +said to the LLM/);
});

test('a refused callback of a call points to its problems', () => {
  const session = onCalls([...pending, ...arrives({ ...RESULT, id: 'another' })]);
  expect(session.sees()).toMatch(/^❯ .* acknowledged .*! see Problems$/m);
  expect(session.sees()).toContain(' 5 Problems !');
  expect(onCalls(settled).sees()).not.toMatch(/! see|Problems !/);
});

describe('the server of a call', () => {
  const here = readyServer([EDIT]);
  const there: Server = { ...here, id: 's2', about: 'http://127.0.0.1:3002' };

  test('is named if several are loaded', () => {
    const session = onCalls([...loaded(), ...settled], { servers: [here], serverOf: () => 's2' });
    expect(session.sees()).not.toContain('SERVER');
    session.changes({ servers: [here, there] });
    expect(session.sees()).toMatch(
      /TIME {2}OPERATION {2}ARGUMENTS +SERVER .*STATE\n❯ .* edit_file .* 127\.0\.0\.1:3002 .*✓ success/,
    );
    expect(session.sees({ columns: 40, rows: 24 })).toMatch(/^❯ .*edit_file .*✓ success/m);
  });

  test('of a transcript, or closed since, is named by the URL of its toolset', () => {
    const elsewhere = loaded({ base: 'http://127.0.0.1:3009' }).map(fact => ({
      ...fact,
      endpoint: 'http://127.0.0.1:3009/x',
    }));
    const session = onCalls([...loaded(), ...elsewhere, ...settled], {
      servers: [there, { ...there, id: 's3' }],
      serverOf: () => 's1',
    });
    expect(session.sees()).toMatch(/^❯ .* edit_file .* 127\.0\.0\.1:3001 /m);
  });
});

describe('actions on a call', () => {
  test.each([
    ['r runs it again', settled, 'r', 'run edit_file {"path":"src/main.rs"}'],
    ['x cancels it', pending, 'x', `cancel ${KEY}`],
    ['o opens its consent page', consenting, 'o', 'visit https://auth.example/consent'],
    ['U copies the URL of that', consenting, 'U', 'copy https://auth.example/consent'],
    ['y copies it as curl', settled, 'y', `copy curl ${KEY}`],
    ['Y copies it as a command line', settled, 'Y', `copy protocol-cli invoke ${KEY}`],
  ])('%s, in the list and in the details', async (_, facts, key, asked) => {
    for (const way of [[], ['<enter>']]) {
      const session = onCalls(facts);
      session.press(...way, key);
      await session.settles();
      expect(session.asked).toEqual([asked]);
    }
  });

  test('a shows its question: Esc leaves it open, an answer is posted', () => {
    const session = onCalls(asking);
    session.press('a');
    expect(session.sees()).toMatch(
      /edit_file asks in call_abc123\nWhere to\?\n❯ 0 staging \(default\)\n {2}1 production/,
    );
    const rows = session.sees().split('\n');
    expect(rows.filter(row => / {3}Esc | {3}q quit/.test(row))).toEqual([rows.at(-1)]);
    expect(rows.at(-1)).toBe('↑↓ select   Ctrl-C quit   ⏎ choose   Esc later');
    session.press('<escape>');
    expect(session.asked).toEqual([]);
    session.press('a', 'j', '<enter>');
    expect(session.asked).toEqual([`answer ${KEY} back-1 1`]);
  });

  test('with several questions, a names the call and selects it', async () => {
    const session = onCalls([...asking, ...otherCall(pending)], { opened: ['a.ndjson'] });
    session.press('<enter>');
    expect(session.sees()).toContain('edit_file call_other');
    session.press('a');
    expect(session.sees()).toContain('edit_file asks in call_abc123');
    session.press('<escape>');
    expect(session.sees()).toMatch(/^❯.* asks for a choice /m);
    session.press('V', 'a', '<enter>');
    expect(session.sees()).toMatch(/^❯.* asks for a choice /m);
    expect(session.asked).toEqual([`answer ${KEY} back-1 0`]);
  });

  test('a copied command is shown in rows that can be pasted', () => {
    const text = 'protocol-cli invoke one two three';
    const session = onCalls(call(), { controls: { asCurl: () => ({ text, gaps: [] }) } });
    session.press('y');
    expect(session.sees({ columns: 28, rows: 20 })).toContain('\nprotocol-cli invoke one \\\ntwo three\n');
  });

  test('while a copied text is shown, keys do nothing; q closes it only', async () => {
    const session = onCalls(consenting);
    session.press('y');
    expect(session.sees()).toMatch(/^copy: done; fill in: callback_url\n\ncurl call_abc123$/m);
    await session.settles();
    const { asked } = session;
    const before = [...asked];
    const page = session.sees();
    session.press('x', 'r', 'e', 'a', 'o', 't', 'c', 'S', 'V', '2', '<tab>', '<ctrl-r>', 'z');
    await session.settles();
    expect(session.sees()).toBe(page);
    expect(page).toContain('Esc close');
    session.press('q');
    expect(session.sees()).not.toContain('copy: done');
    expect(asked).toEqual(before);
  });

  test.each([
    ['s', settled, 'Save as fixture: edit_file.yaml', `saveFixture ${KEY} 0 edit_file.yaml`, 'fixture: done'],
    [
      'S',
      settled,
      'Save the transcript as: session.ndjson',
      'saveTranscript session.ndjson',
      'transcript: done',
    ],
  ])('%s asks for a file, and reports the result', async (key, facts, shown, asked, said) => {
    const session = onCalls(facts);
    session.press(key);
    expect(session.sees()).toContain(shown);
    session.press('<enter>');
    await session.settles();
    expect(session.asked).toEqual([asked]);
    expect(session.sees()).toContain(said);
  });

  test('O opens a transcript; V switches between them, and an ended one cannot be canceled there', async () => {
    const session = onCalls(settled);
    session.press('O');
    session.typed('a.ndjson');
    session.press('<enter>');
    await session.settles();
    expect(session.asked).toEqual(['openTranscript a.ndjson']);
    expect(session.sees()).toContain('a.ndjson');
    expect(session.sees()).toContain('No calls in a.ndjson.');
    session.press('V');
    expect(session.sees()).toContain('edit_file');
  });

  test('a transcript on the command line that cannot be opened leaves no prompt that takes the next keys', async () => {
    const session = openSession({
      start: { transcript: 'two.ndjson' },
      controls: { openTranscript: async () => ({ text: 'two.ndjson holds 2 recordings', isBad: true }) },
    });
    await session.settles();
    expect(session.sees()).toContain('two.ndjson holds 2 recordings');
    expect(session.sees()).not.toContain('Open transcript:');
    session.press('c');
    expect(session.sees()).toContain('No calls yet.');
  });

  test('without calls of its own, it names the way to the transcripts', () => {
    const session = onCalls([], { opened: ['a.ndjson'] });
    expect(session.sees()).toMatch(/No calls yet\.[\s\S]*Press V for the next transcript\./);
  });

  test('Tab completes a path, and lists the possibilities', async () => {
    const paths = ['runs/a.ndjson', 'runs/ab.ndjson', 'runs/b/'];
    const session = onCalls(settled, {
      controls: { paths: async typed => paths.filter(path => path.startsWith(typed)) },
    });
    session.press('O');
    session.typed('r\t');
    await session.settles();
    expect(session.sees()).toMatch(/^Open transcript: runs\/ *$/m);
    expect(session.sees()).toContain('a.ndjson  ab.ndjson  b/');
    session.typed('ab');
    session.press('<tab>');
    await session.settles();
    expect(session.sees()).toMatch(/^Open transcript: runs\/ab\.ndjson *$/m);
    session.typed('x');
    session.press('<tab>');
    await session.settles();
    expect(session.sees()).toContain('Nothing begins with runs/ab.ndjsonx');
  });

  test.each([
    ['r', 'No call to run again.'],
    ['e', 'No call to run again.'],
    ['a', 'No tool is waiting for an answer.'],
    ['x', 'No call to cancel.'],
    ['o', 'The call is not waiting for consent.'],
    ['U', 'The call is not waiting for consent.'],
    ['y', 'No call to copy.'],
    ['Y', 'No call to copy.'],
    ['s', 'No call to save.'],
  ])('%s without a call says so', (key, said) => {
    const session = onCalls([]);
    session.press(key);
    expect(session.sees()).toContain(said);
    expect(session.asked).toEqual([]);
  });
});

test('a paste behind a line is reported, and runs no keys', () => {
  const session = onCalls(settled);
  session.press('u');
  session.typed('http://x:1\rcrq');
  expect(session.asked).toEqual(['open http://x:1']);
  expect(session.sees()).toContain('Ignored, because it was pasted after the end of the line: crq');
});

const NO_LINE = { text: 'that is why', isBad: true };

test.each<[string, Partial<Controls>, string]>([
  ['Y', { asCommand: () => NO_LINE }, 'that is why. Press y to copy it as curl.'],
  ['Y', { asCommand: () => NO_LINE, asCurl: () => null }, 'that is why'],
  ['y', { asCurl: () => null }, 'Nothing to copy: the call was not sent.'],
])('%s says why there is nothing to copy', async (key, controls, said) => {
  const session = onCalls(settled, { controls });
  session.press(key);
  await session.settles();
  expect(session.sees()).toContain(said);
  expect(session.asked).toEqual([]);
});

test('Ctrl-C cancels a prompt, and the next one quits', () => {
  const session = openSession();
  session.press('S', '<ctrl-c>');
  expect(session.sees()).not.toContain('Save the transcript as');
  expect(session.asked).toEqual([]);
  session.press('<ctrl-c>');
  expect(session.asked).toEqual(['quit']);
});

test('q names once what would be canceled; the warning is valid for a while, and for that number of calls', () => {
  const WARNING = 'pending and will be canceled: press again to quit.';
  const idle = onCalls(settled);
  idle.press('<ctrl-c>');
  expect(idle.asked).toEqual(['quit']);
  const session = onCalls(pending);
  session.press('q');
  session.clock.advance(6_001);
  expect(session.sees()).not.toContain(WARNING);
  session.press('q');
  expect(session.sees()).toContain(`A call is ${WARNING}`);
  session.emit(otherCall(call()));
  session.press('q');
  expect(session.asked).toEqual([]);
  expect(session.sees()).toContain(`2 calls are ${WARNING}`);
  session.emit(resultArrives({ subscription: true }));
  session.press('q');
  expect(session.asked).toEqual(['quit']);
});

describe('navigation', () => {
  test('a user who moved while a call was sent stays, also back at the same place', async () => {
    const session = onCalls(settled, { controls: { run: async () => ({ kind: 'sent', key: KEY }) } });
    session.press('r', 'g', 'G');
    await session.settles();
    expect(session.sees()).toContain('edit_file was sent: see Calls.');
  });

  test('Esc ends a search, and then goes back', () => {
    const session = onCalls(settled);
    session.press('/', 'e', 'd', '<enter>', '<escape>');
    expect(session.sees()).toContain('[Calls 1]');
    session.press('<escape>');
    expect(session.sees()).toContain('[Tools]');
  });

  test.each<[string, readonly string[], string]>([
    ['tools', [], 'TOOLS'],
    ['calls', ['c'], 'A LIST'],
    ['a call that is read', ['c', '<enter>'], 'READING'],
  ])('? begins with the keys of %s, and the last row says how to scroll and close it', (_, keys, title) => {
    const session = openSession();
    session.emit(settled);
    session.press(...keys, '?');
    const rows = session.sees().split('\n');
    expect(rows[2]).toBe(title);
    expect(rows.at(-1)).toBe('↑↓ PgUp PgDn scroll   / filter   Esc close   Ctrl-C quit');
    session.press('<pageDown>');
    expect(session.sees()).not.toContain(`\n${title}\n`);
    session.press('g');
    expect(session.sees().split('\n')[2]).toBe(title);
  });

  test('in a form ? is typed: Ctrl-G shows and hides its keys', () => {
    const session = openSession();
    session.press('<enter>', '?');
    expect(session.sees()).toMatch(/^❯ path\* {2}\?/m);
    expect(session.sees().split('\n').at(-1)).toContain('Ctrl-G keys   Esc back   Ctrl-C quit');
    session.press('<ctrl-g>');
    expect(session.sees().split('\n')[2]).toBe('A FORM');
    session.press('<ctrl-g>');
    expect(session.sees()).toMatch(/^❯ path\* {2}\?/m);
  });

  test('the keys of a form name what Ctrl-O shows, also in 60 columns', () => {
    const session = openSession();
    const foot = (columns: number) => session.sees({ columns, rows: 20 }).split('\n').at(-1);
    session.press('<enter>');
    expect(foot(100)).toMatch(/^Ctrl-O JSON {3}Ctrl-R run {3}↑↓ field {3}Ctrl-G keys/);
    expect(foot(60)).toMatch(/^Ctrl-O JSON {3}Ctrl-G keys/);
    session.press('<ctrl-o>');
    expect(foot(100)).toMatch(/^Ctrl-O fields {3}Ctrl-R run {3}↑↓ line {3}Ctrl-G keys/);
    expect(foot(60)).toMatch(/^Ctrl-O fields {3}Ctrl-G keys/);
  });

  test.each(['<escape>', '<enter>', '?', 'q'])('%s closes the help, and does nothing else', key => {
    const session = openSession();
    session.press('?', key);
    expect(session.sees()).toContain('❯   edit_file');
    expect(session.asked).toEqual([]);
  });

  test('a key that works below the help closes it and runs; any other does nothing', () => {
    const session = onCalls(settled);
    session.press('?', 'W', '0');
    expect(session.sees()).toContain('Esc close');
    session.press('x');
    expect(session.asked).toEqual([`cancel ${KEY}`]);
    session.press('?', 't');
    expect(session.sees()).toContain('[Tools]');
  });

  test('a search without a match says so', () => {
    const session = onCalls(settled);
    for (const page of ['t', 'c']) {
      session.press(page, 'n');
      expect(session.sees()).toContain('no search text');
      session.press('/');
      session.typed('nowhere\r');
      expect(session.sees()).toContain('not found: "nowhere"');
    }
  });

  test('/ searches the open page: operations, calls, a pane', () => {
    const session = openSession();
    session.press('/');
    session.typed('drop\r');
    expect(session.sees()).toMatch(/^❯ {3}drop_table/m);
    session.emit(settled);
    session.press('c', '<enter>', '/');
    session.typed('now\r');
    expect(session.sees()).toContain('match 1 of 1 on line');
    session.press('[');
    expect(session.sees()).toContain('hunk 1/2');
  });
});
