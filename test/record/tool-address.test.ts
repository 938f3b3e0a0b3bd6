import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/events/log.js';
import { Forwarder } from '../../src/record/forwarder.js';
import { ToolAddress } from '../../src/record/routes.js';
import { systemClock as clock } from '../../src/system/clock.js';

/** A tool whose discovery document names an endpoint. */
async function toolAt(url: string, endpoint: string): Promise<ToolAddress> {
  const body = Buffer.from(JSON.stringify({ endpoint }));
  const client = { send: async () => ({ status: 200, headers: {}, body }), close: async () => {} };
  const tool = new ToolAddress(new Forwarder(createLog(clock.now), client), url);
  await tool.endpoint();
  return tool;
}

const REMOTE = 'http://tool.example:3001';

const LOCAL = 'http://127.0.0.1:3001';

describe('row 9: where a tool may receive answers', () => {
  test.each([
    [REMOTE, `${REMOTE}/invoke`, `${REMOTE}/choices/1`],
    [REMOTE, 'https://api.example/invoke', 'https://api.example/choices/1'],
    [LOCAL, `${LOCAL}/invoke`, 'http://127.0.0.1:4000/choices/1'],
    [LOCAL, `${LOCAL}/invoke`, 'http://localhost:4000/choices/1'],
    ['http://localhost:3001', `${LOCAL}/invoke`, 'http://[::1]:4000/choices/1'],
  ])('%s with the endpoint %s: to %s', async (url, endpoint, there) => {
    expect((await toolAt(url, endpoint)).takesAnswersAt(there)).toBe(true);
  });

  test.each([
    [REMOTE, `${REMOTE}/invoke`, 'http://127.0.0.1:6379/'],
    [REMOTE, `${REMOTE}/invoke`, 'http://localhost:6379/'],
    [REMOTE, 'http://127.0.0.1:6379/invoke', 'http://127.0.0.1:6379/'],
    [REMOTE, `${REMOTE}/invoke`, 'http://tool.example:6379/'],
    [LOCAL, `${LOCAL}/invoke`, 'http://169.254.169.254/'],
    [LOCAL, `${LOCAL}/invoke`, 'nowhere'],
  ])('%s with the endpoint %s: not to %s', async (url, endpoint, there) => {
    expect((await toolAt(url, endpoint)).takesAnswersAt(there)).toBe(false);
  });
});
