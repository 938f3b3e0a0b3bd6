import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { llmTextOf, outcomeOf } from '../../src/events/exchange.js';
import { History } from '../../src/events/history.js';
import { readTranscript, transcriptLineSchema } from '../../src/events/transcript-reader.js';
import { startServing } from '../support/serving.js';
import { temporaryFolder } from './support/folder.js';
import { runHere, startHere } from './support/in-process.js';
import { type Entry, fieldOf, type Peer, startPeer } from './support/peers.js';
import { argv, run, start } from './support/program.js';
import { invokeJsonHere, readReport, steady, warningsOf } from './support/report.js';
import { silentServer } from './support/sockets.js';
import { unsafeIn } from './support/text.js';

let plain: Peer;
let odd: Peer;
let stdlib: Peer;

beforeAll(async () => {
  [plain, odd, stdlib] = await Promise.all([startPeer('plain'), startPeer('odd'), startPeer('stdlib')]);
});
afterAll(() => Promise.all([plain.stop(), odd.stop(), stdlib.stop()]));

const linesOf = (text: string) => text.split('\n').filter(line => line !== '');

describe.concurrent('-o json', () => {
  it('has every member of the contract', async () => {
    const { report, stdout } = await invokeJsonHere(argv`${plain.url} edit_file path=a.txt`);
    expect(Object.keys(report)).toEqual([
      'invocation',
      'endpoint',
      'acknowledgement',
      'outcome',
      'result',
      'llm',
      'display',
      'timing',
      'callbacks',
      'forgotten',
      'subscription',
      'views',
      'choices',
      'warnings',
    ]);
    expect(report).toMatchObject({
      invocation: { operation: 'edit_file', arguments: { path: 'a.txt' }, call_id: null },
      endpoint: `${plain.url}/invoke`,
      acknowledgement: { status: 200, ms: expect.any(Number) },
      outcome: { type: 'success', basis: 'assumed' },
      llm: { text: 'Replaced text in a.txt' },
      display: { chosen: 0, type: 'diff', reason: 'the first segment', skipped: [] },
      timing: { ackMs: expect.any(Number), resultMs: expect.any(Number) },
      callbacks: [{ type: 'tool_result', verdict: 'settles', status: 200 }],
    });
    expect(warningsOf(report)).toEqual([]);
    expect(stdout.endsWith('}\n')).toBe(true);
  });

  it('without a call: `error` and the warnings', async () => {
    const { report } = await invokeJsonHere(argv`${plain.url} echoo`);
    expect(Object.keys(report)).toEqual(['warnings', 'error']);
    expect(report.error).toEqual({
      code: 'unknown-operation',
      message: expect.any(String),
      hint: expect.any(String),
    });
  });

  it('a failed call: every member up to the failure', async () => {
    const { report } = await invokeJsonHere(argv`${odd.url} silent --timeout 1s`);
    expect(report).toMatchObject({
      acknowledgement: { status: 200 },
      result: null,
      callbacks: [],
      error: { code: 'timeout' },
    });
  });
});

describe.concurrent('-o ndjson is the transcript', () => {
  it.each<[string, () => readonly string[], number]>([
    ['a result', () => [plain.url, 'edit_file', 'path=a.txt'], 0],
    ['bytes that are no text', () => [odd.url, 'invalid_utf8', '--timeout', '500ms'], 7],
    ['a refusal', () => [odd.url, 'ack_400'], 4],
    ['a call never made', () => [odd.url, 'unknown'], 2],
  ])('%s: every line fits the schema', async (_, args, status) => {
    const ended = await runHere(['invoke', ...args(), '-o', 'ndjson']);
    expect(ended.status).toBe(status);
    const lines = linesOf(ended.stdout).map(line => transcriptLineSchema.parse(JSON.parse(line)));
    expect(lines.at(0)).toMatchObject({ kind: 'header', observer: 'runtime' });
    expect(lines.at(-1)).toMatchObject({ kind: 'end' });
    const seqs = lines.flatMap(line => ('seq' in line ? [line.seq] : []));
    expect(seqs).toEqual([...seqs.keys()]);
    for (const line of lines)
      if (line.kind === 'body')
        expect(createHash('sha256').update(Buffer.from(line.data, line.encoding)).digest('hex')).toBe(
          line.sha256,
        );
  });
});

describe.concurrent('--save', () => {
  it.each<[string, () => readonly string[]]>([
    ['edit_file', () => [plain.url, 'edit_file', 'path=a.txt']],
    ['a large text', () => [plain.url, 'big', 'bytes=2000000', 'kind=mixed']],
    ['a choice', () => [stdlib.url, 'ask', '--choose', 'neither']],
    ['a byte-order mark', () => [odd.url, 'bom']],
    ['hostile text', () => [odd.url, 'hostile_text']],
    ['a timeout', () => [odd.url, 'forged_id', '--timeout', '500ms']],
    ['a refusal', () => [odd.url, 'ack_400']],
  ])('%s: read again, it equals the live run', async (_, args) => {
    await using folder = await temporaryFolder();
    const path = folder.file('run.ndjson');
    const { report } = await invokeJsonHere([...args(), '--save', path]);
    const transcript = readTranscript(linesOf(await readFile(path, 'utf8')));
    const history = new History();
    for (const event of transcript.events) history.apply(event);
    const exchange = history.first;
    expect(transcript.faults).toEqual([]);
    expect(transcript.end).toBe(report.error?.code ?? 'done');
    expect(exchange && { text: llmTextOf(exchange), outcome: outcomeOf(exchange) }).toEqual({
      text: report.llm?.text,
      outcome: report.outcome,
    });
    expect(exchange?.arrivals.map(({ verdict }) => verdict.kind)).toEqual(
      report.callbacks?.map(({ verdict }) => verdict),
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each<[string, string, (url: string) => readonly string[]]>([
    ['a file', 'earlier', url => argv`invoke ${url} echo text=a --save`],
    ['row 26: a symbolic link', 'link', url => argv`invoke ${url} echo text=a --save`],
    ['a file, with check', 'earlier', url => argv`check ${url} --save`],
    ['a file, with listen', 'earlier', () => argv`listen --count 1 --timeout 1ms --save`],
    [
      'a file in the folder, with check --runtime',
      '',
      () => argv`check --runtime true --scenario result --save`,
    ],
  ])('%s in its place is never replaced: exit 2, and nothing is called', async (_, name, words) => {
    await using folder = await temporaryFolder();
    const earlier = await folder.write(name === '' ? 'result.ndjson' : 'earlier', 'precious');
    await symlink(earlier, folder.file('link'));
    await using tool = await startServing();
    const { status, stderr } = await runHere([...words(tool.url), folder.file(name)]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error: cannot write \S+: file already exists\nhint: Give another name, or remove it first/,
      ),
    ]);
    expect(tool.requests).toEqual([]);
    expect(await readFile(earlier, 'utf8')).toBe('precious');
  });

  it('a folder in its place: exit 2, and nothing is called', async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.file('there'));
    const call = ['echo', 'text=a', '--group-id', 'unsaved', '--save', folder.file('there')];
    const { status, stderr } = await runHere(argv`invoke ${plain.url} ${call}`);
    expect(status).toBe(2);
    expect(stderr).toContain('cannot write');
    expect(JSON.stringify(await plain.log())).not.toContain('unsaved');
  });
});

describe.concurrent('stderr', () => {
  it('-q: no warnings; without it, each has its id', async () => {
    const call = ['invoke', odd.url, 'seed_diff', '-o', 'plain'];
    const [loud, quiet] = await Promise.all([runHere(call), runHere(argv`${call} -q`)]);
    expect(steady(loud.stderr)).toMatch(/^warning: display_as\[0\]: wrong line counts.* \[TOOL-DIFF\]\n$/m);
    expect(quiet).toMatchObject({ status: 0, stderr: '' });
  });

  it('-v shows both messages and the notice, as curl does', async () => {
    const { stderr } = await runHere(argv`invoke ${plain.url} echo text=seen -v`);
    expect(stderr).toMatch(/^> POST http:\/\/127\.0\.0\.1:\d+\/invoke$/m);
    expect(stderr).toMatch(/^> content-type: application\/json$/m);
    expect(stderr).toContain('"operation":"echo"');
    expect(stderr).toContain('"type":"tool_result"');
    expect(stderr).toMatch(/^> POST http:\/\/127\.0\.0\.1:\d+\/close_thread$/m);
    expect(stderr).toMatch(/^< POST \/callback\//m);
    expect([stderr.match(/^< 200$/gm)?.length, stderr.match(/^> 200$/gm)?.length]).toEqual([2, 1]);
  });
});

describe.concurrent('row 24: nothing foreign controls a terminal', () => {
  it.each(['plain', 'json', 'ndjson', 'text'])('hostile_text, -o %s -v', async output => {
    const { status, stdout, stderr } = await runHere(argv`invoke ${odd.url} hostile_text -o ${output} -v`);
    expect(status).toBe(0);
    expect(unsafeIn(stderr)).toEqual([]);
    if (output !== 'text') expect(unsafeIn(stdout)).toEqual([]);
  });

  it('-o json keeps every character', async () => {
    const ended = await runHere(argv`invoke ${odd.url} hostile_text -o json --group-id hostile`);
    const delivery = await odd.seen('delivery', ({ raw }) => raw.includes('"group_id":"hostile"'));
    expect(readReport(ended).result).toEqual(delivery.body);
  });

  it('a diff of hostile text is drawn with visible characters, which are counted', async () => {
    const { stdout } = await runHere(argv`invoke ${odd.url} hostile_text -o plain`);
    expect(stdout).toMatch(/control or invisible characters shown/);
    expect(stdout).toContain('␛]0;owned title␇');
    expect(stdout).toContain('<U+202E>override');
  });

  it('the text of a refusal is made visible too', async () => {
    const { stderr } = await runHere(
      argv`invoke ${odd.url} big_header --timeout 500ms --group-id ${'\u001b[2J'}`,
    );
    expect(unsafeIn(stderr)).toEqual([]);
  });
});

it.concurrent('toolset -o json is the document', async () => {
  const { stdout } = await runHere(argv`toolset ${plain.url} -o json`);
  const served: unknown = await (await fetch(`${plain.url}/.well-known/rap-toolset`)).json();
  expect(JSON.parse(stdout)).toMatchObject(served ?? {});
});

describe.concurrent('exit status (contract)', () => {
  it.each([
    [0, ['--version']],
    [2, ['invoke', '--demos']],
  ])('%i: %j, as a process', async (status, args) => {
    const ended = await run(args);
    expect(ended.status, ended.stderr.slice(0, 500)).toBe(status);
  });
});

describe.concurrent('signals: the tool is notified, and our own thread is closed (RT-NOTIFY)', () => {
  describe.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s', (signal, status) => {
    it('while waiting for the result: sends cancel and close notices, then exits', async () => {
      const { ended, invocation } = await interrupted('silent', signal);
      const { status: came, stderr, stdout } = await ended;
      expect(came).toBe(status);
      expect(stderr).toContain('interrupted');
      expect(stdout).toBe('{"canceled":{"by":"user"}}');
      const notices = await noticesAbout(fieldOf(invocation, 'group_id'));
      expect(notices.map(({ what, body }) => ({ what, body }))).toEqual([
        {
          what: 'cancel_tool_call',
          body: { thread_id: fieldOf(invocation, 'group_id'), tool_call_id: fieldOf(invocation, 'id') },
        },
        { what: 'close_thread', body: { thread_id: fieldOf(invocation, 'group_id') } },
      ]);
    });
  });

  it('a given thread stays open; the call is canceled', async () => {
    const { ended } = await interruptedHere('silent', '--group-id', 'their-thread');
    expect((await ended).status).toBe(130);
    expect((await noticesAbout('their-thread')).map(({ what }) => what)).toEqual(['cancel_tool_call']);
  });

  it('while waiting for the acknowledgement', async () => {
    const { ended, invocation } = await interruptedHere('ack_hang');
    expect((await ended).status).toBe(130);
    const notices = await noticesAbout(fieldOf(invocation, 'group_id'));
    expect(notices.map(({ what }) => what)).toEqual(['cancel_tool_call', 'close_thread']);
  });

  it('before the call', async () => {
    await using server = await silentServer();
    const { interrupt, ended } = startHere(argv`invoke ${server.url} echo`);
    await server.connected();
    interrupt();
    const { status, stderr } = await ended;
    expect(status).toBe(130);
    expect(stderr).toContain('interrupted before the tool was called');
  });
});

/** A process that is sent a signal as soon as the tool has its call. */
async function interrupted(operation: string, signal: NodeJS.Signals) {
  const id = `${operation}-${signal}`;
  const { child, ended } = start(waiting(operation, id));
  const invocation = await calledAs(id);
  child.kill(signal);
  return { ended, invocation };
}

async function interruptedHere(operation: string, ...more: readonly string[]) {
  const id = `${operation}-here`;
  const { interrupt, ended } = startHere(argv`${waiting(operation, id)} ${more}`);
  const invocation = await calledAs(id);
  interrupt();
  return { ended, invocation };
}

const waiting = (operation: string, id: string) => [
  'invoke',
  odd.url,
  operation,
  '--id',
  id,
  '--timeout',
  '0',
];
const calledAs = (id: string) => odd.seen('invocation', entry => fieldOf(entry, 'id') === id);

async function noticesAbout(thread: string): Promise<Entry[]> {
  const log = await odd.log();
  return log.filter(entry => fieldOf(entry, 'thread_id') === thread);
}
