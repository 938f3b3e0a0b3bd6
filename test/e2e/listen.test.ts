import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readTranscript } from '../../src/events/transcript-reader.js';
import { fold } from '../events/build.js';
import { eventually } from './support/eventually.js';
import { temporaryFolder } from './support/folder.js';
import { ask } from './support/http.js';
import { runHere } from './support/in-process.js';
import { type ListeningHere, startListening, startListeningHere } from './support/listening.js';
import { startPeer } from './support/peers.js';
import { argv, runShell, shellLine } from './support/program.js';
import { closedPort } from './support/sockets.js';

const IDS = { group_id: 'thread_1', id: 'call_1' };
const result = (fields: object = {}) => ({
  type: 'tool_result',
  ...IDS,
  text: 'line one\nline two',
  ...fields,
});
const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n';
const CONSENT = 'https://auth.example/consent?state=s3cr3t';
const token = ({ callback_url }: ListeningHere) => callback_url.split('/').at(-1) ?? '';

describe.concurrent('every callback is shown as it arrives', () => {
  it('a result of a real tool: both panes', async () => {
    await using tool = await startPeer('plain');
    await using listening = await startListeningHere();
    const { callback_url } = listening;
    const call = { operation: 'edit_file', arguments: { path: 'src/a.rs' }, ...IDS, callback_url };
    expect((await ask(`${tool.url}/invoke`, { body: JSON.stringify(call) })).status).toBe(200);
    await listening.printsToStdout('LLM text');
    const output = await listening.printsToStdout('Replaced text in src/a.rs');
    expect(output).toMatch(/ ✓ result\n +would match a pending call with group_id thread_1 and id call_1\n/);
    expect(output).toContain('HUMAN display_as[0] diff');
    expect((await tool.seen('delivery', ({ status }) => status !== null)).status).toBe(200);
  });

  it('other callbacks: a second result, events, views, questions', async () => {
    await using listening = await startListeningHere();
    const ids = { group_id: 'thread_1', tool_call_id: 'call_1' };
    const messages = [
      result({ subscription: true }),
      result({ text: 'other' }),
      { type: 'subscription_event', ...ids, text: 'news' },
      { type: 'subscription_event', ...ids, text: 'the end', final: true },
      { type: 'subscription_event', ...ids, text: 'too late' },
      { type: 'view_update', group_id: 'thread_1', view_type: 'diff', content: { patch: PATCH } },
      { type: 'view_update', group_id: 'thread_1', view_type: 'chart', content: { bars: [1] } },
      { type: 'oauth', group_id: 'thread_1', id: 'call_2', auth_url: CONSENT },
    ];
    const statuses = [];
    for (const message of messages) statuses.push(await listening.post(message));
    expect(statuses).toEqual([200, 200, 200, 200, 404, 200, 200, 200]);
    const output = await listening.printsToStdout('auth.example');
    for (const line of [
      /✓ result; it opened a subscription/,
      /• tool_result with other content.*; the first counts/,
      /• event 1 .*news/,
      /• last event.*the end/,
      /✗ subscription_event discarded with 404: the subscription has ended/,
      /• view diff updated[\s\S]*VIEW diff[\s\S]*\+ new/,
      /• view chart updated[\s\S]*VIEW chart[\s\S]*"bars": \[\n/,
      /• visit https:\/\/auth\.example\/consent to continue/,
    ])
      expect(output).toMatch(line);
    const { status, stdout, stderr } = await listening.stop();
    expect(status).toBe(0);
    expect(stdout).not.toContain('s3cr3t');
    expect(stderr).toContain(`visit this URL to continue: ${CONSENT}\n`);
    expect(stderr).toContain('[TOOL-ONCE]');
  });

  it('-o json: a line for each', async () => {
    await using listening = await startListeningHere(['-o', 'json']);
    await listening.post(result());
    await listening.post({ type: 'oauth', ...IDS, id: 'call_2', auth_url: CONSENT });
    await listening.post('{"type":"nope"}');
    await ask(`${listening.callback_url}x`, { body: '{}' });
    const lines = (await listening.printsToStdout('wrong-address')).trim().split('\n');
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      {
        type: 'tool_result',
        ...IDS,
        verdict: 'settles',
        status: 200,
        expected: false,
        llm: { text: 'line one\nline two' },
        display: { chosen: null, reason: 'no display_as' },
        outcome: { type: 'success' },
        message: result(),
      },
      { type: 'oauth', verdict: 'holds', message: { auth_url: 'https://auth.example/consent' } },
      { type: null, verdict: 'rejected', status: 400, reason: expect.stringContaining('$.type') },
      { type: null, verdict: 'rejected', status: 404, reason: 'wrong-address' },
    ]);
    expect(lines.join('')).not.toContain('s3cr3t');
  });

  it('-o ndjson and --save: a transcript without the token', async () => {
    await using folder = await temporaryFolder();
    await using listening = await startListeningHere(['-o', 'ndjson', '--save', folder.file('saved.ndjson')]);
    await listening.post(result());
    await listening.printsToStdout('"status":200');
    const { status, stdout } = await listening.stop('SIGINT');
    expect(status).toBe(0);
    const saved = await readFile(folder.file('saved.ndjson'), 'utf8');
    for (const text of [stdout.slice(stdout.indexOf('\n') + 1), saved]) {
      const { events, faults, end } = readTranscript(text.trim().split('\n'));
      expect([faults, end]).toEqual([[], 'done']);
      expect(fold(events).first?.settled).toMatchObject({ by: 'result' });
      expect(text).not.toContain(token(listening));
    }
  });
});

describe.concurrent('RT-MATCH: expected calls', () => {
  it('are judged as a runtime would, and end the wait', async () => {
    const pair = ['--group-id', 'x/y', '--id', 'z/1'];
    const args = ['--expect', 'thread_1/call_1', '--expect', 'a/b/c', ...pair, '--count', '3'];
    await using listening = await startListeningHere(args);
    expect(await listening.post(result({ id: 'call_9' }))).toBe(404);
    expect(await listening.post(result())).toBe(200);
    expect(await listening.post(result({ group_id: 'x/y', id: 'z/1' }))).toBe(200);
    expect(await listening.post(result({ group_id: 'a/b', id: 'c' }))).toBe(200);
    const { status, stdout } = await listening.ended;
    expect(status).toBe(0);
    expect(stdout).toContain('discarded with 404: id is "call_9", the call\'s is "call_1"');
    expect(stdout).toContain('matches the expected call: group_id a/b and id c');
  });

  it('that get no result: exit 7, with their ids', async () => {
    const args = ['listen', '--expect', 't/a', '--expect', 't/b', '--timeout', '50ms'];
    const { status, stderr } = await runHere(args);
    expect(status).toBe(7);
    expect(stderr).toMatch(
      /^error: timed out after 50ms without the expected results\n {2}group_id t, id a\n {2}group_id t, id b\nhint: /,
    );
  });

  it('--count ends the wait after that many results', async () => {
    const { status, stderr } = await runHere(argv`listen --count 1 --timeout 50ms`);
    expect([status, stderr]).toEqual([
      7,
      expect.stringMatching(/^error: timed out after 50ms with fewer than 1 results/),
    ]);
  });

  it('without --expect: the timeout ends it, exit 0', async () => {
    const { status, stderr } = await runHere(argv`listen --timeout 50ms`);
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe.concurrent('the guard of the listener', () => {
  it('threats, rows 1 to 4, 15, 16, 18', async () => {
    await using listening = await startListeningHere(['--max-body', '1k', '--allow-host', 'tools.example']);
    const { callback_url: url } = listening;
    const post = async (headers: Record<string, string>, body = JSON.stringify(result()), to = url) =>
      (await ask(to, { headers, body })).status;
    expect(await post({}, undefined, `${url.slice(0, -1)}_`)).toBe(404);
    expect(await post({ host: 'evil.example' })).toBe(403);
    expect(await post({ origin: 'http://evil.example' })).toBe(403);
    expect(await post({ host: '[' })).toBe(400);
    expect(await post({ 'content-type': 'text/plain' })).toBe(415);
    expect(await post({ 'content-encoding': 'gzip' })).toBe(415);
    expect(await post({}, ' '.repeat(2_000))).toBe(413);
    expect(await post({}, `${'['.repeat(200)}${']'.repeat(200)}`)).toBe(400);
    expect(listening.stdout()).not.toContain('✓');
    expect(await post({ host: 'tools.example' })).toBe(200);
    const output = await listening.printsToStdout('✓ result');
    expect(output).toContain(
      '✗ a POST to /callback/… was refused with 404: callbacks go to the callback_url of',
    );
    expect(output).toMatch(
      /✗ a request to the callback listener was refused with 403: it comes from a web page/,
    );
    expect(output).not.toContain(token(listening));
  });

  it('a POST to the base URL is reported, with the right URL', async () => {
    await using listening = await startListeningHere();
    expect((await ask(`${listening.url}/`, { body: JSON.stringify(result()) })).status).toBe(404);
    await listening.printsToStdout(
      '✗ a POST to / was refused with 404: callbacks go to the callback_url of the first line',
    );
  });

  it('--callback-url is the URL for tools; --port is used', async () => {
    const port = await closedPort();
    const base = 'https://tunnel.example/base';
    await using listening = await startListeningHere(['--port', String(port), '--callback-url', `${base}/`]);
    expect(listening.port).toBe(port);
    expect(listening.callback_url).toMatch(/^https:\/\/tunnel\.example\/base\/callback\/[\w-]{43}$/);
    const second = await runHere(argv`listen --port ${String(port)}`);
    expect(second.status).toBe(2);
    expect(second.stderr).toContain(String(port));
  });

  it('row 5: another --host opens it to the network, with a warning', async () => {
    await using listening = await startListeningHere(['--host', '0.0.0.0']);
    expect((await listening.stop()).stderr).toBe(
      'warning: the server is open to the network (--host 0.0.0.0)\n',
    );
  });
});

const QUESTION = {
  ...{ type: 'user_choice', ...IDS, prompt: 'Where?', choices: ['here', 'there'], default: 0 },
  response_url: 'http://tool:3001/choices/0123456789abcdef?code=canary',
};

it.concurrent.each(['plain', 'json', 'ndjson'])(
  'row 25: the address for answering a question has no token in %s',
  async output => {
    await using listening = await startListeningHere(['-o', output]);
    await listening.post(QUESTION);
    await listening.printsToStdout('http://tool:3001/choices/');
    const { stdout } = await listening.stop();
    expect(stdout).toContain('http://tool:3001/choices/[redacted]');
    expect(stdout).not.toMatch(/0123456789abcdef|canary/);
  },
);

it.concurrent('row 1: guessing does not flood the output: wrong addresses are printed the first, tenth, hundredth time', async () => {
  await using listening = await startListeningHere();
  for (let n = 0; n < 30; n++) await ask(`${listening.callback_url}${n}`, { body: '{}' });
  await listening.post(result({ text: 'hello' }));
  await listening.printsToStdout('LLM text');
  const { stdout, stderr } = await listening.stop();
  expect(
    stdout.match(/was refused with 404: callbacks go to the callback_url of the first line/g),
  ).toHaveLength(2);
  expect(stderr).toBe(
    'warning: 30 posts to a wrong callback URL: /callback/…; expected /callback/<token> [TOOL-OPAQUE]\n',
  );
});

it.concurrent('a cleared view is reported, and nothing is drawn', async () => {
  await using listening = await startListeningHere();
  await listening.post({ type: 'view_update', group_id: 'thread_1', view_type: 'diff', content: {} });
  expect(await listening.printsToStdout('thread_1')).toMatch(/ • view diff cleared\n.*group_id thread_1\n$/);
});

describe.concurrent('the end', () => {
  it.each([
    ['SIGINT', startListeningHere],
    ['SIGTERM', startListening],
    ['SIGHUP', startListeningHere],
  ] as const)('%s is a normal end', async (signal, started) => {
    await using listening = await started();
    const { status, stderr } = await listening.stop(signal);
    expect([status, stderr]).toEqual([0, '']);
  });

  it('row 30: a closed pipe ends it quietly', async () => {
    await using listening = await startListening(['-o', 'json']);
    listening.hangUp();
    expect(await listening.post(result())).toBe(200);
    const { status, stderr } = await listening.ended;
    expect([status, stderr]).toEqual([0, '']);
  });

  // Node reports no error for the write that fills the disk, only for the next one.
  it.each([
    ['plain', 2],
    ['json', 2],
    ['ndjson', 1],
  ] as const)('a disk that is full at the last result is an error: -o %s', async (output, count) => {
    await using folder = await temporaryFolder();
    const out = folder.file('out');
    const line = shellLine(argv`listen -o ${output} --count ${count}`);
    const ended = runShell(`trap '' XFSZ; ulimit -f 2; ${line} > ${out}`);
    const url = await eventually('the ready line', async () => {
      const text = await readFile(out, 'utf8').catch(() => '');
      return /"callback_url":"([^"]+)/.exec(text)?.[1];
    });
    for (const id of ['call_1', 'call_2'].slice(0, count))
      await ask(url, { body: JSON.stringify(result({ id, text: 'ab\n'.repeat(4_000) })) });
    const { status, stderr } = await ended;
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^error: cannot write the output: EFBIG/)]);
  });

  it('if stdout fails before the first event, --save leaves no file', async () => {
    await using folder = await temporaryFolder();
    const saved = folder.file('saved.ndjson');
    const line = shellLine(argv`listen -o json --save ${saved}`);
    const { status, stderr } = await runShell(`${line} > /dev/full`);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^error: cannot write the output: ENOSPC/)]);
    expect(await readdir(folder.path)).toEqual([]);
  });
});

/** The bytes of a result, made once: the text of another one differs in nothing. */
function bytesWith(text: string): (id?: string) => Uint8Array {
  const [before = '', after = ''] = JSON.stringify(result({ id: 'ID', text: 'TEXT' })).split('TEXT');
  const rest = Buffer.from(JSON.stringify(text).slice(1, -1) + after);
  return (id = 'call_1') => Buffer.concat([Buffer.from(before.replace('ID', id)), rest]);
}

it('memory stays flat after many callbacks', async () => {
  await using listening = await startListening(['-q']);
  const bytes = bytesWith('x'.repeat(2_000_000));
  for (let batch = 0; batch < 20; batch++)
    await Promise.all([1, 2, 3, 4].map(n => listening.post(bytes(`call_${batch}_${n}`))));
  expect(await peakOf(listening.pid)).toBeLessThan(250); // of 160 MB that came, each kept twice would be 400
});

it('row 15: a callback of 40 MB takes at most 3 times as much memory and 120 MB', async () => {
  const bytes = bytesWith('abcdefghi '.repeat(4_000_000))();
  for (const output of ['plain', 'json', 'ndjson']) {
    await using listening = await startListening(['-o', output]);
    expect(await listening.post(bytes)).toBe(200);
    expect(await peakOf(listening.pid), output).toBeLessThan(3 * 40 + 120);
  }
});

it('answers a callback before drawing it, however many lines it has', async () => {
  await using listening = await startListening();
  const text = `${'one of many short lines\n'.repeat(100_000)}the last one`;
  expect(await listening.post(result({ text }))).toBe(200);
  expect(listening.stdout()).not.toContain('HUMAN');
  await eventually('the last line', () => listening.stdout().slice(-100).includes('the last one'));
});

/** MB. */
async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, peak = ''] = /VmHWM:\s+(\d+) kB/.exec(status) ?? [];
  return Number(peak) / 1024;
}
