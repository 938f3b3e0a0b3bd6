import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startServing } from '../../support/serving.js';
import { flowTools } from '../support/flow-tools.js';
import { runHere } from '../support/in-process.js';
import { argv } from '../support/program.js';
import { invokeJsonHere, verdicts, warningIds } from '../support/report.js';

/** Results that come too late, or twice. */
const tool = flowTools('plain', 'odd', 'mock');

const LATE = ['slow', 'ms=800', '--timeout', '500ms', '--linger', '1500ms'];
const TWICE = ['two_results', '--linger', '1s'];

describe.concurrent.each(['plain', 'mock'] as const)('a late result, of %s', name => {
  it('is answered 200, a warning, and changes nothing: exit 7', async () => {
    const id = randomUUID();
    const { status, report, stderr } = await invokeJsonHere(argv`${tool(name).url} ${LATE} --id ${id}`);
    expect(status).toBe(7);
    expect(await tool(name).answers({ id })).toEqual([200]);
    expect(verdicts(report)).toEqual(['late 200']);
    expect(report.outcome).toMatchObject({ type: 'timeout', durationMs: 500, basis: 'ours' });
    expect(report.llm?.text).toBe('{"timeout":{"durationMs":500}}');
    expect(report.result).toBeNull();
    expect(stderr).toContain('a tool_result came after the call had ended');
  });
});

it('a result that arrives while the program closes is named in the error', async () => {
  let pending: Record<string, string> = {};
  await using server = await startServing((response, { url, headers, body }) => {
    if (url === '/invoke') pending = JSON.parse(body);
    const endpoint = `http://${headers.host}/invoke`;
    const tools = [{ name: 'slow', description: 'Never in time.', inputSchema: { type: 'object' } }];
    const answer = () =>
      response.end(url.startsWith('/.well-known') ? JSON.stringify({ name: 'late', endpoint, tools }) : '');
    if (url !== '/close_thread') return void answer();
    const { callback_url = '', group_id, id, call_id } = pending;
    const result = { type: 'tool_result', group_id, id, call_id, text: 'too late' };
    const type = { 'content-type': 'application/json' };
    void fetch(callback_url, { method: 'POST', headers: type, body: JSON.stringify(result) }).then(answer);
  });
  const call = ['invoke', server.url, 'slow', '--timeout', '500ms', '-o', 'plain'];
  const { status, stdout, stderr } = await runHere(call);
  expect(status).toBe(7);
  expect(stdout).toContain('tool_result came after the call had ended');
  expect(stderr).toMatch(
    /error: timed out after 500ms: .* acknowledged with 200, and its result arrived \S+ too late\n/,
  );
  expect(stderr).toContain('hint: To wait longer, use --timeout.');
  expect(stderr).not.toContain('no callback has arrived');
});

describe.concurrent.each(['odd', 'mock'] as const)('two results, of %s', name => {
  it('the first one counts, the second is a warning', async () => {
    const id = randomUUID();
    const { status, report } = await invokeJsonHere(argv`${tool(name).url} ${TWICE} --id ${id}`);
    expect(status).toBe(0);
    expect(await tool(name).answers({ id })).toEqual([200, 200]);
    expect(report.llm?.text).toBe('first result');
    expect(verdicts(report)).toEqual(['settles 200', 'duplicate 200']);
    expect(warningIds(report)).toEqual(['TOOL-ONCE']);
  });

  it('-o text: stdout is only the first', async () => {
    const { stdout, stderr } = await runHere(argv`invoke ${tool(name).url} ${TWICE} -o text`);
    expect(stdout).toBe('first result');
    expect(stderr).toContain('a second tool_result with other content was ignored; the first one counts');
  });
});
