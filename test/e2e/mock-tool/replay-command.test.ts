import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFixtures } from '../../../src/fixtures/read-fixtures.js';
import { discovered, recorded, recordedCall, result, transcriptOf } from '../../support/recording.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { ROOT } from '../support/program.js';

const DIFF = join(ROOT, 'fixtures/transcripts/diff.ndjson');
const OAUTH = join(ROOT, 'fixtures/transcripts/oauth.ndjson');
const YAML = 'version: 1\nfixtures:\n  - { match: { operation: edit_file }, reply: { payload: mine } }\n';

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

async function fileOf(name: string, text: string): Promise<string> {
  await writeFile(folder.file(name), text);
  return folder.file(name);
}

const mockTool = (...args: string[]) => runHere(['mock-tool', ...args]);

describe('--export', () => {
  it('writes fixtures that can be served, and lists what is missing', async () => {
    const { status, stdout, stderr } = await mockTool(DIFF, OAUTH, '--export', '-', '--speed', '2');
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(
        /^warning: .*oauth\.ndjson: .*consent is asked for on the mock's own page.*\n$/,
      ),
    });
    expect(stdout).toMatch(
      /^# Recorded in diff\.ndjson: 2026-\S+, by protocol-cli\/0\.1\.0, as the runtime saw it\n/,
    );
    expect(stdout).toMatch(/patch: \|\n +--- a\/src\/retry\.ts\n/);
    const { fixtures } = await readFixtures([{ path: 'x.yaml', text: stdout }]);
    expect(fixtures.map(({ replies }) => replies[0]?.map(({ kind, delay }) => [kind, delay]))).toEqual([
      [['result', 37]],
      [['oauth', expect.any(Number)]],
    ]);
  });

  it('lists in the file what is missing, without the folder of the transcript', async () => {
    const { stdout } = await mockTool(OAUTH, '--export', '-');
    expect(stdout).toMatch(/^# {3}oauth\.ndjson: the call .* consent is asked for/m);
    expect(stdout).not.toContain(ROOT);
  });

  it('reports what it wrote, into a new or an empty file', async () => {
    for (const path of [folder.file('new.yaml'), await fileOf('empty.yaml', '')]) {
      const stderr = `wrote ${path}: 1 fixture\n`;
      expect(await mockTool(DIFF, '--export', path)).toMatchObject({ status: 0, stdout: '', stderr });
      expect(await readFile(path, 'utf8')).toContain('Replaced text in src/retry.ts');
    }
    const both = folder.file('both.yaml');
    const { stderr } = await mockTool(DIFF, OAUTH, '--export', both);
    expect(stderr).toContain(`wrote ${both}: 2 fixtures, 1 warning\n`);
  });

  it('never overwrites a file that may have been edited', async () => {
    const path = await fileOf('edited.yaml', YAML);
    const { status, stderr } = await mockTool(DIFF, '--export', path);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/edited\.yaml: file already exists[\s\S]*another name/),
    });
    expect(await readFile(path, 'utf8')).toBe(YAML);
  });

  it.each<[string, string[], RegExp]>([
    ['nothing', [], /--export needs a transcript/],
    ['fixtures', ['%yaml'], /--export needs transcripts; \S+ is not one/],
    ['a watch, and a port', [DIFF, '--watch', '--port', '0'], /these options need one: --watch, --port/],
    ['a command', [DIFF, '--', 'true'], /--export starts no server for a command/],
  ])('with %s is a usage error', async (_, args, message) => {
    const yaml = await fileOf('a.yaml', YAML);
    const [files, more] = [
      args.filter(each => each !== '--' && each !== 'true'),
      args.includes('--') ? ['--', 'true'] : [],
    ];
    const words = files.map(each => (each === '%yaml' ? yaml : each));
    const { status, stderr } = await mockTool(...words, '--export', '-', ...more);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(message) });
  });

  it('never overwrites its transcript', async () => {
    const path = await fileOf('run.ndjson', await readFile(DIFF, 'utf8'));
    const { status, stderr } = await mockTool(path, '--export', path);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('write over the transcript'),
    });
    expect(await readFile(path, 'utf8')).toBe(await readFile(DIFF, 'utf8'));
  });
});

describe('a transcript', () => {
  const call = recordedCall({}, { at: 1, message: result('done') });

  it('is recognized by its first line, with or without a ready line before it', async () => {
    const transcript = transcriptOf(recorded(call));
    for (const text of [transcript, `{"port":1,"url":"http://127.0.0.1:1"}\n${transcript}`]) {
      const { status, stdout } = await mockTool(await fileOf('run.log', text), '--export', '-');
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('text: done') });
    }
  });

  it('that is partly broken is served as far as it can be read', async () => {
    const [header, ...lines] = transcriptOf(recorded(call)).split('\n');
    const path = await fileOf('torn.ndjson', [header, '{"kind":', ...lines].join('\n'));
    const { status, stderr } = await mockTool(path, '--export', '-');
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^warning: \S+torn\.ndjson: line 2: not valid JSON/),
    });
  });

  it('with several recordings is refused', async () => {
    const texts = [transcriptOf(discovered({}, [])), transcriptOf(recorded(call))];
    const { status, stderr } = await mockTool(await fileOf('joined.ndjson', texts.join('')), '--export', '-');
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('joined.ndjson holds 2 recordings'),
    });
  });

  it('that is incomplete is served with a warning that names the gap', async () => {
    const lines = transcriptOf(recorded(call)).split('\n');
    const gone = lines.findLastIndex(line => line.includes('"kind":"response"'));
    const path = await fileOf('gap.ndjson', [...lines, ''].toSpliced(gone - 1, 1).join('\n'));
    expect((await mockTool(path, '--export', '-')).stderr).toMatch(
      /gap\.ndjson: line \d+: 1 event is missing/,
    );
  });

  it('that ends early is served with a warning that names the calls without a result', async () => {
    const open = recordedCall({ operation: 'read' });
    const text = transcriptOf(recorded(open))
      .split('\n')
      .filter(line => !line.includes('"kind":"end"'));
    const { status, stderr } = await mockTool(await fileOf('cut.ndjson', text.join('\n')), '--export', '-');
    expect(status).toBe(0);
    expect(stderr).toMatch(/cut\.ndjson: no end line: the recording program is still running/);
    expect(stderr).toMatch(
      /the call "call_1" of "read" has no result in the recording; the fixture sends none/,
    );
    const whole = await mockTool(await fileOf('whole.ndjson', transcriptOf(recorded(open))), '--export', '-');
    expect(whole).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['without a call', discovered({}, [])],
    ['of calls that cannot be served', recorded(recordedCall({ operation: 'no name!' }))],
  ])('%s is not a fixtures', async (_, events) => {
    const path = await fileOf('none.ndjson', transcriptOf(events));
    const { status, stderr } = await mockTool(path);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('no call in') });
  });

  it('answers a command, after the fixtures given with it', async () => {
    const other = recordedCall(
      { operation: 'read', id: 'call_2' },
      { at: 1, message: result('read', { id: 'call_2' }) },
    );
    const path = await fileOf('two.ndjson', transcriptOf(recorded(call, other)));
    const yaml = await fileOf('mine.yaml', YAML);
    const program = join(ROOT, 'bin/protocol-cli.cjs');
    const invoke = (operation: string) =>
      `'${process.execPath}' '${program}' invoke $TOOL_URL ${operation} >> '${folder.file('said')}'`;
    const line = `${invoke('edit_file')} && echo >> '${folder.file('said')}' && ${invoke('read')}`;
    const { stderr } = await mockTool(path, yaml, '--', 'sh', '-c', line);
    expect(await readFile(folder.file('said'), 'utf8')).toMatch(/^mine\s+read\s*$/);
    expect(stderr).toContain('never matches');
  });

  it('in a folder is not read', async () => {
    await using other = await temporaryFolder();
    await writeFile(other.file('run.ndjson'), transcriptOf(recorded(call)));
    const { status, stderr } = await mockTool(other.path);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('transcripts are named one by one'),
    });
  });
});

describe('--speed', () => {
  it.each([
    [['--demo', '--speed', '2'], /--speed needs a transcript/],
    [['%yaml', '--speed', '0'], /--speed needs a transcript/],
    [[DIFF, '--speed', 'fast'], /Give a speed such as 2 or 0\.5/],
    [[DIFF, '--speed', '0.0000001'], /Give a speed/],
    [[DIFF, '--speed', '-1'], /speed/],
  ])('%j is a usage error', async (args, message) => {
    const yaml = await fileOf('b.yaml', YAML);
    const { status, stderr } = await mockTool(...args.map(each => (each === '%yaml' ? yaml : each)));
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(message) });
  });
});
