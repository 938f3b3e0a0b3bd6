import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { REQUIREMENT_IDS } from '../../../src/protocol/requirements.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { ROOT, run } from '../support/program.js';
import { unsafeIn } from '../support/text.js';

/** `check` of what someone saved. */
const FOLDER = `${ROOT}fixtures/transcripts/`;
const DIFF = `${FOLDER}diff.ndjson`;
const check = (...args: string[]) => runHere(['check', ...args]);

async function reportOf(...args: string[]) {
  const { status, stdout } = await check(...args, '--reporter', 'json');
  return { status, report: JSON.parse(stdout) };
}

const idsOf = (report: { checks: { id: string }[] }) => report.checks.map(({ id }) => id);

describe.concurrent('a transcript', () => {
  it('is judged on both sides or on one', async () => {
    const { report } = await reportOf(DIFF);
    expect(report.target).toBe(DIFF);
    expect(idsOf(report)).toEqual(expect.arrayContaining(['TOOL-ACK', 'RT-OP']));
    expect(idsOf((await reportOf(DIFF, '--side', 'tool')).report)).not.toContain('RT-OP');
    expect(idsOf((await reportOf(DIFF, '--side', 'runtime')).report)).not.toContain('TOOL-ACK');
  });

  it('can come from standard input', async () => {
    const { status, stdout } = await run(['check', '-', '--only', 'tool-ack'], { stdin: readFileSync(DIFF) });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^check standard input\n/);
  });

  it('row 24: is printed with control characters made visible', async () => {
    for (const name of readdirSync(FOLDER)) {
      const { stdout, stderr } = await check(`${FOLDER}${name}`);
      expect(unsafeIn(stdout + stderr)).toEqual([]);
    }
  });

  it('without anything to judge does not pass', async () => {
    await using folder = await temporaryFolder();
    const [header = ''] = readFileSync(DIFF, 'utf8').split('\n');
    expect((await check(await folder.write('empty.ndjson', `${header}\n`))).status).toBe(3);
  });

  it('that breaks a rule fails', async () => {
    await using folder = await temporaryFolder();
    const text = readFileSync(DIFF, 'utf8').replaceAll(/("kind":"response"[^\n]*"status":)200/g, '$1201');
    const { status, stdout } = await check(await folder.write('bad.ndjson', text), '--only', 'TOOL-ACK');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^✗ TOOL-ACK {2}MUST[\s\S]*answered 201[\s\S]*→ 201/m);
  });
});

const LINES = readFileSync(DIFF, 'utf8').trimEnd().split('\n');
const DROPPED = '{"kind":"dropped","what":"event","why":"too slow","count":3,"seq":6,"at":9}';

it('row 25: the report contains no tokens of callback URLs, not even short ones', async () => {
  await using folder = await temporaryFolder();
  const text = readFileSync(DIFF, 'utf8')
    .replaceAll('[redacted]', 'hunter42')
    .replaceAll('"status":200', '"status":201');
  expect(text).toContain('/hunter42');
  const { stdout, stderr } = await check(await folder.write('run.ndjson', text));
  expect(stdout).toMatch(/^✗ TOOL-ACK[\s\S]*callback/m);
  expect(stdout).not.toContain('TOOL-OPAQUE  MUST');
  expect(stdout + stderr).not.toContain('hunter42');
});

describe.concurrent('an incomplete transcript', () => {
  const ACK = LINES.findIndex(line => line.includes('"kind":"response"') && line.includes('call_')) + 1;
  const BODY = LINES.findIndex(line => line.includes('"kind":"body"')) + 1;

  it.each<[string, readonly string[], number, RegExp]>([
    ['a torn line', [...LINES, '{"kind":"resp'], LINES.length + 1, /not valid JSON/],
    ['a damaged line', LINES.map((line, index) => (index === 4 ? line.slice(3) : line)), 5, /not valid JSON/],
    ['a line that is gone', LINES.toSpliced(ACK - 1, 1), ACK + 1, /1 event is missing before it/],
    [
      'a body that is gone',
      LINES.toSpliced(BODY - 1, 1),
      BODY,
      /refers to a body that is not in the lines before/,
    ],
    [
      'events that were not written',
      LINES.toSpliced(-1, 0, DROPPED),
      LINES.length,
      /3 events are not written/,
    ],
  ])('does not pass: %s', async (_, lines, line, says) => {
    await using folder = await temporaryFolder();
    const file = await folder.write('lossy.ndjson', `${lines.join('\n')}\n`);
    const { status, report } = await reportOf(file);
    expect(status).toBe(3);
    expect(report.verdict).toBe('incomplete');
    expect(report.gaps).toContainEqual({ place: `${file}:${line}`, reason: expect.stringMatching(says) });
  });

  const events = (lines: readonly string[]) => lines.filter(line => line.includes('"seq"')).length;

  it.each<[string, readonly string[], readonly RegExp[]]>([
    ['its beginning', LINES.slice(4), [/header is missing/, /events? (?:is|are) missing before it/]],
    ['its first events', LINES.toSpliced(1, 4), [/events? (?:is|are) missing before it/]],
    ['its header', LINES.slice(1), [/header is missing/]],
    ['its end', LINES.slice(0, 11), [/no end line: the recording program is still running/]],
    ['its end line', LINES.slice(0, -1), [/no end line/]],
  ])('does not pass: %s', async (_, lines, says) => {
    expect(events(lines)).toBeGreaterThan(0);
    await using folder = await temporaryFolder();
    const { status, report } = await reportOf(await folder.write('cut.ndjson', `${lines.join('\n')}\n`));
    expect(status).toBe(3);
    expect(report.verdict).toBe('incomplete');
    const reasons = report.gaps.map(({ reason }: { reason: string }) => reason);
    for (const words of says) expect(reasons).toContainEqual(expect.stringMatching(words));
  });

  it('is named incomplete in every report', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('torn.ndjson', `${LINES.join('\n')}\n{"kind":"resp`);
    const place = `${file}:${LINES.length + 1}`;
    for (const reporter of ['human', 'json', 'junit', 'github', 'markdown']) {
      const { status, stdout } = await check(file, '--reporter', reporter);
      expect(status).toBe(3);
      expect(stdout).toContain('not valid JSON');
      expect(stdout).toContain(place);
    }
  });

  it('fails if it breaks a rule for sure', async () => {
    await using folder = await temporaryFolder();
    const text = LINES.join('\n').replaceAll(/("kind":"response"[^\n]*"status":)200/g, '$1201');
    const { status, report } = await reportOf(await folder.write('bad.ndjson', `${text}\n{"kind":"resp`));
    expect(status).toBe(1);
    expect(report.gaps).toHaveLength(1);
  });

  it('does not fail for events that may be missing', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('lossy.ndjson', LINES.toSpliced(ACK - 1, 1).join('\n'));
    const { status, stdout } = await check(file, '--only', 'TOOL-ACK');
    expect(status).toBe(3);
    expect(stdout).toMatch(/\? TOOL-ACK[\s\S]*no acknowledgement; the recording is incomplete/);
  });
});

it('a file with several recordings is refused, also with other output between them', async () => {
  await using folder = await temporaryFolder();
  const served = `{"port":1,"url":"http://127.0.0.1:1"}\n${LINES.join('\n')}\n`;
  const { status, stderr } = await check(await folder.write('joined.ndjson', served + served));
  expect(status).toBe(2);
  expect(stderr).toContain('joined.ndjson holds 2 recordings');
});

describe.concurrent('a file that is not a transcript', () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ['a compressed one', gzipSync(LINES.join('\n')), /it is not valid UTF-8\nhint: Is it compressed/],
    ['a result', '{"type":"tool_result","group_id":"a","id":"b","text":"c"}', /it is not a transcript/],
    ['a diff', '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n', /it is not a transcript/],
    ['bytes', '\u0000\u0001\ufffd', /it is not a transcript/],
    ['nothing', '\n', /it is empty/],
    [
      'another version of it',
      '{"kind":"header","format":"protocol-cli-transcript/9"}\n',
      /no line of .* could be read/,
    ],
  ])('%s', async (_, text, says) => {
    await using folder = await temporaryFolder();
    const { status, stdout, stderr } = await check(await folder.write('it', text));
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(says);
    expect(unsafeIn(stderr)).toEqual([]);
  });

  it('gets a hint to use render', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('r.json', '{"type":"tool_result"}');
    expect((await check(file)).stderr).toContain('protocol-cli render');
  });
});

describe.concurrent('usage', () => {
  it.each<[string, string[], RegExp]>([
    ['nothing is named', [], /nothing to check given/],
    ['a file that is not there', ['run.ndjson'], /cannot read run\.ndjson: no such file/],
    ['a document that is not there', ['run.md'], /cannot read run\.md: no such file/],
    ['a program', ['server.py'], /server\.py is the name of a file, .*\n.*--command/],
    ['a word', ['edit_file'], /edit_file is not a file and not a URL/],
    ['a URL that is invalid', ['http://'], /invalid URL/],
    ['two subjects', [':3001', ':3002'], /too many arguments for 'check'/],
    ['a subject beside --demo', [DIFF, '--demo'], /unexpected argument/],
    ['a URL beside --demo', [':3001', '--demo'], /--demo and a URL exclude each other/],
    ['--demo and --command', ['--demo', '--command', 'x'], /exclude each other/],
    ['an option of a live check', [DIFF, '--operation', 'a'], /--operation needs a running tool/],
    ['--save of what is saved', [DIFF, '--save', 'a'], /--save needs a running tool/],
    ['a header for a file', [DIFF, '-H', 'a: b'], /--header needs a running tool/],
    ['a side of a live check', [':3001', '--side', 'runtime'], /--side needs a transcript/],
    ['a rule of ourselves', [':3001', '--only', 'RT-OP'], /--only RT-OP: this check covers the tool only/],
    ['a rule of the other side', [DIFF, '--side', 'tool', '--only', 'RT-OP'], /covers the tool only/],
    ['an unknown rule', [DIFF, '--only', 'TOOL-AKC'], /Did you mean "TOOL-ACK"/],
    ['an unknown rule to skip', [DIFF, '--skip', 'x'], /--skip.*unknown rule "x"/],
    ['an unknown reporter', [DIFF, '--reporter', 'tap'], /human, json, junit, github, markdown/],
    [
      'two on stdout',
      [DIFF, '--reporter', 'json', '--reporter', 'human'],
      /json and --reporter human would both write to stdout/,
    ],
    ['cases that are not there', [DIFF, '--cases', '/nowhere/c.yaml'], /cannot read \/nowhere\/c\.yaml/],
    ['a duration that is invalid', [':3001', '--probe-timeout', 'soon'], /500ms, 2s, 5m/],
  ])('%s', async (_, args, says) => {
    const { status, stdout, stderr } = await check(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(says);
  });

  it('errors in files are reported with their places', async () => {
    await using folder = await temporaryFolder();
    const failures = await folder.write('f.yaml', 'TOOL-AKC: x\n');
    const { status, stderr } = await check(DIFF, '--expected-failures', failures);
    expect(status).toBe(2);
    expect(stderr).toContain(
      `${failures}:1:1 $["TOOL-AKC"]: "TOOL-AKC" is not a rule id. Did you mean "TOOL-ACK"`,
    );
  });
});

describe.concurrent('expected failures', () => {
  it('that pass fail the run', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('f.yaml', 'TOOL-ACK: we were slow once\n');
    const { status, stdout } = await check(DIFF, '--only', 'TOOL-ACK', '--expected-failures', file);
    expect(status).toBe(1);
    expect(stdout).toContain(`remove it from ${file}:1`);
  });

  it('that fail do not', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('f.json', '[{"id":"TOOL-ACK","reason":"known"}]');
    const text = readFileSync(DIFF, 'utf8').replaceAll(/("kind":"response"[^\n]*"status":)200/g, '$1201');
    const bad = await folder.write('bad.ndjson', text);
    const { report } = await reportOf(bad, '--expected-failures', file, '--only', 'TOOL-ACK');
    expect(report.checks).toMatchObject([{ status: 'fail', standing: 'expected' }]);
  });
});

describe.concurrent('about the rules', () => {
  it('--list prints a line for each rule; --side and --skip leave rules out', async () => {
    const { status, stdout } = await check('--list');
    expect(status).toBe(0);
    const idsIn = (list: string) =>
      list
        .trimEnd()
        .split('\n')
        .map(line => line.split(' ')[0]);
    expect(idsIn(stdout)).toEqual(REQUIREMENT_IDS);
    const ofRuntime = idsIn((await check('--list', '--side', 'runtime')).stdout);
    expect(ofRuntime).toEqual(REQUIREMENT_IDS.filter(id => id.startsWith('RT-')));
    expect((await check('--list', '--skip', 'TOOL-ACK')).stdout).not.toMatch(/^TOOL-ACK /m);
  });

  it('--spec prints whole rules', async () => {
    const { status, stdout } = await check('--spec', 'TOOL-ACK', '--spec', 'tool-retry');
    expect(status).toBe(0);
    expect(stdout).toContain('“The tool MUST return HTTP 200 immediately to acknowledge receipt.”');
    expect(stdout).toContain('the public specification');
  });
});

describe.concurrent('an unreachable tool', () => {
  it('exit 4: nothing listens there', async () => {
    const { status, stderr } = await check('127.0.0.1:1');
    expect(status).toBe(4);
    expect(stderr).toContain('127.0.0.1:1');
  });
});
