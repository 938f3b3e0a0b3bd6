import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFixtures } from '../../src/fixtures/read-fixtures.js';
import { CI_COMMANDS, ciCommandsIn } from '../support/ci-commands.js';
import { type Folder, temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { startMockHere } from './support/mock.js';
import { type OwnTool, startTool } from './support/own-tool.js';

/** Rows 24 and 32: what a tool sends starts no command of a CI system, whatever prints it. */

const COMMANDS = CI_COMMANDS.join('\n');
/** A hard wrap at any width would put a command at the start of a row. */
const LONG = `${'word'.repeat(12)}${'::error::'.repeat(12)}${'abc::add-mask::'.repeat(12)}`;
const TEXT = `${COMMANDS}\n${LONG}\n| ${LONG} |`;
const patch = `--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@ ${COMMANDS.replaceAll('\n', ' ')}\n ${LONG}\n-##[error]old\n+##[error]new ${LONG}\n  ::error::x\n`;

const ARGUMENTS = JSON.stringify({ [TEXT]: TEXT });

let folder: Folder;
let tool: OwnTool;
let transcript: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  tool = await startTool({
    edit: {
      inputSchema: {
        type: 'object',
        description: TEXT,
        properties: { [`::error::${TEXT}`]: { type: 'string' } },
      },
      callbacks: ({ id, group_id }) => [
        JSON.stringify({ type: 'view_update', group_id, view_type: 'text', content: { text: TEXT } }),
        JSON.stringify({
          ...{ type: 'tool_result', group_id, id, text: TEXT, structured_content: { [TEXT]: [TEXT] } },
          display_as: [{ type: 'diff', content: { path: 'a.md', patch } }],
        }),
      ],
    },
    odd: {
      callbacks: invocation => [COMMANDS, resultOf(invocation, TEXT), resultOf(invocation, TEXT)],
    },
  });
  transcript = folder.file('run.ndjson');
  const { status, stderr } = await runHere([
    'invoke',
    tool.url,
    'edit',
    '--args',
    ARGUMENTS,
    '--save',
    transcript,
  ]);
  expect(status, stderr).toBe(0);
});

afterAll(() => Promise.all([folder[Symbol.asyncDispose](), tool[Symbol.asyncDispose]()]));

const resultOf = ({ id, group_id }: { readonly id: string; readonly group_id: string }, text: string) =>
  JSON.stringify({ type: 'tool_result', group_id, id, text });

/** The lines of all outputs of a command that a CI system would execute; each output must show that it had some. */
async function executed(args: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = await runHere(args);
  expect(`${stdout}${stderr}`).toMatch(/error/);
  return [...ciCommandsIn(stdout), ...ciCommandsIn(stderr)];
}

describe.concurrent('row 32: no line of an output is a CI command', () => {
  test.each([
    ...['plain', 'json', 'ndjson'].map(output => ['-o', output]),
    ['-o', 'json', '--dialect', 'mcp'],
  ])('invoke %j -v', async (...words) => {
    for (const operation of ['edit', 'odd'])
      expect(await executed(['invoke', tool.url, operation, ...words, '-v'])).toEqual([]);
  });

  test.each([[[]], [['-o', 'json']]])('toolset %j', async words => {
    expect(await executed(['toolset', tool.url, ...words])).toEqual([]);
  });

  test.each([[['-o', 'json']], [['--as', 'svg']], [['--as', 'mcp']], [['--as', 'rap']], [[]]])(
    'render %j',
    async words => {
      expect(await executed(['render', transcript, ...words])).toEqual([]);
    },
  );

  test('render --width: at no width', async () => {
    for (const width of [...Array.from({ length: 20 }, (_, index) => 20 + index), 130])
      expect(await executed(['render', transcript, '--width', `${width}`])).toEqual([]);
  });

  test('check --reporter human, json, junit and markdown', async () => {
    const formats = ['json', 'junit', 'markdown'];
    for (const source of [[transcript], [tool.url, '--operation', 'odd']]) {
      const files = formats.flatMap(each => ['--reporter', `${each}:${folder.file(each)}`]);
      expect(await executed(['check', ...source, '--reporter', 'human', ...files])).toEqual([]);
      for (const format of formats) {
        const report = await readFile(folder.file(format), 'utf8');
        expect(report).toMatch(/error/);
        expect(ciCommandsIn(report), format).toEqual([]);
      }
    }
  });

  test('the lines of a mock, and its verification', async () => {
    await using mock = await startMockHere([transcript, '-o', 'plain', '--verify']);
    const body = { operation: COMMANDS, arguments: {}, id: '##[error]id', group_id: '::error::group' };
    const callback_url = `${mock.url}/nowhere`;
    await fetch(`${mock.url}/invoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, callback_url }),
    });
    const { stderr } = await mock.stop();
    expect(stderr).toMatch(/^✗ unmatched call: .*error/m);
    expect(ciCommandsIn(stderr)).toEqual([]);
  });

  test('mock-tool --export -: the fixtures have the same texts', async () => {
    const { stdout, stderr } = await runHere(['mock-tool', transcript, '--export', '-']);
    expect(ciCommandsIn(`${stdout}\n${stderr}`)).toEqual([]);
    const { fixtures } = await readFixtures([{ path: 'x.yaml', text: stdout }]);
    expect(JSON.stringify(fixtures)).toContain(JSON.stringify(TEXT));
  });
});
