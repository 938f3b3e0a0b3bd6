import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from './support/in-process.js';
import { type OwnTool, resultFor, startTool } from './support/own-tool.js';
import { argv } from './support/program.js';

const COMMANDS = ['::error::x', '  ::add-mask::x', '##[error]x', '##vso[task.x]', '##teamcity[x]'].join('\n');
/** What a runner of GitHub, Azure or TeamCity takes for a command. */
const COMMAND = /^\s*::[\w-]+[^\n]*::|##(?:vso|teamcity)?\[/im;

let tool: OwnTool;

beforeAll(async () => {
  tool = await startTool({
    text: { callbacks: invocation => [resultFor(invocation, COMMANDS)] },
    shown: {
      callbacks: ({ id, group_id }) => [
        JSON.stringify({
          type: 'tool_result',
          group_id,
          id,
          text: 'x',
          display_as: [{ type: 'text', content: COMMANDS }],
        }),
      ],
    },
    invalid: { callbacks: () => [COMMANDS, JSON.stringify({ type: COMMANDS })] },
    refused: { status: 400, body: COMMANDS },
  });
});

afterAll(() => tool[Symbol.asyncDispose]());

describe.concurrent('the log of a CI job contains no workflow command of a tool', () => {
  const outputs = ['plain', 'json', 'ndjson'] as const;
  const cases = ['text', 'shown', 'invalid', 'refused'].flatMap(name =>
    outputs.map(output => [name, output] as const),
  );

  test.each(cases)('%s with -o %s -v', async (name, output) => {
    const args = ['invoke', tool.url, name, '--timeout', '500ms', '-o', output, '-v'];
    const { stdout, stderr } = await runHere(args);
    expect(`${stdout}\n${stderr}`).not.toMatch(COMMAND);
    expect(`${stdout}${stderr}`).toMatch(/<U\+0023>|\\u0023/);
  });

  test('-o text is exactly what the LLM gets', async () => {
    expect((await runHere(argv`invoke ${tool.url} text -o text -q`)).stdout).toBe(COMMANDS);
  });
});
