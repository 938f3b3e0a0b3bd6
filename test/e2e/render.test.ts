import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type Peer, startPeer } from './support/peers.js';
import { argv, ROOT, run, runShell, shellLine } from './support/program.js';
import { invokeJsonHere, steady } from './support/report.js';
import { unsafeIn } from './support/text.js';

const TRANSCRIPTS = join(ROOT, 'fixtures/transcripts');
const IDS = { group_id: 'thread_a', id: 'call_1' };
const PATCH = '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-const a = 1;\n+const a = 2;\n';

const RESULT = JSON.stringify({
  ...{ type: 'tool_result', ...IDS, text: 'done' },
  display_as: [{ type: 'diff', content: { path: 'a.ts', patch: PATCH } }],
});

/** Messages with a secret. */
const SECRET: Readonly<Record<string, string>> = {
  oauth: JSON.stringify({ type: 'oauth', ...IDS, auth_url: 'https://auth.example/consent?state=CANARY' }),
  user_choice: JSON.stringify({
    ...{ type: 'user_choice', ...IDS, prompt: 'Where to?', choices: ['here', 'there'], default: 1 },
    response_url: 'http://127.0.0.1:9/choices/CANARYCANARY',
  }),
  invocation: JSON.stringify({
    ...{ operation: 'edit_file', arguments: {}, ...IDS },
    callback_url: 'http://127.0.0.1:9/callback/CANARYCANARY',
  }),
};

let folder: Folder;
let plain: Peer;

beforeAll(async () => {
  [folder, plain] = await Promise.all([temporaryFolder(), startPeer('plain')]);
});
afterAll(() => Promise.all([folder[Symbol.asyncDispose](), plain.stop()]));

describe.concurrent('render', () => {
  it('shows the same of a file and of standard input', async () => {
    const file = await folder.write('result', RESULT);
    const fromFile = await runHere(argv`render ${file}`);
    expect(fromFile).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('a.ts +1 −1') });
    expect(await runHere(argv`render -`, { stdin: RESULT })).toEqual(fromFile);
  });

  it.each(Object.entries(SECRET))('%s: no secret is shown', async (kind, stdin) => {
    const [plainly, json] = await Promise.all([
      runHere(argv`render -`, { stdin }),
      runHere(argv`render - -o json`, { stdin }),
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({ kind, warnings: [] });
    expect(plainly).toMatchObject({ status: 0, stderr: '' });
    expect(plainly.stdout + json.stdout).not.toContain('CANARY');
  });

  it('--supports image: draws as a client with images', async () => {
    const ids = { type: 'tool_result', group_id: 't', id: 'c' };
    const image = { type: 'image', content: { data: 'AAAA', mediaType: 'image/png' } };
    const what = { ...ids, text: 'done', display_as: [image, { type: 'text', content: 'a picture' }] };
    const shown = await runHere(argv`render - --supports text,image`, { stdin: JSON.stringify(what) });
    expect(shown).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('[image: image/png, 3 bytes]'),
    });
    const plainly = await runHere(argv`render -`, { stdin: JSON.stringify(what) });
    expect(plainly.stdout).toContain('a picture');
  });
});

it('protocol-cli <file> shows a file as render does', async () => {
  const file = folder.file('message.json');
  await writeFile(file, RESULT);
  const shown = await runHere(argv`render ${file} --supports text`);
  expect(await run(argv`${file} --supports text`)).toMatchObject({ status: 0, stdout: shown.stdout });
  expect(await run([folder.file('missing.json')])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('no such file'),
  });
});

it('--call of a single message is refused', async () => {
  const refused = await runHere(argv`render - --call 1`, { stdin: RESULT });
  expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('--call and --failed') });
});

describe.concurrent('a transcript', () => {
  it.each([
    ['that went well', ['edit_file', 'path=a.txt']],
    ['of an error', ['fail']],
    ['of a time that ran out', ['slow', 'ms=9000', '--timeout', '2s']],
  ])('%s: -o json equals the report of the live run', async (_, words) => {
    const file = folder.file(`${words[0]}.ndjson`);
    const { report } = await invokeJsonHere(argv`${plain.url} ${words} --save ${file}`);
    const { status, stdout } = await runHere(argv`render ${file} -o json`);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual(report);
  });

  it('of many calls: a heading for each, and a summary', async () => {
    const file = folder.file('many.ndjson');
    await runHere(argv`invoke ${plain.url} edit_file path=a.txt --repeat 3 --save ${file}`);
    const [shown, json] = await Promise.all([
      runHere(argv`render ${file}`),
      runHere(argv`render ${file} -o json`),
    ]);
    expect(shown.stdout.match(/^CALL \d of 3 {2}edit_file of call/gm)).toHaveLength(3);
    expect(shown.stdout).toMatch(/^3 calls: 3 success$/m);
    expect(JSON.parse(json.stdout)).toMatchObject({ calls: [{}, {}, {}], summary: { calls: 3 } });
    const again = await runHere(argv`render -`, { stdin: json.stdout });
    expect(again.stdout.match(/^CALL \d of 3$/gm)).toHaveLength(3);
  });

  it('with several recordings is refused', async () => {
    const names = ['choice.ndjson', 'diff.ndjson'];
    const texts = await Promise.all(names.map(name => readFile(join(TRANSCRIPTS, name), 'utf8')));
    expect(await runHere(argv`render -`, { stdin: texts.join('') })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('standard input holds 2 recordings'),
    });
  });

  it('that is broken is shown up to the fault, with a warning', async () => {
    const whole = await readFile(join(TRANSCRIPTS, 'choice.ndjson'), 'utf8');
    const lines = whole.split('\n');
    const broken = [...lines.slice(0, 4), 'garbage', ...lines.slice(4, 8), lines[8]?.slice(0, 40)].join('\n');
    const { status, stdout, stderr } = await runHere(argv`render -`, { stdin: broken });
    expect(status).toBe(0);
    expect(stdout).toMatch(/COULD NOT BE READ\n! line 5: .+/);
    expect(stderr.split('\n')).toEqual([
      'warning: 2 lines of standard input could not be read; what could be is shown',
      expect.stringMatching(
        /^warning: standard input is not whole: no end line: the recording program is still running, was killed, or the last lines were cut off$/,
      ),
      '',
    ]);
  });
});

describe.concurrent('output in a pipe', () => {
  const widest = (text: string) => Math.max(...text.split('\n').map(line => line.length));
  const long = JSON.stringify({ type: 'tool_result', ...IDS, text: 'word '.repeat(100) });

  it('with --full has each line as it is; with --width, lines are wrapped', async () => {
    const words = 'word '.repeat(2_000);
    const stdin = JSON.stringify({ type: 'tool_result', ...IDS, text: words });
    const [whole, wrapped] = await Promise.all([
      runHere(argv`render - --full`, { stdin }),
      runHere(argv`render - --width 40`, { stdin }),
    ]);
    expect(whole.stdout.split('\n').filter(line => line === words)).toHaveLength(2); // human and llm
    expect(widest(wrapped.stdout)).toBe(40);
  });

  it('has diffs and panes below each other, and no blanks at the end of a coloured row', async () => {
    const env = { NO_COLOR: '', FORCE_COLOR: '2' };
    const { stdout } = await runHere(argv`render -`, { stdin: RESULT, env });
    const shown = stripVTControlCharacters(stdout);
    expect(shown).toContain('\n1   - const a = 1;\n  1 + const a = 2;\n\nLLM text, 4 bytes\ndone\n');
  });

  it('cuts and pads by terminal cells, in the build as in the source', async () => {
    const words = [
      'हिन्दी की पंक्ति',
      '\u1112\u1161\u11AB\u1100\u1173\u11AF',
      'ꀀꀁꀂ',
      '👩‍👩‍👧 1️⃣',
      '日本語',
      'कि'.repeat(30),
    ];
    const patch = words.map(word => `-${word}\n+${word} ${word}\n`).join('');
    const stdin = `--- a\n+++ a\n@@ -1,${words.length} +1,${words.length} @@\n${patch}`;
    const args = ['render', '-', '--width', '140'];
    const [built, source] = await Promise.all([run(args, { stdin }), runHere(args, { stdin })]);
    expect(built).toEqual(source);
    expect(built).toMatchObject({ status: 0, stderr: '' });
    expect(built.stdout.split('\n').map(row => stringWidth(row))).not.toContainEqual(
      expect.toSatisfy(cells => cells > 140),
    );
  });

  it.each([
    ['no colour', [], { NO_COLOR: '' }, false],
    ['colour where it is asked for, against NO_COLOR', ['--color'], { NO_COLOR: '1' }, true],
    ['colour with FORCE_COLOR', [], { NO_COLOR: '', FORCE_COLOR: '1' }, true],
  ])('has %s', async (_, words, env, isColoured) => {
    const { stdout } = await runHere(argv`render - ${words}`, { stdin: long, env });
    expect(stdout.includes('\u001b[')).toBe(isColoured);
  });

  it('threats, row 30: is complete, and ends quietly if the reader closes the pipe', async () => {
    const rows = Array.from({ length: 10_000 }, (_, row) => `-old ${row}\n+new ${row}\n`).join('');
    const file = await folder.write('long.diff', `--- a\n+++ a\n@@ -1,10000 +1,10000 @@\n${rows}`);
    const [whole, head] = await Promise.all([
      runHere(argv`render ${file}`),
      runShell(`${shellLine(argv`render ${file}`)} | head -1; echo "status \${PIPESTATUS[0]}"`),
    ]);
    expect(whole.stdout.match(/\n/g)).toHaveLength(20_002);
    expect(head).toMatchObject({ stdout: 'a +10000 −10000\nstatus 0\n', stderr: '' });
  });
});

describe.concurrent('-o svg', () => {
  const words = ['render', join(TRANSCRIPTS, 'choice.ndjson'), '--as', 'svg'];

  it('is written to stdout, the same each time', async () => {
    const [one, other] = await Promise.all([run(words), runHere(words)]);
    expect(one).toMatchObject({ status: 0, stderr: '' });
    expect(one.stdout).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="880"/);
    expect(one.stdout.endsWith('</svg>\n')).toBe(true);
    expect(one.stdout).not.toMatch(/<script|<image|<foreignObject|href=|url\(|@import|@font-face/i);
    expect(other.stdout).toBe(one.stdout);
  });

  it('is written to a readable file, as wide as reported', async () => {
    const file = folder.file('picture.svg');
    const { status, stdout } = await runHere(argv`${words} --save ${file} --width 60`);
    expect([status, stdout]).toEqual([0, '']);
    expect(await readFile(file, 'utf8')).toContain('width="544"');
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  });

  it('has no secret and no active content', async () => {
    const text = '\u001b]0;owned\u0007</text><script>alert(1)</script>';
    const [secret, hostile] = await Promise.all([
      runHere(argv`render - --as svg`, { stdin: SECRET['oauth'] ?? '' }),
      runHere(argv`render - --as svg`, {
        stdin: JSON.stringify({ type: 'tool_result', ...IDS, text }),
      }),
    ]);
    expect(secret.stdout).not.toContain('CANARY');
    expect(hostile.stdout).not.toContain('<script');
    expect(unsafeIn(hostile.stdout)).toEqual([]);
  });
});

it('more than 64 MiB are refused as soon as that much has arrived', async () => {
  const { status, stderr } = await run(argv`render /dev/zero`);
  expect([status, stderr]).toEqual([2, expect.stringContaining('larger than 64 MiB')]);
});

describe.concurrent('invoke --dialect', () => {
  const invoke = (...args: string[]) => runHere(argv`invoke ${plain.url} ${args}`);

  it.each<[string, object]>([
    [
      'lmkit',
      { Type: 'Success', ResultJson: '"Replaced text in a.txt"', ToolCallId: 'c1', ToolName: 'edit_file' },
    ],
    ['mcp', { content: [{ type: 'text', text: 'Replaced text in a.txt' }], isError: false }],
    [
      'session',
      {
        kind: 'tool_result',
        tool_req: { tool_name: 'edit_file', args: { path: 'a.txt' }, id: 'c1' },
        result: 'Replaced text in a.txt',
      },
    ],
    ['rap', { type: 'tool_result', id: 'c1', text: 'Replaced text in a.txt' }],
  ])('%s: stdout is one object, the outcome', async (dialect, body) => {
    const call = ['edit_file', 'path=a.txt', '--id', 'c1', '--dialect', dialect];
    const [explicit, implied] = await Promise.all([invoke(...call, '-o', 'json'), invoke(...call, '-q')]);
    expect(explicit.status).toBe(0);
    expect(JSON.parse(explicit.stdout)).toMatchObject(body);
    expect(JSON.parse(implied.stdout)).toMatchObject(body);
    expect(steady(explicit.stderr)).toMatch(
      dialect === 'rap' ? /^$/ : /^(warning: an? .* cannot carry .*\n)+$/,
    );
    expect(implied.stderr).toBe('');
  });

  it('an error is an outcome, and the exit status tells it', async () => {
    const { status, stdout } = await runHere(argv`invoke ${plain.url} fail --dialect lmkit`);
    expect(status).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({
      Type: 'Error',
      ResultJson: expect.stringContaining('{"error":{"message":'),
    });
  });

  it('a timeout is an outcome', async () => {
    const { status, stdout, stderr } = await invoke(
      'slow',
      'ms=5000',
      '--timeout',
      '500ms',
      '--dialect',
      'mcp',
    );
    expect(status).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({
      isError: true,
      structuredContent: { timeout: { durationMs: 500 } },
    });
    expect(stderr).toContain('error: timed out after 500ms');
  });

  it('without a call nothing is printed', async () => {
    const { status, stdout, stderr } = await invoke('edit_fil', '-o', 'json', '--dialect', 'lmkit');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('no operation "edit_fil"');
  });
});

describe.concurrent('render --as', () => {
  it('a transcript: prints the answer of each call', async () => {
    const file = folder.file('many.ndjson');
    await runHere(argv`invoke ${plain.url} edit_file path=a.txt --repeat 2 --save ${file}`);
    const { status, stdout } = await runHere(argv`render ${file} --as session`);
    expect(status).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toMatchObject([
      { kind: 'tool_result', tool_req: { tool_name: 'edit_file', args: { path: 'a.txt' } } },
      { kind: 'tool_result' },
    ]);
  });

  it('--save writes to a file', async () => {
    const file = folder.file('saved.json');
    const stdin = '{"content":[],"isError":false}';
    const { status, stdout } = await runHere(argv`render - --as rap --save ${file}`, { stdin });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ type: 'tool_result', text: '' });
  });
});
