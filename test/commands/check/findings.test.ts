import { expect, test } from 'vitest';
import { runHere } from '../../e2e/support/in-process.js';
import { startRawTool } from '../../probes/tools.js';

test('a body that must not be there is shown', async () => {
  await using tool = await startRawTool({ noticed: response => void response.end('{"closed":"gladly"}') });
  const only = ['--only', 'TOOL-CLOSE', '--probe-timeout', '300ms'];
  const { stdout, status } = await runHere(['check', tool.url, ...only]);
  expect(stdout).toMatch(/\/close_thread → 200 after .*\n.*"thread_id".*\n +│ {3}← {"closed":"gladly"}\n/);
  expect(status).toBe(0);
  expect(stdout).toContain('Warnings');
});
