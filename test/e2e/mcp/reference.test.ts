import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from '../support/in-process.js';
import { everythingCommand, type McpServer, startEverything } from '../support/mcp.js';
import { argv } from '../support/program.js';

let http: McpServer;
beforeAll(async () => {
  http = await startEverything();
});
afterAll(() => http[Symbol.asyncDispose]());

test.each([
  ['over stdio', everythingCommand],
  ['over Streamable HTTP', () => http.url],
])('the reference server %s adds numbers', async (_, server) => {
  const { status, stdout, stderr } = await runHere(argv`invoke --mcp ${server()} get-sum a=1 b=2`);
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'The sum of 1 and 2 is 3.', stderr: '' });
});

/** Over stdio each call would start the server anew. */
describe('the reference server over Streamable HTTP', () => {
  const words = (...call: string[]) => ['invoke', '--mcp', http.url, ...call];

  test('returns structured content, shown to the human', async () => {
    const { stdout } = await runHere(words('get-structured-content', 'location=Chicago', '-o', 'plain'));
    expect(stdout).toMatch(/HUMAN content, 1 block, and structured content[\s\S]*"temperature": /);
  });

  test('lists its tools; a tool that requires a task is refused', async () => {
    const { status, stdout } = await runHere(argv`toolset --mcp ${http.url}`);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^mcp-servers\/everything/);
    const task = await runHere(words('simulate-research-query', 'topic=rain'));
    expect(task.status).toBe(2);
    expect(task.stderr).toContain(
      'simulate-research-query can only be called as a task (taskSupport: required)',
    );
  });

  test('returns a resource: its text for the LLM, its URI for the human too', async () => {
    const call = words('get-resource-reference', 'resourceType=Text', 'resourceId=1');
    expect((await runHere(call)).stdout).toMatch(/Resource 1: This is a plaintext resource/);
    expect((await runHere(argv`${call} -o plain`)).stdout).toContain(
      '[resource "demo://resource/dynamic/text/1"',
    );
  });

  test('reports progress', async () => {
    const call = words('trigger-long-running-operation', 'duration=0.2', 'steps=2', '-o', 'plain');
    expect((await runHere(call)).stdout).toMatch(/progress 1 of 2[\s\S]*✓ result/);
  });

  test('asks for a form, which --choose fills in', async () => {
    const asked = await runHere(words('trigger-elicitation-request', '--choose', '{"name":"Ada"}'));
    expect(asked.status).toBe(0);
    expect(asked.stdout).toContain('- Name: Ada');
    expect(asked.stdout).toContain('- Favorite Integer: 42');
  });

  test('returns an image, drawn as a line', async () => {
    const { status, stdout } = await runHere(words('get-tiny-image'));
    expect(status).toBe(0);
    expect(stdout).toMatch(/\[image: image\/png, \d+ bytes\]/);
  });
});
