import { execFile } from 'node:child_process';
import { lstat, readdir, readFile, symlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { startMockHere } from '../support/mock.js';
import { type Ended, run } from '../support/program.js';

/** What must have happened when the run is over, and how it is said where it did not. */
const PEERS = new URL('../../peers/', import.meta.url).href;
const FIXTURES = `
version: 1
fixtures:
  - { id: plain, match: { operation: a, arguments: { n: 1 } }, reply: { payload: b } }
  - id: twice
    match: { operation: twice }
    expect: { calls: { min: 2, max: 3 } }
    reply: { payload: again }
  - id: never
    match: { operation: never }
    expect: { calls: { max: 0 } }
    reply: { payload: oh }
`;
const GOOD = `await ok('a', { n: 1 }); await ok('twice'); await ok('twice');`;

/** As a process, whose files are named from where it is. */
async function verified(folder: Folder, script: string, ...args: string[]): Promise<Ended> {
  await written(folder, script);
  const words = ['mock-tool', 'fixtures.yaml', '-q', ...args, '--', process.execPath, 'test.mjs'];
  return run(words, { cwd: folder.path });
}

/** In this process. */
async function verifiedHere(folder: Folder, script: string, ...args: string[]): Promise<Ended> {
  const [fixtures, test] = await written(folder, script);
  const ended = await runHere(['mock-tool', fixtures, '-q', ...args, '--', process.execPath, test]);
  return { ...ended, stderr: ended.stderr.replaceAll(`${folder.path}/`, '') };
}

async function written(folder: Folder, script: string) {
  const fixtures = await folder.write('fixtures.yaml', FIXTURES);
  return [fixtures, await folder.write('test.mjs', `${PRELUDE}\n${script}\nruntime.close();\n`)] as const;
}

const PRELUDE = `
import { openRuntime } from '${PEERS}runtime.mjs';
const runtime = await openRuntime();
const ok = async (operation, args = {}, options) =>
  (await runtime.invoke(process.env.TOOL_URL, operation, args, options)).waitFor(() => true);
`;

describe.concurrent('verification of a run', () => {
  it('that passes: 0', async () => {
    await using folder = await temporaryFolder();
    const { status, stderr } = await verified(folder, GOOD);
    expect(status, stderr).toBe(0);
  });

  it('that fails: 1, with every reason; no callback URL is reported (row 25)', async () => {
    await using folder = await temporaryFolder();
    const script = `await ok('a', { n: 2 }); await ok('twice', {}, { answers: [400] }); await ok('never');`;
    const { status, stderr } = await verifiedHere(folder, script);
    for (const reason of [
      /^✗ fixture plain \(fixtures\.yaml:4, a\) was not used$/m,
      /^✗ .*\ba\b.*no fixture.*(plain).*\$\.arguments\.n/m,
      /^✗ .*\btwice\b.*400/m,
      /^✗ fixture twice .*called once, expected at least 2 and at most 3$/m,
      /^✗ fixture never \(fixtures\.yaml:9\) was called once, expected at most 0$/m,
      /^✗ verification failed: /m,
    ])
      expect(stderr).toMatch(reason);
    expect(stderr).not.toContain('canary');
    expect(status).toBe(1);
  });

  it('is written as reports for other programs, passed or failed', async () => {
    await using folder = await temporaryFolder();
    const reports = [`junit:${folder.file('r.xml')}`, `json:${folder.file('r.json')}`];
    const words = reports.flatMap(report => ['--reporter', report]);
    for (const [script, ok] of [
      [GOOD, true],
      [`await ok('a', { n: 2, text: '<&\\u0007]]>' });`, false],
    ] as const) {
      await verifiedHere(folder, script, ...words);
      expect(JSON.parse(await readFile(folder.file('r.json'), 'utf8'))).toMatchObject({ ok });
      const { tests, failures, cases } = await readJunit(folder.file('r.xml'));
      expect({ tests, failed: failures > 0 }).toEqual({ tests: cases, failed: !ok });
    }
  });

  it.each([
    ['killed', `${GOOD} process.kill(process.pid, 'SIGKILL');`, 137],
    ['failed', `${GOOD} process.exitCode = 3;`, 3],
  ])('the junit of a command that was %s is red, with real times', async (_, script, status) => {
    await using folder = await temporaryFolder();
    const ended = await verifiedHere(folder, script, '--reporter', `junit:${folder.file('r.xml')}`);
    expect([ended.status, ended.stderr]).toEqual([
      status,
      expect.stringMatching(/^✗ verification failed: .*, the command failed$/m),
    ]);
    const { failures, failed, idle } = await readJunit(folder.file('r.xml'));
    expect({ failures, failed, idle }).toEqual({
      failures: 1,
      failed: [`the command exited with status ${status}`],
      idle: ['never'],
    });
  });

  it('several reports at once; annotations and the human report are on stderr, since stdout is the command’s', async () => {
    await using folder = await temporaryFolder();
    const words = ['human:r.txt', 'markdown:r.md', 'github'].flatMap(text => ['--reporter', text]);
    const { status, stdout, stderr } = await verified(folder, `console.log('mine');`, ...words);
    expect([status, stdout]).toEqual([1, 'mine\n']);
    const text = await readFile(folder.file('r.txt'), 'utf8');
    expect(text).toMatch(/^✗ verification failed: 0 calls, 2 of 3 fixtures not as expected$/m);
    expect(stderr).toContain(text);
    expect(stderr).toMatch(/^::error file=fixtures\.yaml,line=4,title=mock-tool%3A plain::fixture plain /m);
    expect(await readFile(folder.file('r.md'), 'utf8')).toMatch(/^\| plain \| ❌ failed \| fixture plain /m);
  });

  it('the old name --report works, and a line names the new one', async () => {
    await using folder = await temporaryFolder();
    const report = `junit:${folder.file('r.xml')}`;
    const { status, stderr } = await verifiedHere(folder, GOOD, '--report', report);
    expect([status, stderr.match(/^.*--report.*$/gm)]).toEqual([
      0,
      ['warning: --report is now --reporter, and will be removed: --reporter junit:r.xml'],
    ]);
    expect((await readJunit(folder.file('r.xml'))).failures).toBe(0);
  });

  it('a report in a missing folder is an error before the start', async () => {
    await using folder = await temporaryFolder();
    const ran = `import { writeFileSync } from 'node:fs'; writeFileSync(import.meta.dirname + '/ran', '');`;
    const report = `json:${folder.file('no/where.json')}`;
    const { status, stderr } = await verifiedHere(folder, ran, '--reporter', report);
    expect([status, await readdir(folder.path)]).toEqual([2, ['fixtures.yaml', 'test.mjs']]);
    expect(stderr).toMatch(/^error: .*no\/where\.json.*: no folder no\n.*Create it first\.$/m);
  });

  it.each(['junit', 'json'])('row 26: a link in place of a %s report is replaced', async format => {
    await using folder = await temporaryFolder();
    const precious = await folder.write('precious', 'precious\n');
    await symlink(precious, folder.file('report'));
    const { status } = await verifiedHere(folder, GOOD, '--reporter', `${format}:${folder.file('report')}`);
    expect([status, await readFile(precious, 'utf8')]).toEqual([0, 'precious\n']);
    expect((await lstat(folder.file('report'))).isFile()).toBe(true);
  });

  it.each([
    ['hides no verdict', GOOD, 2],
    ['nor the status of the command', `${GOOD} process.exitCode = 3;`, 3],
  ])('a report that cannot be written at the end %s', async (_, script, expected) => {
    await using folder = await temporaryFolder();
    const report = folder.file('r.json');
    const spoil = `import { mkdirSync } from 'node:fs'; mkdirSync(${JSON.stringify(report)});`;
    const { status, stderr } = await verifiedHere(
      folder,
      `${spoil} ${script}`,
      '--reporter',
      `json:${report}`,
    );
    expect(stderr).toMatch(/^[✓✗] verif[\s\S]*^error: .*r\.json/m);
    expect(stderr.includes('✗ the command exited with status 3\n')).toBe(expected === 3);
    expect(status).toBe(expected);
  });
});

describe.concurrent('a fault of the acknowledgement', () => {
  it.each([201, 204, 404])('RT-NON200: a runtime that takes %i as a refusal passes', async status => {
    await using folder = await temporaryFolder();
    const fixture = `{ id: odd, match: { operation: a }, faults: { ack: { status: ${status} } }, reply: { payload: b } }`;
    const file = await folder.write('f.yaml', `version: 1\nfixtures: [${fixture}]\n`);
    await using mock = await startMockHere([file, '--verify']);
    const invoked = await runHere(['invoke', mock.url, 'a', '-o', 'plain']);
    expect(invoked.status).toBe(4);
    const ended = await mock.stop('SIGTERM');
    expect(ended.stderr).toMatch(/^✓ /m);
    expect(ended.status).toBe(0);
  });
});

describe.concurrent('--verify of a stopped server', () => {
  it.each([
    ['everything happened: 0', ['a', 'twice', 'twice'], 0],
    ['something did not: 1', ['a', 'twice'], 1],
  ] as const)('%s', async (_, operations, status) => {
    await using folder = await temporaryFolder();
    await using mock = await startMockHere([await folder.write('f.yaml', FIXTURES), '--verify']);
    await using runtime = await openRuntime();
    for (const operation of operations) await (await runtime.invoke(mock.url, operation, { n: 1 })).result();
    const ended = await mock.stop('SIGTERM');
    expect(ended.status).toBe(status);
    expect(ended.stderr).toMatch(status === 0 ? /^✓ /m : /^✗ verification failed: /m);
  });

  it('without --verify, a stopped server ends with 0', async () => {
    await using folder = await temporaryFolder();
    await using mock = await startMockHere([await folder.write('f.yaml', FIXTURES)]);
    expect(await mock.stop('SIGINT')).toMatchObject({ status: 0, stderr: '' });
  });

  it('a reporter verifies too; its report on stdout follows the ready line', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('f.yaml', FIXTURES);
    await using mock = await startMockHere([file, '--reporter', 'json']);
    const { status, stdout } = await mock.stop('SIGTERM');
    const [, ...report] = stdout.split('\n');
    expect([status, JSON.parse(report.join('\n'))]).toMatchObject([1, { ok: false, calls: 0 }]);
  });

  it('a callback that is under way when the time is over counts as undelivered', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write(
      'f.yaml',
      'version: 1\nfixtures: [{ match: { operation: a }, reply: { payload: b } }]\n',
    );
    await using mock = await startMockHere([file, '--verify', '--drain', '200ms']);
    await using runtime = await openRuntime();
    await runtime.invoke(mock.url, 'a', {}, { answers: () => 'hang' });
    await runtime.calls[0]?.waitFor(() => true);
    const { status, stderr } = await mock.stop();
    expect(stderr).toMatch(/^✗ .*\ba\b.*stopped before it was delivered/m);
    expect(status).toBe(1);
  });
});

interface Junit {
  readonly tests: number;
  readonly failures: number;
  /** The messages of the failures. */
  readonly failed: readonly string[];
  readonly cases: number;
  /** The names of all that took no time. */
  readonly idle: readonly string[];
}

/** As Python's XML library reads it: what is not well-formed is an error. */
async function readJunit(file: string): Promise<Junit> {
  const script = `
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == 'testsuites'
print(json.dumps({
  'tests': int(root.get('tests')),
  'failures': int(root.get('failures')),
  'failed': [f.get('message') for f in root.iter('failure')],
  'cases': len(root.findall('.//testcase')),
  'idle': [e.get('name') or e.tag for e in root.iter() if e.get('time') == '0'],
}))`;
  const { stdout } = await promisify(execFile)('python3', ['-c', script, file]);
  return JSON.parse(stdout);
}
