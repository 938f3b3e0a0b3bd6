import { mkdir, readdir, readFile, rmdir, stat } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { CheckFlags } from '../../../src/commands/check/plan.js';
import { runCheck } from '../../../src/commands/check/run.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import { Content } from '../../../src/events/content.js';
import type { Fact } from '../../../src/events/events.js';
import { ProtocolCliError } from '../../../src/util/errors.js';
import { discovery, notice, planned, someCall, stray } from '../../check/samples/parts.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import {
  acknowledged,
  call,
  INVOCATION,
  KEY,
  loaded,
  type Moment,
  resultArrives,
} from '../../events/build.js';
import type { ProbeOptions } from '../../probes/probing.js';
import { errorOf } from '../../support/failing.js';

/* `check <url>` with fake probes: their arguments, and how their recordings are reported. */

const URL = 'http://127.0.0.1:3001';

const FLAGS: CheckFlags = {
  probeTimeout: 5_000,
  callbackHost: '127.0.0.1',
  callbackPort: 0,
  color: false,
  given: [],
};

const ONLY_ACK = { only: ['TOOL-ACK'] } as const satisfies Partial<CheckFlags>;

const TOKEN = 'tok_0123456789abcdef';

const OURS = { ...INVOCATION, callback_url: `http://127.0.0.1:4000/callback/${TOKEN}` };

const LONG_ID = 'call_3f0b9c1e-77aa-4c55-9a44-0d6d5f6b2f01';

const GOOD: readonly (readonly Moment[])[] = [call({ invocation: OURS }), acknowledged(), resultArrives()];

const REFUSED: readonly (readonly Moment[])[] = [
  call({ invocation: OURS }),
  [
    {
      kind: 'response',
      leg: 'try-1',
      status: 500,
      headers: {},
      calls: [KEY],
      body: new Content(Buffer.from(TOKEN)),
    },
  ],
];

type Probes = (options: ProbeOptions) => Promise<void>;

const seeing =
  (...parts: readonly (readonly Moment[])[]): Probes =>
  async ({ wire }) => {
    for (const { at: _, ...fact } of parts.flat()) wire.log.emit({ ...(fact as Fact) });
  };

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function check(
  flags: Partial<CheckFlags>,
  probes: Probes,
  env: Terminal['env'] = {},
  url = URL,
  isTTY = false,
): Promise<Ran> {
  const [stdout, stderr] = [gatherer(), gatherer()];
  const terminal = {
    stdin: Readable.from([]),
    stdout: stdout.stream,
    stderr: Object.assign(stderr.stream, { isTTY }),
    env,
    afterDashes: null,
    cwd: '/',
    home: '/',
    announceUserCode: () => {},
    interrupt: () => {},
  } as unknown as Terminal;
  const status = await runCheck(url, { ...FLAGS, ...flags }, terminal, probes);
  return { status, stdout: stdout.text(), stderr: stderr.text() };
}

function gatherer() {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}

test('probes get the options, the selected rules, and cases that are read before anything is sent', async () => {
  await using folder = await temporaryFolder();
  const cases = await folder.write('c.yaml', 'version: 1\ncases: [{ operation: a }]');
  const options: ProbeOptions[] = [];
  const flags: Partial<CheckFlags> = { cases, operation: ['deploy'], header: ['X-Key: secret-key'] };
  await check({ ...flags, only: ['TOOL-ID', 'TOOL-ACK'], skip: ['TOOL-ACK'] }, async given => {
    options.push(given);
  });
  expect(options).toMatchObject([
    {
      ...{ operations: ['deploy'], cases: [{ operation: 'a', place: `${cases}:2` }] },
      wire: { url: URL, headers: { 'x-key': 'secret-key' } },
    },
  ]);
  const wants = options[0]?.wants ?? (() => null);
  expect([wants('TOOL-ID'), wants('TOOL-ACK'), wants('TOOL-SUB')]).toEqual([true, false, false]);
  const broken = await folder.write('broken.yaml', 'version: 1');
  const error = await errorOf(() => check({ cases: broken }, () => Promise.reject(new Error('probed'))));
  expect(error.code).toBe('invalid-fixtures');
});

describe('exit status', () => {
  test.each<[number, string, Partial<CheckFlags>, Probes]>([
    [0, 'what was seen is right', ONLY_ACK, seeing(...GOOD)],
    [1, 'a rule is broken', ONLY_ACK, seeing(...REFUSED)],
    [3, 'nothing was seen', ONLY_ACK, seeing()],
    [
      3,
      'what was meant to be seen was not',
      ONLY_ACK,
      seeing([{ kind: 'planned', by: 'probe', plan: 'x', checks: ['TOOL-ACK'] }]),
    ],
  ])('%i: %s', async (status, _, flags, probes) => {
    expect((await check(flags, probes)).status).toBe(status);
  });

  test.each(['unreachable', 'no-discovery'] as const)(
    '%s is reported as an error, without a report',
    async code => {
      await using folder = await temporaryFolder();
      const save = folder.file('run.ndjson');
      const reporter = [{ format: 'json', file: folder.file('report.json') }] as const;
      const failing: Probes = async ({ wire }) => {
        wire.log.emit({ kind: 'warned', message: 'an event' });
        throw new ProtocolCliError(code, 'no one is there');
      };
      expect((await errorOf(() => check({ save, reporter }, failing))).code).toBe(code);
      expect(await readdir(folder.path)).toEqual(['run.ndjson']);
      expect(await readFile(save, 'utf8')).toContain(`"reason":"${code}"`);
    },
  );

  test('an internal error is not a verdict', async () => {
    await expect(check({}, () => Promise.reject(new TypeError('ours')))).rejects.toThrow('ours');
  });
});

describe('stopped by a signal', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s: %i, prints the failures so far, and no report', async (signal, status) => {
    await using folder = await temporaryFolder();
    const file = folder.file('report.json');
    const save = folder.file('run.ndjson');
    const ended = await check({ ...ONLY_ACK, save, reporter: [{ format: 'json', file }] }, async options => {
      await seeing(...REFUSED)(options);
      process.emit(signal, signal);
      await new Promise(() => {}); // never ends on its own
    });
    expect(ended.status).toBe(status);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toMatch(/^interrupted; 1 failure so far\n✗ TOOL-ACK/);
    expect(ended.stderr).not.toContain(TOKEN);
    expect(await readdir(folder.path)).toEqual(['run.ndjson']);
    expect(await readFile(save, 'utf8')).toContain('"reason":"interrupted"');
  });
});

test('a call canceled by a signal is in the transcript, before its end', async () => {
  await using folder = await temporaryFolder();
  const save = folder.file('run.ndjson');
  await check({ ...ONLY_ACK, save }, async options => {
    const { wire, signal } = options;
    await seeing(call({ invocation: OURS }))(options);
    const calledOff = new Promise(resolve => signal.addEventListener('abort', resolve));
    process.emit('SIGINT', 'SIGINT');
    await calledOff;
    await new Promise(setImmediate);
    wire.log.emit({ kind: 'broken', leg: 'try-1', phase: 'send', code: 'ABORTED', calls: [KEY] });
  });
  const [last, end] = (await readFile(save, 'utf8')).trimEnd().split('\n').slice(-2);
  expect(JSON.parse(last ?? '')).toMatchObject({ kind: 'broken', code: 'ABORTED' });
  expect(JSON.parse(end ?? '')).toMatchObject({ kind: 'end', reason: 'interrupted' });
});

describe('what failed is repeated', () => {
  /** Runs these probes, one after the other; the last one again and again. */
  const inTurn = (...runs: readonly Probes[]) => {
    const given: ProbeOptions[] = [];
    const probes: Probes = async options => {
      given.push(options);
      await (runs[given.length - 1] ?? runs.at(-1))?.(options);
    };
    return { given, probes };
  };

  test('two more times, with the rules that failed and the same options', async () => {
    const { given, probes } = inTurn(seeing(...REFUSED));
    const { status, stdout } = await check(ONLY_ACK, probes);
    expect([status, given.length]).toEqual([1, 3]);
    expect(given.map(({ repeats }) => repeats?.map(({ id }) => id))).toEqual([
      undefined,
      ['TOOL-ACK'],
      ['TOOL-ACK'],
    ]);
    expect(given.map(({ wants }) => wants('TOOL-ACK') && !wants('TOOL-ID'))).toEqual([true, true, true]);
    expect(stdout).toContain('    runs      3 of 3 failed\n');
  });

  test.each<[string, Partial<CheckFlags>, Probes]>([
    ['a pass', ONLY_ACK, seeing(...GOOD)],
    ['a warning', { only: ['TOOL-CLOSE'], strict: true }, seeing(notice('close', { status: 404 }))],
    ['a rule that could not run', ONLY_ACK, seeing(planned(['TOOL-ACK']))],
  ])('%s is not', async (_, flags, probes) => {
    const run = inTurn(probes);
    await check(flags, run.probes);
    expect(run.given).toHaveLength(1);
  });

  test('a tool that is gone afterwards fails by one observation, and the report says so', async () => {
    const gone: Probes = () => Promise.reject(new ProtocolCliError('unreachable', 'no one is there'));
    const { status, stdout } = await check(ONLY_ACK, inTurn(seeing(...REFUSED), gone).probes);
    expect(stdout).toContain('    runs      1 observation; not repeated: no one is there\n');
    expect(status).toBe(1);
  });

  test('a signal meanwhile: the failures so far are printed, and no report', async () => {
    const stopped: Probes = async () => {
      process.emit('SIGINT', 'SIGINT');
      await new Promise(() => {}); // never ends on its own
    };
    const { status, stdout, stderr } = await check(ONLY_ACK, inTurn(seeing(...REFUSED), stopped).probes);
    expect([status, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/^interrupted; 1 failure so far\n✗ TOOL-ACK/);
    expect(stderr).toContain('    runs      1 observation; not repeated: interrupted\n');
  });

  test('refuses a transcript of a repetition that would replace a file, before anything is sent', async () => {
    await using folder = await temporaryFolder();
    await folder.write('run.3.ndjson', 'mine');
    const save = folder.file('run.ndjson');
    const error = await errorOf(() => check({ save }, () => Promise.reject(new Error('probed'))));
    expect(error).toMatchObject({
      code: 'unwritable-file',
      message: expect.stringContaining('run.3.ndjson'),
    });
    expect(await readdir(folder.path)).toEqual(['run.3.ndjson']);
  });

  test('the progress names the rules and the run', async () => {
    const failing: Probes = async options => {
      options.onProgress(0, 2, 'p');
      await seeing(...REFUSED)(options);
    };
    const { stderr } = await check(ONLY_ACK, failing, {}, URL, true);
    expect(stderr).toContain('checking … 0 of 2');
    expect(stderr).toContain('repeating what failed: TOOL-ACK (run 3 of 3) … 0 of 2');
  });
});

describe('other output', () => {
  test('row 25: a consent URL goes to stderr whole, and nowhere else', async () => {
    const consent = 'https://auth.example/consent?state=s3cr3t';
    const { stdout, stderr } = await check(ONLY_ACK, async options => {
      options.onConsent(`${consent}\u001b[2J`);
      await seeing(...GOOD)(options);
    });
    expect(stderr).toBe(`visit this URL to continue: ${consent}␛[2J\n`);
    expect(stdout).not.toContain('s3cr3t');
  });

  test('prints warnings once each, unless -q', async () => {
    const warned: Moment[] = [{ kind: 'warned', message: 'odd' }];
    const { stderr } = await check(ONLY_ACK, seeing(warned, warned, ...GOOD));
    expect(stderr).toBe('warning: odd (2 times)\n');
    expect((await check({ ...ONLY_ACK, quiet: true }, seeing(warned, ...GOOD))).stderr).toBe('');
  });

  test('row 25: the query of the URL is in no report; a warning says that it is not sent', async () => {
    const url = `${URL}/tools?key=s3cr3t-key`;
    for (const format of ['human', 'json', 'junit', 'github', 'markdown'] as const) {
      const flags = { ...ONLY_ACK, reporter: [{ format, file: null }] };
      const { stdout, stderr } = await check(flags, seeing(...GOOD), {}, url);
      expect(stdout + stderr).not.toContain('s3cr3t-key');
      expect(stdout).toContain('/tools');
      expect(stderr).toMatch(/^warning: the query of the URL is not sent/);
    }
  });

  test('row 25: no token and no credential in any report', async () => {
    const flags = { ...ONLY_ACK, bearer: 'bearer-secret' };
    for (const format of ['human', 'json', 'junit', 'github', 'markdown'] as const) {
      const { stdout } = await check({ ...flags, reporter: [{ format, file: null }] }, seeing(...REFUSED));
      expect(stdout).toContain('TOOL-ACK');
      expect(stdout).not.toMatch(/tok_0123|bearer-secret/);
    }
  });
});

test('progress is one line on a terminal that is overwritten, and cleared for other text', async () => {
  const CLEAR = '\r\u001b[2K';
  const probes: Probes = async ({ onProgress, onConsent }) => {
    onProgress(1, 3, 'p');
    onProgress(1, 3, 'p');
    onConsent('http://a/');
  };
  const { stderr } = await check(ONLY_ACK, probes, {}, URL, true);
  const progress = `${CLEAR}checking … 1 of 3 · p`;
  expect(stderr).toBe(
    `${CLEAR}checking …${progress}${CLEAR}visit this URL to continue: http://a/\n${progress}${CLEAR}`,
  );
  for (const [flags, env, isTTY] of [
    [{}, {}, false],
    [{}, { TERM: 'dumb' }, true],
    [{ quiet: true }, {}, true],
  ] as const) {
    const plain = await check({ ...ONLY_ACK, ...flags }, probes, env, URL, isTTY);
    expect(plain.stderr).toBe('visit this URL to continue: http://a/\n');
  }
});

describe('the call of a finding', () => {
  const refused = seeing(...REFUSED);

  test('is located in the saved transcript by its line', async () => {
    await using folder = await temporaryFolder();
    const save = folder.file('run.ndjson');
    const { stdout } = await check({ ...ONLY_ACK, save }, refused);
    const [, line = ''] = /call {6}edit_file · \S+ · \S*run\.ndjson:(\d+)\n/.exec(stdout) ?? [];
    const saved = (await readFile(save, 'utf8')).split('\n')[Number(line) - 1];
    expect(JSON.parse(saved ?? '')).toMatchObject({ kind: 'request', purpose: 'invocation' });
    const reporter = [{ format: 'json' as const, file: null }];
    const { checks } = JSON.parse((await check({ ...ONLY_ACK, save, reporter }, refused)).stdout);
    expect(checks[0].calls).toEqual([{ operation: 'edit_file', id: KEY, line: Number(line) }]);
  });

  test('has its full id if nothing was saved', async () => {
    const lone = seeing(call({ invocation: { ...OURS, id: LONG_ID } }), ...REFUSED.slice(1));
    expect((await check(ONLY_ACK, lone)).stdout).toContain(`call      edit_file · ${LONG_ID}\n`);
  });
});

test('row 25: a credential that a tool sends is found, and neither reported nor saved, whichever rule is selected', async () => {
  const secret = `ghp_${'a1'.repeat(18)}`;
  const leaky = [...GOOD.slice(0, 2), resultArrives({ text: `it is ${secret}` })];
  for (const [id, status] of [
    ['TOOL-SECRET', 1],
    ['TOOL-ACK', 0],
  ] as const) {
    await using folder = await temporaryFolder();
    const save = folder.file('run.ndjson');
    const reporter = [{ format: 'json', file: null }] as const;
    const ran = await check({ only: [id], save, reporter }, seeing(...leaky));
    expect(ran.status).toBe(status);
    expect(await readFile(save, 'utf8')).toContain('it is [redacted]');
    expect(ran.stdout + (await readFile(save, 'utf8'))).not.toContain(secret);
  }
});

describe('the report for people', () => {
  const a = someCall('a');
  const begun = [a.begun()];
  const reportOf = async (...parts: readonly (readonly Moment[])[]) =>
    (await check({}, seeing(...parts))).stdout;

  test('says that an invalid call was made and got no result', async () => {
    const b = someCall('b', { operation: 'no_such_operation' });
    const checks = planned(['TOOL-VALIDATE', 'TOOL-ISOLATE']);
    const silent = [discovery(), checks, b.begun(), ...begun, b.waited()];
    const report = await reportOf(...silent);
    expect(report).toMatch(/\? TOOL-VALIDATE .*\n {4}an unknown operation got no result within 5s\n/);
    expect(report).toMatch(/\? TOOL-ISOLATE .*\n {4}no two calls with callbacks ran at the same time\n/);
  });

  test('says once why rules could not run: no call was acknowledged, so none had a callback', async () => {
    const checks = planned(['TOOL-ASYNC', 'TOOL-ALWAYS', 'TOOL-POST', 'TOOL-VALIDATE']);
    const unanswered = a.begun({ status: null, code: 'ETIMEDOUT' });
    const report = await reportOf(discovery(), checks, unanswered, a.waited());
    expect(report).toMatch(/\n {2}TOOL-ACK failed: TOOL-ASYNC, TOOL-ALWAYS, TOOL-POST, TOOL-VALIDATE\n/);
    expect(report).not.toContain('Could not run\n');
  });

  test('lists the cause of several failures first', async () => {
    const b = someCall('b');
    const wrong = [b.begun(), b.result({ id: 'other' })];
    const report = await reportOf(...wrong, ...begun, stray({ type: 'tool_result', id: 'x' }), a.waited());
    expect(report).toMatch(/^Failed\n✗ TOOL-OPAQUE [\s\S]*\n✗ TOOL-ID /m);
  });

  test('says once, and what to do, if no operation of the toolset was called', async () => {
    const checks = planned(['TOOL-ALWAYS', 'TOOL-RETRY']);
    const report = await reportOf(discovery(), loaded({ operations: ['shout'] }), checks);
    expect(report).toMatch(
      /^Could not run, since no operation of the toolset was called\n {2}TOOL-ALWAYS, TOOL-RETRY\n {2}to do {5}Check again with --operation shout,/m,
    );
    expect(report).not.toMatch(/^\? TOOL-/m);
    const called = await reportOf(discovery(), loaded({ operations: ['edit_file'] }), checks, ...begun);
    expect(called).toMatch(/^Could not run\n\? TOOL-/m);
  });

  test('names a rule beside another one that the same messages broke by the same fact', async () => {
    const wrong = someCall('wrong', { arguments: { path: 5 } });
    const report = await reportOf(discovery(), wrong.begun(), wrong.result());
    expect(report).toMatch(/^Warnings\n• TOOL-VALIDATE /m);
    expect(report).toMatch(/^ {4}also {6}TOOL-BAD-ARGS {2}SHOULD {2}answers arguments that do not match /m);
    expect(report).toMatch(/^ {4}to do {5}Look up the operation .* Answer 200, then send a tool_result /m);
    expect(report).not.toMatch(/^• TOOL-BAD-ARGS/m);
    const two = await reportOf(discovery(), a.begun(), a.result({ group_id: 'x', call_id: 'y' }));
    expect(two).toMatch(/^✗ TOOL-GROUP [\s\S]*^✗ TOOL-CALLID /m);
  });

  test('says once why several rules do not apply', async () => {
    const save = [a.begun(), a.result()];
    await using folder = await temporaryFolder();
    const file = folder.file('run.ndjson');
    await check({ save: file }, seeing(...save));
    const { stdout } = await check({}, seeing(), {}, file);
    expect(stdout.match(/not visible in HTTP traffic/g)).toHaveLength(1);
  });
});

describe('reports', () => {
  test('writes several: to files, and the human format to stdout', async () => {
    await using folder = await temporaryFolder();
    const reporter = (['json', 'junit', 'github', 'markdown'] as const).map(format => ({
      format,
      file: folder.file(format),
    }));
    const { status, stdout } = await check({ ...ONLY_ACK, reporter }, seeing(...GOOD));
    expect(status).toBe(0);
    expect(stdout).toContain('✓ passed');
    for (const { file } of reporter) {
      expect(await readFile(file, 'utf8')).toMatch(/passed|TOOL-ACK/);
      expect((await stat(file)).mode & 0o777).toBe(0o644);
    }
  });

  test('detects a missing folder before anything is sent', async () => {
    const reporter = [{ format: 'json', file: '/nowhere/at/all/report.json' }] as const;
    const error = await errorOf(() => check({ reporter }, () => Promise.reject(new Error('probed'))));
    expect(error.message).toContain('no folder /nowhere/at/all');
  });

  test('a failed write is reported, does not affect other reports, and does not hide a failure of the tool', async () => {
    await using folder = await temporaryFolder();
    const taken = folder.file('taken');
    const reporter = [
      { format: 'json', file: taken },
      { format: 'junit', file: folder.file('junit.xml') },
    ] as const;
    const takes =
      (probes: Probes): Probes =>
      async options => {
        await mkdir(taken, { recursive: true });
        await probes(options);
      };
    const { status, stderr } = await check({ ...ONLY_ACK, reporter }, takes(seeing(...GOOD)));
    expect(status).toBe(2);
    await rmdir(taken);
    expect((await check({ ...ONLY_ACK, reporter }, takes(seeing(...REFUSED)))).status).toBe(1);
    expect(stderr).toMatch(/^error: cannot write/);
    expect(await readFile(folder.file('junit.xml'), 'utf8')).toContain('TOOL-ACK');
  });

  test('github adds a table to the summary of the job', async () => {
    await using folder = await temporaryFolder();
    const GITHUB_STEP_SUMMARY = await folder.write('summary.md', '# Before\n');
    const reporter = [{ format: 'github', file: null }] as const;
    const { stdout } = await check({ ...ONLY_ACK, reporter }, seeing(...REFUSED), { GITHUB_STEP_SUMMARY });
    expect(stdout).toMatch(/^::error title=TOOL-ACK \(MUST\)::answered 500/);
    const summary = await readFile(GITHUB_STEP_SUMMARY, 'utf8');
    expect(summary).toMatch(/^# Before\n### protocol-cli check\n/);
    expect(summary).toContain('| TOOL-ACK | MUST |');
  });

  test('an unwritable summary is a warning', async () => {
    const reporter = [{ format: 'github', file: null }] as const;
    const env = { GITHUB_STEP_SUMMARY: '/nowhere/at/all' };
    const { status, stderr } = await check({ ...ONLY_ACK, reporter }, seeing(...GOOD), env);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^warning: could not write the GitHub step summary/);
  });
});
