import { describe, expect, it } from 'vitest';
import { readTranscript } from '../../../src/events/transcript-reader.js';
import { openRuntime } from '../../peers/runtime.mjs';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { startMockHere } from '../support/mock.js';

/** Output of a mock: lines, events, or nothing. */
const TOKEN = 'canary-5f0c2a9be1';
const FIXTURES = `
version: 1
fixtures:
  - { id: greets, match: { operation: greet }, reply: { payload: "hello {{arguments.name}}" } }
`;

async function fixtures(folder: Folder): Promise<string> {
  return folder.write('fixtures.yaml', FIXTURES);
}

describe.concurrent('output', () => {
  it('-o plain: a line for each event, on stderr, since stdout is for programs', async () => {
    await using folder = await temporaryFolder();
    await using mock = await startMockHere([await fixtures(folder), '-o', 'plain']);
    await using runtime = await openRuntime();
    const call = await runtime.invoke(mock.url, 'greet', { name: 'Ada' }, { id: 'c1', groupId: 't1' });
    await call.result();
    const none = await runtime.invoke(mock.url, 'nothing', {}, { id: 'c2', groupId: 't1' });
    await none.result();
    await runtime.closeThread(mock.url, 't1');
    await mock.printsToStderr(/thread t1 was closed/);
    const { stdout, stderr } = await mock.stop();
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toMatch(/^ +0:0\d\.\d → greet c1 \(t1\) answered by greets$/m);
    expect(stderr).toMatch(/^ +0:0\d\.\d ✓ greet c1 \(t1\) tool_result delivered in \S+$/m);
    expect(stderr).toMatch(/^ +0:0\d\.\d ! nothing c2 \(t1\) .*nothing/m);
    expect(stderr).not.toContain(runtime.url);
  });

  it('warns of fixtures that never match and of a consent page that runtimes must refuse', async () => {
    await using folder = await temporaryFolder();
    const asking = '{ oauth: {}, granted: { payload: a }, refused: { payload: b } }';
    const path = await folder.write(
      'asking.yaml',
      `version: 1\nfixtures:\n  - { id: a, match: { operation: ask }, reply: ${asking} }\n  - { id: b, match: { operation: ask }, reply: ${asking} }\n`,
    );
    await using mock = await startMockHere([path, '--allow-host', 'mock', '--watch']);
    const shadowed = `^warning: fixture b never matches: a comes before it and matches the same calls \\(.*asking\\.yaml:4\\)$`;
    await mock.printsToStderr(new RegExp(shadowed, 'm'));
    expect(mock.stderr()).toMatch(/^warning: runtimes that call the mock as mock must refuse the auth_url/m);
    const since = mock.stderr().length;
    await folder.write(
      'asking.yaml',
      `version: 1\nfixtures:\n  - { match: { operation: ask }, reply: ${asking} }\n`,
    );
    await mock.printsToStderr(/^reloaded 1 fixture/m, since);
    expect((await mock.stop()).status).toBe(0);
    expect(mock.stderr().slice(since)).not.toContain('warning');
  });

  it('-q: no lines about calls', async () => {
    await using folder = await temporaryFolder();
    await using mock = await startMockHere([await fixtures(folder), '-q']);
    await using runtime = await openRuntime();
    await (await runtime.invoke(mock.url, 'greet', { name: 'Ada' })).result();
    expect(await mock.stop()).toMatchObject({ status: 0, stderr: '' });
  });

  it('row 25: -o ndjson is a transcript without tokens of callbacks, in any encoding', async () => {
    await using folder = await temporaryFolder();
    await using mock = await startMockHere([await fixtures(folder), '-o', 'ndjson']);
    await using runtime = await openRuntime();
    const callbackPath = `/back/${TOKEN}?k=${TOKEN}-%2B`;
    const call = await runtime.invoke(mock.url, 'greet', { name: 'Ada' }, { callbackPath });
    await call.result();
    const journal = await fetch(`${mock.url}/__mock__/journal`).then(answer => answer.text());
    const asked = await fetch(`${mock.url}/__mock__/journal`, {
      headers: { accept: 'application/x-ndjson' },
    });
    const remembered = await asked.text();
    const { stdout, stderr } = await mock.stop();
    const [, ...lines] = stdout.split('\n');
    for (const transcript of [lines.join('\n'), remembered]) {
      const { header, events, faults } = readTranscript(transcript.split('\n'));
      expect(faults).toEqual([]);
      expect(header?.observer).toBe('tool');
      expect(events.map(each => ('purpose' in each ? each.purpose : each.kind))).toEqual([
        'discovery',
        'response',
        'invocation',
        'matched',
        'response',
        'callback',
        'response',
      ]);
      expect(events.find(({ kind }) => kind === 'matched')).toMatchObject({ fixture: 'greets', count: 1 });
    }
    expect(readTranscript(lines).end).toBe('done');
    for (const said of [stdout, stderr, journal, remembered])
      for (const form of formsOf(TOKEN)) expect(said).not.toContain(form);
    expect(stdout).toContain('[redacted]');
  });
});

const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').slice(0, 12),
  Buffer.from(secret).toString('hex'),
];
