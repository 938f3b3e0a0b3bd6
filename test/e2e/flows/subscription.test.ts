import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Callback } from '../../../src/protocol/callbacks.js';
import { type FlowTool, flowTools, startMockTool } from '../support/flow-tools.js';
import { folded } from '../support/folded.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere, startHere } from '../support/in-process.js';
import { fieldOf } from '../support/peers.js';
import { argv, runShell, shellLine } from '../support/program.js';
import { invokeJsonHere, readReport, verdicts, warningIds } from '../support/report.js';

/** RT-SUB: a result opens a subscription, events follow until the last one. */
const MANY = 300;
const tool = flowTools('plain', 'mock', 'odd');
let folder: Folder;
let flood: FlowTool;
beforeAll(async () => {
  folder = await temporaryFolder();
  flood = await startMockTool(await folder.write('many.json', JSON.stringify(fixturesOf(MANY))));
});
afterAll(async () => {
  await flood.stop();
  await folder[Symbol.asyncDispose]();
});

const EVENTS = ['Event 1 of 3', 'Event 2 of 3', 'Event 3 of 3'];
const linesOf = (text: string) => text.split('\n').filter(line => line !== '');

describe.concurrent.each(['plain', 'mock'] as const)('subscription, of %s', name => {
  it('--follow waits for the last event: prints the result, then a line for each event', async () => {
    const { status, stdout } = await runHere(argv`invoke ${tool(name).url} watch --follow -o text`);
    expect(status).toBe(0);
    expect(stdout).toBe(['Watching', ...EVENTS].map(line => `${line}\n`).join(''));
  });

  it('-o json: where a runtime applies each event, the thread or a child', async () => {
    const ids = ['--group-id', `${name}-json`, '--id', `${name}-sub`, '--ancestor', 'root'];
    const call = [tool(name).url, 'watch', 'associative=every_second', '--follow', ...ids];
    const { status, report } = await invokeJsonHere(call);
    expect(status).toBe(0);
    expect(report.llm?.text).toBe('Watching');
    expect(report.subscription).toMatchObject({ events: 3, ended: 'final' });
    const child = { placement: 'child-thread', thread_ancestors: ['root', `${name}-json`] };
    const same = { placement: 'thread', thread_ancestors: ['root'] };
    expect(report.subscription?.calls).toMatchObject(
      [child, same, child].map((where, index) => ({
        name: 'receive_event',
        arguments: { tool_call_id: `${name}-sub` },
        text: EVENTS[index],
        ...where,
      })),
    );
    expect(verdicts(report)).toEqual(['settles 200', 'noted 200', 'noted 200', 'noted 200']);
    expect(warningIds(report)).toEqual([]);
  });

  it('without a thread of the user: it is closed after the last event', async () => {
    const { report } = await invokeJsonHere(argv`${tool(name).url} watch --follow`);
    await tool(name).hears('close', { thread_id: report.invocation?.group_id ?? '' });
    expect(report.subscription?.events).toBe(3);
  });
});

describe.concurrent('subscription, left or followed', () => {
  const name = 'mock';

  it('--timeout limits the wait for each event, not for all of them', async () => {
    const call = ['watch', 'every_ms=600', '--follow', '--timeout', '1500ms', '-o', 'text'];
    const { status, stdout } = await runHere(argv`invoke ${tool(name).url} ${call}`);
    expect(status).toBe(0);
    expect(linesOf(stdout)).toEqual(['Watching', ...EVENTS]);
  });

  it('without a last event, --timeout ends it: exit 7, with notices for call and thread', async () => {
    const id = randomUUID();
    const reply = [
      { result: { text: 'Watching', subscription: true } },
      { event: { text: 'the only event' } },
    ];
    const fixtures = { version: 1, fixtures: [{ match: { operation: 'watch' }, reply }] };
    const endless = await startMockTool(await folder.write('endless.json', JSON.stringify(fixtures)));
    const call = argv`invoke ${endless.url} watch --follow --timeout 3s --id ${id}`;
    const ended = await runHere(call);
    expect([ended.status, linesOf(ended.stdout)]).toEqual([7, ['Watching', 'the only event']]);
    expect(ended.stderr).toContain('error: the subscription was canceled: no event came for 3s');
    expect(ended.stderr).not.toContain('use --follow');
    await endless.hears('cancel', { tool_call_id: id });
    const { status, report } = await invokeJsonHere([endless.url, ...call.slice(2)]);
    expect([status, report.subscription?.ended, report.error?.code]).toEqual([7, 'cancel', 'timeout']);
    await endless.stop();
  });

  it('without --follow: a note, and the thread is closed at once', async () => {
    const id = randomUUID();
    const call = ['watch', 'events=1000', '--id', id, '-o', 'text'];
    const { status, stdout, stderr } = await runHere(argv`invoke ${tool(name).url} ${call}`);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Watching' });
    expect(stderr).toMatch(
      /the tool opened a subscription, but its events were not awaited \(it was closed with its thread\); use --follow to receive them/,
    );
    const invocation = await tool(name).hears('invocation', { id });
    await tool(name).hears('close', { thread_id: fieldOf({ body: invocation }, 'group_id') });
  });

  it('without --follow in a given thread: the subscription is canceled, with a note', async () => {
    const ids = { thread_id: `theirs-${name}`, tool_call_id: randomUUID() };
    const args = [
      'watch',
      'events=1000',
      '--group-id',
      ids.thread_id,
      '--id',
      ids.tool_call_id,
      '-o',
      'text',
    ];
    const { status, stderr } = await runHere(argv`invoke ${tool(name).url} ${args}`);
    expect([status, stderr]).toEqual([0, expect.stringContaining('(it was canceled)')]);
    await tool(name).hears('cancel', ids);
  });

  it('row 30: --follow | head -1: the subscription is canceled when the pipe closes', async () => {
    const ids = { thread_id: `unread-${name}`, tool_call_id: randomUUID() };
    const args = [
      'watch',
      'events=1000',
      'every_ms=20',
      '--group-id',
      ids.thread_id,
      '--id',
      ids.tool_call_id,
    ];
    const line = shellLine(argv`invoke ${tool(name).url} ${args} --follow -o text`);
    const { stdout } = await runShell(`${line} | head -1; echo "status \${PIPESTATUS[0]}"`);
    expect(stdout).toBe('Watching\nstatus 0\n');
    await tool(name).hears('cancel', ids);
  });

  it('Ctrl-C cancels the subscription: exit 130, with notices for call and thread', async () => {
    const id = randomUUID();
    const args = ['watch', 'events=1000', 'every_ms=20', '--follow', '--id', id, '-o', 'json', '-v'];
    const call = startHere(argv`invoke ${tool(name).url} ${args}`);
    await call.prints(/Event 2 of 1000/);
    call.interrupt();
    const ended = await call.ended;
    const report = readReport(ended);
    expect(ended.status).toBe(130);
    expect(report.subscription?.ended).toBe('cancel');
    const thread = report.invocation?.group_id ?? '';
    await tool(name).hears('cancel', { thread_id: thread, tool_call_id: id });
    await tool(name).hears('close', { thread_id: thread });
    expect(report.callbacks?.some(({ verdict }) => verdict === 'rejected')).toBe(false);
  });
});

describe.concurrent('subscription, events after Ctrl-C', () => {
  const untilEnd = async (...options: readonly string[]) => {
    const call = startHere(argv`invoke ${tool('odd').url} deaf_events --follow -o json -v ${options}`);
    await call.prints(/"Event 2"/);
    call.interrupt();
    const ended = await call.ended;
    expect(ended.status).toBe(130);
    expect(verdicts(readReport(ended)).at(-1)).toBe('late 200');
    return ended;
  };

  it('are ignored, and no fault just after the cancel', async () => {
    const { stderr } = await untilEnd('--linger', '300ms');
    expect(stderr).toContain(
      'a subscription_event came after the subscription was canceled; it was ignored\n',
    );
  });

  it('are a fault of the tool later', async () => {
    const { stderr } = await untilEnd('--linger', '2s');
    expect(stderr).toMatch(/^warning: an event came more than 500ms after the cancel .* \[TOOL-SUB\]$/m);
  });
});

describe.concurrent.each(['odd', 'mock'] as const)('subscription, invalid events of %s', name => {
  it('an event after the last one is discarded with 404', async () => {
    const id = randomUUID();
    const call = [tool(name).url, 'event_after_final', '--follow', '--linger', '1s', '--id', id];
    const { status, report, stderr } = await invokeJsonHere(call);
    expect(status).toBe(0);
    expect(verdicts(report)).toEqual(['settles 200', 'noted 200', 'noted 200', 'discarded 404']);
    expect(report.subscription).toMatchObject({ events: 2, ended: 'final' });
    expect(report.subscription?.calls.map(({ text }) => text)).toEqual(['first', 'last']);
    expect(stderr).toContain('the subscription has ended');
    expect(await tool(name).answers({ tool_call_id: id })).toEqual([200, 200, 404]);
  });

  it('an event without a subscription is discarded with 404', async () => {
    const call = [tool(name).url, 'event_unasked', '--follow', '--linger', '1s'];
    const { status, report } = await invokeJsonHere(call);
    expect(status).toBe(0);
    expect(verdicts(report)).toEqual(['settles 200', 'discarded 404']);
    expect(report.subscription).toBeNull();
    expect(warningIds(report)).toEqual(['TOOL-SUB']);
  });
});

const NUMBERED = Array.from({ length: MANY }, (_, index) => `Event ${index + 1} of ${MANY}`);
const FLOOD = ['watch', `events=${MANY}`, 'every_ms=0'];

describe('subscription, hundreds of events at once, in order', () => {
  const followed = (url: string, ...more: readonly string[]) =>
    runHere(argv`invoke ${url} ${FLOOD} --follow ${more}`);

  it('each after the 200 of the one before: -o text', async () => {
    const id = randomUUID();
    const { status, stdout } = await followed(tool('plain').url, 'way=in_turn', '--id', id, '-o', 'text');
    expect(status).toBe(0);
    expect(linesOf(stdout)).toEqual(['Watching', ...NUMBERED]);
    expect(await tool('plain').answers({ tool_call_id: id })).toEqual(NUMBERED.map(() => 200));
  });

  it('none waiting for the one before: -o json', async () => {
    const { subscription } = readReport(await followed(tool('plain').url, 'way=pipelined', '-o', 'json'));
    expect(subscription?.events).toBe(MANY);
    expect(subscription?.calls.map(({ text }) => text)).toEqual(NUMBERED);
  });

  it('of the mock: -o ndjson', async () => {
    const id = randomUUID();
    const { exchange } = folded((await followed(flood.url, '--id', id, '-o', 'ndjson')).stdout);
    expect(exchange.subscription).toMatchObject({ events: MANY, ended: { by: 'final' } });
    expect(exchange.arrivals.flatMap(({ message }) => eventText(message))).toEqual(NUMBERED);
    expect(await flood.answers({ tool_call_id: id })).toEqual(NUMBERED.map(() => 200));
  });
});

function eventText(message: Callback | null): string[] {
  return message?.type === 'subscription_event' ? [message.text] : [];
}

/** The mock's `watch`, with so many events. */
function fixturesOf(events: number): object {
  const reply = Array.from({ length: events }, (_, index) => ({
    event: { text: `Event ${index + 1} of ${events}`, ...(index === events - 1 && { final: true }) },
  }));
  const result = { result: { text: 'Watching', subscription: true } };
  return { version: 1, fixtures: [{ match: { operation: 'watch' }, reply: [result, ...reply] }] };
}
