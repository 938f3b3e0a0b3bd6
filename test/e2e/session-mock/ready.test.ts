import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { startScript, startSessionMock, startSessionMockHere } from '../support/session-mock.js';
import { success } from '../support/session-wire.js';
import { silentServer } from '../support/sockets.js';

/** `session mock` comes up, says where, and ends as a server does. */
const A1 = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' };

describe.concurrent('the ready line', () => {
  it('comes first: port, url without the path of the API, key and session; it ends with 0', async () => {
    await using mock = await startSessionMock();
    const { port, url, key, session } = mock;
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await mock.known().results(success(A1))).status).toBe(202);
    const { status, stdout } = await mock.stop();
    expect(status).toBe(0);
    expect(stdout.split('\n')[0]).toBe(JSON.stringify({ port, url, key, session }));
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s is a normal end, also while clients wait for news',
    async signal => {
      await using mock = await startScript({ session: { rounds: [{ calls: [A1] }] } });
      const { length } = (await mock.known().changes()).new_events;
      const polls = [1, 2, 3].map(() =>
        mock.known().ask(`/changes?from_index=${length}&wait_for_seconds=60`),
      );
      const { json } = await mock.ask('');
      expect(json).toMatchObject({ total: 1 });
      const before = performance.now();
      const [{ status }, ...answers] = await Promise.all([mock.stop(signal), ...polls]);
      expect([status, ...answers.map(answer => answer.status)]).toEqual([0, 204, 204, 204]);
      expect(performance.now() - before).toBeLessThan(10_000);
    },
  );
});

describe.concurrent('a port', () => {
  it('in use is an error, and no other port is used', async () => {
    await using taken = await silentServer();
    const { status, stdout, stderr } = await runHere(['session', 'mock', '--port', String(taken.port)]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(`error: port ${taken.port} on 127.0.0.1 is already in use\n`);
  });
});

it('every error of a script is reported with its place', async () => {
  await using folder = await temporaryFolder();
  const { status, stderr } = await runHere(['session', 'mock', await folder.write('script.yaml', BROKEN)]);
  expect(status).toBe(2);
  for (const says of [
    /script\.yaml:6:.*\$\.session\.rounds\[0\]\.calls\[0\]\.tool_nam\b.*tool_name/,
    /script\.yaml:8:.*\$\.session\.rounds\[1\]\.calls\[0\]\.args\.x.*call_7/,
    /script\.yaml:9:.*\$\.session\.rounds\[1\]\.expect\.call_8/,
    /script\.yaml:10:.*\$\.switches\.settled/,
  ])
    expect(stderr).toMatch(says);
});

const BROKEN = `version: 1
session:
  tools: [{ name: a }]
  rounds:
    - calls:
        - { tool_nam: a, id: call_1 }
    - calls:
        - { tool_name: a, id: call_2, args: { x: "{{results.call_7}}" } }
      expect: { call_8: { kind: tool_result } }
switches: { settled: 404 }
`;

describe.concurrent('row 25: the key', () => {
  const KEY = 'KEY-CANARY-4711';

  it.each([['plain'], ['ndjson']])(
    'is only in the ready line, with -o %s --save, also if a client sends it',
    async output => {
      await using folder = await temporaryFolder();
      const saved = folder.file('transcript');
      await using mock = await startSessionMockHere(['-o', output, '--save', saved], {
        env: { API_KEY: KEY },
      });
      expect(mock.key).toBe(KEY);
      expect((await mock.known().results(success(A1, `my key is ${KEY}`))).status).toBe(202);
      const { stdout, stderr, status } = await mock.stop();
      expect(status).toBe(0);
      expect(stdout.split('\n').slice(1).join('\n')).not.toContain(KEY);
      expect(stderr).not.toContain(KEY);
      const transcript = await readFile(saved, 'utf8');
      expect(transcript).not.toContain(KEY);
      expect(transcript).toContain('"purpose":"tool_results"');
      expect(transcript).toContain('my key is [redacted]');
    },
  );
});
