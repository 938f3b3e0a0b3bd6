import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { ROOT } from './support/program.js';

/** What editors and the shells of Windows write. */
const ENCODINGS: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-8 with a byte-order mark': text => Buffer.from(`\uFEFF${text}`),
  'UTF-16 little-endian': text => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'UTF-16 big-endian': text => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
  'CR LF': text => Buffer.from(text.replaceAll('\n', '\r\n')),
};

const TRANSCRIPT = await readFile(`${ROOT}fixtures/transcripts/diff.ndjson`, 'utf8');
const FIXTURES = await readFile(`${ROOT}fixtures/examples/outcomes.yaml`, 'utf8');
const DRY = ['invoke', '--demo', 'edit_file', '--dry-run'];

/** Each reader of a file: what it holds, the command, and what the command prints with any encoding. */
const READERS: Readonly<Record<string, readonly [string, string, (file: string) => string[], RegExp]>> = {
  'render of a diff': [
    'a.diff',
    '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-é\n+ü\n',
    file => ['render', file],
    /^x +\+1 −1$[\s\S]*- é\n.*\+ ü\n/m,
  ],
  'render of a transcript': ['run.ndjson', TRANSCRIPT, file => ['render', file], /^TRANSCRIPT of 1 call/],
  'check of a transcript': [
    'run.ndjson',
    TRANSCRIPT,
    file => ['check', file],
    /✓ passed · 60 rules: 18 passed/,
  ],
  '--args': ['args.json', '{\n"path":"ü"\n}\n', file => [...DRY, '--args', `@${file}`], /"path":"ü"/],
  'key=@file': ['value.txt', 'ü', file => [...DRY, `path=@${file}`], /"path":"ü"/],
  'expected failures': [
    'known.yaml',
    'TOOL-ONCE: ü\n',
    file => ['check', `${ROOT}fixtures/transcripts/diff.ndjson`, '--expected-failures', file],
    /it passes but is expected to fail/,
  ],
  'mock-tool': [
    'tool.yaml',
    FIXTURES,
    file => ['mock-tool', file, '--', process.execPath, '-e', '0'],
    /no invocation arrived|not used|0 calls|expected/,
  ],
};

describe.each(Object.entries(ENCODINGS))('%s', (_, encoded) => {
  test.concurrent.each(Object.entries(READERS))('%s', async (__, [name, text, args, wanted]) => {
    await using folder = await temporaryFolder();
    const { stdout, stderr } = await runHere(args(await folder.write(name, encoded(text))));
    expect(`${stdout}${stderr}`).toMatch(wanted);
    expect(`${stdout}${stderr}`).not.toMatch(/␍|byte-order|not valid|cannot read/);
  });

  test.concurrent('.infinity/rap.json', async () => {
    await using folder = await temporaryFolder();
    await writeConfig(folder, encoded('{\n"tool_sets": []\n}\n'));
    const { stderr } = await runHere(['toolset'], { cwd: folder.path });
    expect(stderr).toContain('rap.json');
    expect(stderr).not.toMatch(/not valid|byte-order/);
  });
});

async function writeConfig(folder: Folder, bytes: Buffer): Promise<void> {
  const path = folder.file('.infinity/rap.json');
  await mkdir(dirname(path));
  await writeFile(path, bytes);
}
