import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { type MockTool, startMockTool } from '../../src/mock/mock-tool.js';
import type { Instruction } from '../../src/protocol/driver.js';
import { runConnect } from './drivers/connect.mjs';
import { type DriverStreams, runDriver } from './drivers/runtime.mjs';
import { runSample } from './drivers/sample.mjs';

/** Drivers speak the protocol; what their runtimes do is for `check --runtime` to judge. */
const DRIVERS: Readonly<Record<string, (streams: DriverStreams) => Promise<void>>> = {
  'the example in Node': runDriver,
  'the example in Python': streams => runCommand('fixtures/runtimes/python/driver.py', streams),
  'the sample of the specification': runSample,
  'our own library': runConnect,
};

let tool: MockTool;
beforeAll(async () => {
  const echo = { match: { operation: 'echo' }, reply: { result: { text: '{{arguments.text}}' } } };
  tool = await startMockTool({ fixtures: parseFixtures({ version: 1, fixtures: [echo] }) });
});
afterAll(() => tool.close());

test.each(Object.entries(DRIVERS))('%s shows what the model gets, and ends', async (_, run) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const env = { ...process.env, TOOL_URL: tool.url, TOOL_URLS: JSON.stringify([tool.url]) };
  const ended = run({ input, output, env }).finally(() => output.end());
  const tell = (instruction: Instruction) => input.write(`${JSON.stringify(instruction)}\n`);
  const saw: unknown[] = [];
  tell({ do: 'invoke', operation: 'echo', arguments: { text: ' é\u0001 ' }, id: 'call_1' });
  for await (const line of createInterface({ input: output })) {
    saw.push(JSON.parse(line));
    if (line.includes('"model"')) tell({ do: 'end' });
  }
  await ended;
  expect(saw).toContainEqual({ saw: 'model', id: 'call_1', text: ' é\u0001 ' });
});

async function runCommand(path: string, { input, output, env }: DriverStreams): Promise<void> {
  const child = spawn('python3', [path], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  input.pipe(child.stdin);
  child.stdout.pipe(output, { end: false });
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(stderr).toBe('');
}
