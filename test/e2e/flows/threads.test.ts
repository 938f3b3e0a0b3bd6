import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { flowTools } from '../support/flow-tools.js';
import { runHere } from '../support/in-process.js';
import { argv } from '../support/program.js';
import { invokeJsonHere } from '../support/report.js';

/** RT-FIELDS: a child thread tells its ancestors, root first; RT-NOTIFY: a thread of our own is closed. */
const tool = flowTools('stdlib', 'mock');

const CHILD = ['--ancestor', 'root', '--ancestor', 'parent'];

describe.concurrent.each(['stdlib', 'mock'] as const)('threads, of %s', name => {
  it('a child thread is sent with its ancestors, root first', async () => {
    const id = randomUUID();
    const { status, report } = await invokeJsonHere(argv`${tool(name).url} ancestors ${CHILD} --id ${id}`);
    expect(status).toBe(0);
    expect(report.llm?.text).toBe('["root","parent"]');
    expect(report.invocation).toMatchObject({ thread_ancestors: ['root', 'parent'] });
    expect(await tool(name).hears('invocation', { id })).toMatchObject({
      thread_ancestors: ['root', 'parent'],
    });
  });

  it('--no-close leaves our own thread open', async () => {
    const { report, status } = await invokeJsonHere(argv`${tool(name).url} ancestors --no-close`);
    expect(status).toBe(0);
    const thread_id = report.invocation?.group_id ?? '';
    expect(await tool(name).heard('close', { thread_id })).toEqual([]);
  });

  it('our own thread is closed at the end, a given one is not', async () => {
    const given = `given-${randomUUID()}`;
    const [{ report }] = await Promise.all([
      invokeJsonHere(argv`${tool(name).url} ancestors`),
      runHere(argv`invoke ${tool(name).url} ancestors --group-id ${given}`),
    ]);
    await tool(name).hears('close', { thread_id: report.invocation?.group_id ?? '' });
    expect(await tool(name).heard('close', { thread_id: given })).toEqual([]);
  });
});
