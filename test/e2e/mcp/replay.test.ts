import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { peerCommand } from '../support/mcp.js';
import { argv } from '../support/program.js';

const BIN = fileURLToPath(new URL('../../../bin/protocol-cli.cjs', import.meta.url));
const PROGRAM = `'${process.execPath}' '${BIN}'`;

/** Calls a tool of our peer, and saves the call. */
async function recorded(path: string, ...words: readonly string[]) {
  const { stdout, status } = await runHere(
    argv`invoke --mcp ${peerCommand()} ${words} --save ${path} -o json`,
  );
  return { status, ...answerIn(stdout) };
}

function answerIn(json: string) {
  const { outcome, result, llm } = JSON.parse(json);
  return { outcome, result, llm };
}

describe.each(['stdio', 'http'])('mock-tool --mcp %s serves a recorded call of MCP again', transport => {
  test.each([['echo', 'text=hi {{id}}'], ['fails'], ['structured'], ['mixed'], ['refuses']])(
    'with the answer that was recorded: %s',
    async (...words) => {
      await using folder = await temporaryFolder();
      const saved = folder.file('run.ndjson');
      const { status, ...first } = await recorded(saved, ...words);
      const again =
        transport === 'stdio'
          ? await runHere(
              argv`invoke --mcp ${`${PROGRAM} mock-tool '${saved}' --mcp stdio -q`} ${words} -o json`,
            )
          : await runHere(
              argv`mock-tool ${saved} --mcp http -q -- sh -c ${`${PROGRAM} invoke --mcp $MCP_URL --mcp-version 2025-11-25 "$@" -o json > '${folder.file('again.json')}'`} sh ${words}`,
            );
      const json = transport === 'stdio' ? again.stdout : await readFile(folder.file('again.json'), 'utf8');
      expect(again.status).toBe(status);
      expect(answerIn(json)).toEqual(first);
    },
  );
});

test('the replay offers the tools as the server listed them, and refuses other arguments', async () => {
  await using folder = await temporaryFolder();
  const saved = folder.file('run.ndjson');
  await recorded(saved, 'echo', 'text=hi');
  const toolsOf = async (server: string, ...version: string[]) =>
    JSON.parse((await runHere(argv`toolset --mcp ${server} ${version} -o json`)).stdout).tools;
  const replay = `${PROGRAM} mock-tool '${saved}' --mcp stdio -q`;
  expect(await toolsOf(replay, '--mcp-version', '2026-07-28')).toEqual(await toolsOf(peerCommand()));
  const { status, stderr } = await runHere(argv`invoke --mcp ${replay} echo times:=2`);
  expect([status, stderr]).toEqual([2, expect.stringContaining('$.text: is required')]);
});

test('the replay of a tool that was called with arguments that it does not list accepts any arguments', async () => {
  await using folder = await temporaryFolder();
  const saved = folder.file('run.ndjson');
  await recorded(saved, 'echo', 'text=hi', 'times:="2"', '--no-validate');
  const replay = `${PROGRAM} mock-tool '${saved}' --mcp stdio`;
  const words = ['echo', 'text=hi', 'times:="2"', '-o', 'json'];
  const { stdout } = await runHere(argv`invoke --mcp ${replay} ${words}`);
  expect(answerIn(stdout).llm).toEqual({ text: 'hihi' });
  const { stderr } = await runHere(argv`mock-tool ${saved} --mcp http -- true`);
  expect(stderr.match(/warning: .*/g)).toEqual([
    `warning: ${saved}: "echo" accepts any arguments: recorded calls do not fit its inputSchema`,
  ]);
});

test('progress and forms are recorded and served again', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write(
    'f.yaml',
    `version: 1
fixtures:
  - match: { operation: op }
    reply:
      - message: { method: notifications/progress, params: { progress: 1, message: half } }
      - form: { message: 'Who?', requestedSchema: { type: object, properties: { name: { type: string } } } }
        accept: { payload: 'hello {{form.name}}' }
`,
  );
  const saved = folder.file('run.ndjson');
  const invoke = (served: string, ...words: string[]) =>
    runHere(argv`invoke --mcp ${`${PROGRAM} mock-tool '${served}' --mcp stdio -q`} op -o plain ${words}`);
  const first = await invoke(file, '--choose', 'name=Ada', '--save', saved);
  expect(first.stdout).toMatch(/progress 1: half[\s\S]*the tool asks: Who\?[\s\S]*hello Ada/);
  const again = await invoke(saved, '--choose', 'name=Bob');
  expect(again.stdout).toMatch(/progress 1: half[\s\S]*the tool asks: Who\?[\s\S]*hello Ada/);
  expect((await invoke(saved)).stderr).toContain(', or with default, decline or cancel.');
  const declined = await invoke(saved, '--choose', 'decline');
  expect(declined.stdout).toContain('the recording does not show what follows this answer');
});

test('mock-tool serves what one of its own transcripts of MCP has', async () => {
  await using folder = await temporaryFolder();
  const fixture = "reply: { result: { content: [{ type: text, text: 'fixed {{id}}' }], _meta: { own: 1 } } }";
  const file = await folder.write(
    'f.yaml',
    `version: 1\nfixtures:\n  - match: { operation: op }\n    ${fixture}\n`,
  );
  const saved = folder.file('served.ndjson');
  const invoke = `${PROGRAM} invoke --mcp $MCP_URL op`;
  await runHere(argv`mock-tool ${file} --mcp http -q --save ${saved} -- sh -c ${invoke}`);
  const { stdout } = await runHere(
    argv`invoke --mcp ${`${PROGRAM} mock-tool '${saved}' --mcp stdio -q`} op -o json`,
  );
  expect(answerIn(stdout).result).toMatchObject({ content: [{ type: 'text' }], _meta: { own: 1 } });
});

test('over RAP, mock-tool serves the text and the images of a recorded call of MCP, and names what is lost', async () => {
  await using folder = await temporaryFolder();
  const saved = folder.file('run.ndjson');
  await recorded(saved, 'mixed');
  const invoke = `${PROGRAM} invoke $TOOL_URL mixed -o json > '${folder.file('again.json')}'`;
  const { status, stderr } = await runHere(argv`mock-tool ${saved} -- sh -c ${invoke}`);
  expect(status).toBe(0);
  expect(JSON.parse(await readFile(folder.file('again.json'), 'utf8'))).toMatchObject({
    outcome: { type: 'success' },
    result: {
      type: 'tool_result',
      text: 'for both\nfor the human\nfor the model',
      content: [{ type: 'text' }, { type: 'image', data: 'AAAA', mediaType: 'image/png' }],
    },
  });
  expect(stderr).toContain('cannot carry 1 content block other than text and image');
  await recorded(folder.file('error.ndjson'), 'refuses');
  const refused = await runHere(
    argv`mock-tool ${folder.file('error.ndjson')} -q -- sh -c ${`${PROGRAM} invoke $TOOL_URL refuses > '${folder.file('error.txt')}'`}`,
  );
  expect(refused.status).toBe(5);
  expect(await readFile(folder.file('error.txt'), 'utf8')).toBe('Error: not today');
});

test('a recorded call of MCP without an answer is skipped', async () => {
  await using folder = await temporaryFolder();
  const saved = folder.file('run.ndjson');
  await recorded(saved, 'dies');
  const { status, stderr } = await runHere(argv`mock-tool ${saved} --mcp http`);
  expect(status).toBe(2);
  expect(stderr).toMatch(/skipped the call "[^"]+": it had no answer: ENDED/);
});

test('check says in one line that its rules are not about MCP, and exits with 3', async () => {
  await using folder = await temporaryFolder();
  const saved = folder.file('run.ndjson');
  await recorded(saved, 'echo', 'text=hi');
  const report = folder.file('report.json');
  const { status, stdout, stderr } = await runHere(argv`check ${saved} --reporter json:${report}`);
  expect([status, stdout]).toEqual([3, '']);
  expect(stderr).toBe(
    `not checked: ${saved} has calls over MCP, and the rules of check are those of RAP. Show the calls with: protocol-cli render ${saved}\n`,
  );
  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ verdict: 'incomplete' });
});
