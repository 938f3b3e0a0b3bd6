import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { startMockHere } from '../support/mock.js';
import { type PeerName, startPeer } from '../support/peers.js';
import { argv } from '../support/program.js';
import { startRecorderHere } from '../support/recorder.js';
import { verdictsIn } from '../support/report.js';
import { logOf, SESSIONS, speakerTo } from './sessions.js';

/** A runtime and a tool that share no code with us, `record` between them, and then `mock-tool` in the tool's place. */

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

type Life = (url: string) => Promise<readonly string[]>;

/** What the runtime logged of its session with whatever tool is at an address. */
const lifeWith =
  (name: PeerName): Life =>
  async url => {
    await using runtime = await openRuntime();
    await SESSIONS[name](speakerTo(runtime, url));
    if (name !== 'odd') expect(runtime.verdict()).toEqual([]);
    return logOf(runtime);
  };

interface Recorded {
  readonly log: readonly string[];
  readonly file: string;
}

/** A life through `record`: what the runtime logged of it, and the transcript. */
async function recorded(name: PeerName, live: Life, fileName = `${name}.ndjson`): Promise<Recorded> {
  await using tool = await startPeer(name);
  const file = folder.file(fileName);
  await using recorder = await startRecorderHere(argv`${tool.url} --save ${file} -q`);
  const log = await live(recorder.url);
  expect(await recorder.stop()).toMatchObject({ status: 0, stderr: '' });
  return { log, file };
}

/** The same life with `mock-tool` in the tool's place. */
async function replayed(args: string[], live: Life) {
  await using mock = await startMockHere(args);
  return await live(mock.url);
}

const GOOD = [
  ...['TOOL-ASYNC', 'TOOL-ALWAYS', 'TOOL-POST', 'TOOL-GROUP', 'TOOL-ID', 'TOOL-ONCE'],
  ...['TOOL-OPAQUE', 'TOOL-SECRET', 'TOOL-FALLBACK', 'TOOL-DIFF', 'TOOL-SUB', 'TOOL-CANCEL', 'TOOL-CLOSE'],
  ...['TOOL-DISCOVER', 'TOOL-NAMES', 'RT-OP', 'RT-ARGS', 'RT-ID', 'RT-FIELDS', 'RT-PENDING', 'RT-SUB'],
  ...['RT-VIEW', 'RT-NOTIFY', 'RT-ACK'],
];

describe.concurrent.each<{ name: PeerName; verdicts: { pass: string[]; warn?: string[]; fail?: string[] } }>([
  {
    name: 'plain',
    verdicts: {
      pass: [...GOOD, 'TOOL-CALLID', 'TOOL-ISOLATE', 'TOOL-NOLEAK', 'TOOL-OAUTH'],
      warn: ['TOOL-ERRPREFIX'], // LM-Kit's JSON is an error, too
    },
  },
  { name: 'stdlib', verdicts: { pass: [...GOOD, 'TOOL-CHOICE', 'TOOL-OAUTH', 'RT-CHOICE'] } },
])('a session with the $name tool, recorded', ({ name, verdicts }) => {
  let session: Recorded;
  beforeAll(async () => {
    session = await recorded(name, lifeWith(name));
  });

  test('is replayed from its transcript, at once', async () => {
    expect(await replayed([session.file, '--speed', '0'], lifeWith(name))).toEqual(session.log);
  });

  test('is replayed from exported fixtures', async () => {
    const fixtures = folder.file(`${name}.yaml`);
    const { status } = await runHere(argv`mock-tool ${session.file} --export ${fixtures} --speed 0`);
    expect(status).toBe(0);
    expect(await replayed([fixtures], lifeWith(name))).toEqual(session.log);
  });

  test.runIf(name === 'stdlib')(
    'is replayed at its own pace, except for the words of canceled calls',
    async () => {
      const again = await replayed([session.file], lifeWith(name));
      expect(again.map(withoutReason)).toEqual(session.log.map(withoutReason));
    },
  );

  test('is shown with each call once', async () => {
    const { status, stdout } = await runHere(argv`render ${session.file}`);
    const calls = session.log.filter(line => !line.startsWith(' '));
    expect({ status, calls: stdout.match(/ sent \S+ to /g)?.length }).toEqual({
      status: 0,
      calls: calls.length,
    });
  });

  test('passes check', async () => {
    const { status, stdout } = await runHere(argv`check ${session.file} --reporter json`);
    const { 'not-applicable': _, ...found } = verdictsIn(stdout);
    expect({ status, ...sorted(found) }).toEqual({ status: 0, ...sorted(verdicts) });
  });
});

describe.concurrent('a session with the odd tool, recorded', () => {
  test('is replayed with its oddities', async () => {
    const { log, file } = await recorded('odd', lifeWith('odd'));
    expect(await replayed([file, '--speed', '0'], lifeWith('odd'))).toEqual(log);
  });
});

/** Asks a question, whose answer is the last choice, and subscribes to events. */
const pythonRuntime: Life = async url => {
  const child = spawn('python3', ['fixtures/runtimes/python/driver.py'], {
    env: { ...process.env, TOOL_URLS: JSON.stringify([url]) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const say = (instruction: object) => child.stdin.write(`${JSON.stringify(instruction)}\n`);
  const log: string[] = [];
  say({ do: 'invoke', operation: 'ask', arguments: {}, id: 'call_1' });
  for await (const line of createInterface(child.stdout)) {
    log.push(line);
    if (line.includes('"question"')) say({ do: 'answer', choice: 'neither' });
    if (line.includes('Chosen')) say({ do: 'invoke', operation: 'subscribe', arguments: {}, id: 'call_2' });
    if (line.includes('Event 3 of 3')) say({ do: 'end' });
  }
  return log;
};

test('a session of a runtime and a tool in Python is recorded and replayed', async () => {
  const { log, file } = await recorded('stdlib', pythonRuntime, 'python.ndjson');
  expect(log.join('\n')).toMatch(/Chosen: neither[\s\S]*Event 3 of 3/);
  expect(await replayed([file, '--speed', '0'], pythonRuntime)).toEqual(log);
});

const withoutReason = (line: string) => line.replace(/(\{\\"canceled\\":\{\\"reason\\":).*?,/, '$1');

function sorted(verdicts: object): object {
  return Object.fromEntries(Object.entries(verdicts).map(([status, ids]) => [status, ids.toSorted()]));
}
