import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { flowTools } from '../support/flow-tools.js';
import { folded } from '../support/folded.js';
import { startHere } from '../support/in-process.js';
import type { Ended } from '../support/program.js';
import { argv } from '../support/program.js';
import { readReport, verdicts, warningsOf } from '../support/report.js';

/** Cancelled during work: the tool is notified once, and a result may come all the same (RT-NOTIFY). */
const tool = flowTools('stdlib', 'mock');

interface Cancelled extends Ended {
  readonly id: string;
}

/** Calls `work`, and presses Ctrl-C as soon as the tool has the call. */
async function cancelled(name: 'stdlib' | 'mock', ...args: readonly string[]): Promise<Cancelled> {
  const id = randomUUID();
  const call = startHere(argv`invoke ${tool(name).url} work ms=60000 --id ${id} ${args}`);
  await tool(name).hears('invocation', { id });
  call.interrupt();
  return { ...(await call.ended), id };
}

describe.concurrent.each(['stdlib', 'mock'] as const)('cancel during work, of %s', name => {
  it.each(['say_so', 'say_nothing'])('%s: exit 130, and the tool is notified', async when => {
    const ended = await cancelled(name, `when_cancelled=${when}`, '-o', 'json');
    const report = readReport(ended);
    const thread = report.invocation?.group_id ?? '';
    expect(ended.status).toBe(130);
    expect(report.outcome).toMatchObject({ type: 'canceled', by: 'user', basis: 'ours' });
    expect(await tool(name).hears('cancel', { tool_call_id: ended.id })).toEqual({
      thread_id: thread,
      tool_call_id: ended.id,
    });
    await tool(name).hears('close', { thread_id: thread });
    expect(await tool(name).heard('cancel', { tool_call_id: ended.id })).toHaveLength(1);
  });

  it('a late result is answered 200 and changes nothing', async () => {
    const ended = await cancelled(name, 'when_cancelled=say_so', '--linger', '1s', '-o', 'json');
    const report = readReport(ended);
    expect(ended.status).toBe(130);
    expect(verdicts(report)).toEqual(['late 200']);
    expect(warningsOf(report).filter(({ message }) => message.startsWith('a tool_result'))).toEqual([]);
    expect(ended.stderr).toContain('a tool_result came after the call was canceled; it was ignored\n');
    expect(ended.stderr).not.toContain('warning: a tool_result');
    expect(report.result).toBeNull();
    expect(report.outcome).toMatchObject({ type: 'canceled', by: 'user', basis: 'ours' });
  });

  it('-o text: the text names who canceled', async () => {
    const ended = await cancelled(name, 'when_cancelled=say_nothing', '-o', 'text');
    expect(ended.status).toBe(130);
    expect(JSON.parse(ended.stdout)).toEqual({ canceled: { by: 'user' } });
  });

  it('-o ndjson: the decision, then both notices', async () => {
    const ended = await cancelled(name, 'when_cancelled=say_nothing', '-o', 'ndjson');
    const { events, exchange, faults } = folded(ended.stdout);
    expect(faults).toEqual([]);
    expect(exchange.settled).toMatchObject({ by: 'cancel', who: 'person' });
    const purposes = events.flatMap(event => (event.kind === 'request' ? [event.purpose] : []));
    expect(purposes.filter(purpose => /cancel|close/.test(purpose))).toEqual(['cancel', 'close']);
  });
});

it.concurrent('a tool that finishes anyway: its result changes nothing', async () => {
  const ended = await cancelled('stdlib', 'when_cancelled=finish', '--linger', '1s', '-o', 'json');
  const report = readReport(ended);
  expect(ended.status).toBe(130);
  expect(verdicts(report)).toEqual(['late 200']);
  expect(report.llm?.text).not.toContain('Worked');
});
