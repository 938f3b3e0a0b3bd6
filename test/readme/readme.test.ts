import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCallback } from '../../src/protocol/callbacks.js';
import { readInvocation } from '../../src/protocol/invocation.js';
import { parseJson } from '../../src/util/json.js';
import {
  blocksOf,
  compared,
  type Example,
  examplesOf,
  fileOf,
  freePort,
  local,
  outputOf,
  README,
  withoutNumbers,
} from './examples.js';

const source = fileOf(README, 'tool.mjs');

const examples = examplesOf(README.text);

test('the README contains examples', () => expect(examples.length).toBeGreaterThan(5));

/** What `check` says depends on how fast the tool acknowledges: it runs alone, and again. */
const [checks, calls] = [true, false].map(isCheck =>
  examples.filter(({ command }) => command.includes(' check ') === isCheck),
) as [Example[], Example[]];

describe.concurrent('invoke', () => {
  test.for(calls)('$command prints the output shown $comment', printsWhatIsShown);
});
test.for(checks)('$command prints the output shown $comment', { retry: 2 }, printsWhatIsShown);

async function printsWhatIsShown(example: Example): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  const port = String(await freePort());
  await writeFile(join(folder, 'tool.mjs'), changed(source, example.comment).replaceAll('3001', port));
  const isStarted = example.command.includes('"node tool.mjs"');
  const tool = isStarted ? null : spawn(process.execPath, [join(folder, 'tool.mjs')]);
  try {
    if (tool) await once(tool.stdout, 'data');
    const printed = await outputOf(local(example.command, { url: `http://127.0.0.1:${port}`, folder }));
    const { promised, printed: shown } = compared(example, printed);
    expect(shown.map(line => line.replaceAll(withoutNumbers(`${folder}/`), ''))).toEqual(promised);
  } finally {
    tool?.kill();
    await rm(folder, { recursive: true });
  }
}

/** The tool with the change that the comment above an example names. */
function changed(text: string, comment: string): string {
  const [, before, after] = /^tool\.mjs: (.*) => (.*)$/.exec(comment) ?? [];
  if (before === undefined || after === undefined) return text;
  expect(text).toContain(before);
  return text.replace(before, after);
}

test('the two messages are valid', () => {
  const [invocation = '', result = ''] = blocksOf(README.text, 'json').join('').split('\n');
  expect(readInvocation(parseJson(invocation))).toMatchObject({ ok: true, notes: [] });
  expect(readCallback(parseJson(result))).toMatchObject({ ok: true, warnings: [] });
});
