import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkTranscript } from '../../../src/check/judge.js';
import { readTranscript } from '../../../src/events/transcript-reader.js';
import { openRuntime } from '../../peers/runtime.mjs';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { startMockHere } from '../support/mock.js';
import { ROOT } from '../support/program.js';
import { verdictsIn } from '../support/report.js';

/** What `mock-tool` saw of a runtime, judged: its own log tells what was discovered, too. */

let folder: Folder;

let events: string;

let journal: string;

let saved: string;

let plain: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  saved = folder.file('saved.ndjson');
  const fixtures = `${ROOT}fixtures/examples/choice.yaml`;
  const mock = await startMockHere([fixtures, '-o', 'ndjson', '--save', saved]);
  journal = await folder.write('journal.ndjson', await makeCalls(mock.url));
  events = await folder.write('events.ndjson', (await mock.stop()).stdout);
  const plainMock = await startMockHere([fixtures, '-o', 'plain']);
  await makeCalls(plainMock.url);
  plain = (await plainMock.stop()).stderr;
});

afterAll(() => folder[Symbol.asyncDispose]());

/** Returns the journal. */
async function makeCalls(url: string): Promise<string> {
  await using runtime = await openRuntime();
  for (let count = 0; count < 3; count++) await runtime.discover(url);
  const call = await runtime.invoke(url, 'write_outside', { path: 'a.txt' });
  await call.waitFor('user_choice');
  await runtime.choose(call, 0);
  await call.result();
  await runtime.closeThread(url, call.invocation.group_id);
  const headers = { accept: 'application/x-ndjson' };
  return (await fetch(`${url}/__mock__/journal`, { headers })).text();
}

describe.each([
  ['-o ndjson', () => events],
  ['/__mock__/journal', () => journal],
  ['--save', () => saved],
])('%s', (_, file) => {
  test('check: only discovered operations were called', async () => {
    const { status, stdout } = await runHere(['check', file(), '--reporter', 'json']);
    const { 'not-applicable': _, pass, ...others } = verdictsIn(stdout);
    expect({ status, others }).toEqual({ status: 0, others: {} });
    expect(pass).toEqual(expect.arrayContaining(['RT-OP', 'RT-ARGS', 'TOOL-DISCOVER', 'RT-CHOICE']));
  });

  test('render does not show the discovery requests', async () => {
    const { stdout } = await runHere(['render', file()]);
    expect(stdout).toMatch(/→ write_outside /);
    expect(stdout).not.toMatch(/discover|toolset|well-known/i);
  });
});

test('the library reads the same', async () => {
  const { events, header } = readTranscript((await readFile(journal, 'utf8')).split('\n'));
  const { checks } = await checkTranscript(events, { observer: header?.observer ?? 'runtime' });
  const { stdout } = await runHere(['check', journal, '--reporter', 'json']);
  expect(verdictsIn(JSON.stringify({ checks }))).toEqual(verdictsIn(stdout));
});

test('-o plain does not show the discovery requests', () => {
  expect(plain).toMatch(/→ write_outside /);
  expect(plain).not.toMatch(/discover|toolset|well-known/i);
});
