import { readdir, readFile, stat } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { InvokeOptions } from '../../../src/commands/invoke/plan.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import {
  type Draw,
  planWorkbench,
  runWorkbench,
  startWorkbench,
} from '../../../src/commands/workbench/start.js';
import type { WorkbenchOptions } from '../../../src/tui/workbench/model.js';
import { eventually } from '../../e2e/support/eventually.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { startPeer } from '../../e2e/support/peers.js';
import { configuredFolder } from '../../e2e/support/rap-json.js';
import { troubleOf } from '../../support/failing.js';
import { OPTIONS as CALL_OPTIONS } from './start-engine.js';

const OPTIONS = { ...CALL_OPTIONS, interactive: true };

function terminalOf({
  columns = 80,
  rows = 24,
  isTTY = true,
  env = {},
  cwd = '/nonexistent',
  said = [] as string[],
} = {}): Terminal {
  const screen = { isTTY, columns, rows };
  const stdout = Object.assign(new Writable({ write: (_, __, done) => done() }), screen);
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = new Writable({
    write(chunk, _, done) {
      said.push(String(chunk));
      done();
    },
  });
  const around = {
    env,
    cwd,
    home: '/nonexistent',
    afterDashes: null,
    announceUserCode: () => {},
    interrupt: () => {},
  };
  return { ...around, stdin, stdout, stderr } as unknown as Terminal;
}

/** A user who performs these actions and quits. */
const person =
  (does: (options: WorkbenchOptions) => Promise<void>, closed: string[] = []): Draw =>
  options => {
    void does(options).then(options.controls.quit);
    return { close: async () => void closed.push('closed') };
  };

describe('words and options', () => {
  test.each<[readonly string[], Partial<InvokeOptions>, string]>([
    [[':1', 'path=a'], {}, 'usage: no operation given: "path=a" is an argument'],
    [[':1', 'op', 'nothing'], {}, 'usage: unexpected argument "nothing"; use key=value'],
    [[':1', 'op', 'a=@-'], {}, 'unreadable-file: cannot read -: standard input is the keyboard here'],
    [[], { bearer: 'x' }, 'usage: -H and --bearer need a server'],
  ])('%j %j', async (words, options, trouble) => {
    expect(await troubleOf(() => startWorkbench(words, { ...OPTIONS, ...options }, terminalOf()))).toBe(
      trouble,
    );
  });

  test('arguments are typed once the schema is known, and may be incomplete', async () => {
    const plan = await planWorkbench([':1', 'op', 'n=7', 't=7'], OPTIONS, terminalOf());
    expect(plan.arguments?.({ properties: { n: { type: 'integer' } }, required: ['x'] })).toEqual({
      n: 7,
      t: '7',
    });
  });

  test('without arguments the form has its defaults', async () => {
    expect((await planWorkbench([':1', 'op'], OPTIONS, terminalOf())).arguments).toBeUndefined();
    const whole = await planWorkbench([':1', 'op'], { ...OPTIONS, args: '{}' }, terminalOf());
    expect(whole.arguments?.({})).toEqual({});
  });

  test('without a URL the configured servers are offered, if there are any', async () => {
    await using folder = await configuredFolder(['http://127.0.0.1:1'], ['node server.mjs']);
    const plan = await planWorkbench([], OPTIONS, terminalOf({ cwd: folder.path }));
    expect(plan.configured.map(({ kind }) => kind)).toEqual(['url', 'command']);
    expect((await planWorkbench([], OPTIONS, terminalOf())).configured).toEqual([]);
  });
});

test('quitting after a call closes the screen, notifies the tools, and keeps the transcript', async () => {
  await using plain = await startPeer('plain');
  await using folder = await temporaryFolder();
  const terminal = terminalOf({ cwd: folder.path });
  const options = { ...OPTIONS, save: folder.file('run.ndjson') };
  const plan = await planWorkbench([plain.url, 'slow', 'ms=60000'], options, terminal);
  const closed: string[] = [];
  const load = async () =>
    person(async ({ model, controls, start }) => {
      const server = await eventually('the server', () => {
        const [first] = model.servers;
        return first?.state.kind === 'ready' && first.id === start.server && { ...first.state, id: first.id };
      });
      const [tool] = server.toolset.tools.filter(({ name }) => name === start.operation);
      const args = start.arguments?.(tool?.inputSchema ?? {}) ?? {};
      const draft = { server: server.id, operation: 'slow', arguments: args };
      expect(await controls.run(draft, { validates: true })).toMatchObject({ kind: 'sent' });
    }, closed);
  expect(await runWorkbench(plan, terminal, load)).toBe(0);
  expect(closed).toEqual(['closed']);
  await plain.seen('cancel_tool_call');
  await plain.seen('close_thread');
  const lines = (await readFile(options.save, 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ kind: 'end', reason: 'done' });
  expect((await stat(options.save)).mode & 0o777).toBe(0o600);
});

describe('quitting prints unsaved calls on stderr', () => {
  /** Returns the output on stderr after these actions on a demo with this many calls. */
  async function outputAfter(
    calls: number,
    then: (options: WorkbenchOptions) => Promise<unknown>,
    fields: Partial<InvokeOptions> = {},
  ): Promise<string> {
    const said: string[] = [];
    const terminal = terminalOf({ said });
    const plan = await planWorkbench([], { ...OPTIONS, demo: true, ...fields }, terminal);
    const load = async () =>
      person(async options => {
        const { model, controls } = options;
        const server = await eventually('the demo', () => {
          const [first] = model.servers;
          return first?.state.kind === 'ready' && first;
        });
        const draft = { server: server.id, operation: 'edit_file', arguments: {} };
        for (let call = 0; call < calls; call++) await controls.run(draft, { validates: false });
        await then(options);
      });
    await runWorkbench(plan, terminal, load);
    return said.join('');
  }
  const nothing = async () => {};

  test('how many, and how to save them; nothing without calls, or if all are saved', async () => {
    await using folder = await temporaryFolder();
    expect(await outputAfter(2, nothing)).toBe(
      '2 calls were not saved. Next time press S, or give --save <file>.\n',
    );
    expect(await outputAfter(0, nothing)).toBe('');
    expect(await outputAfter(1, nothing, { save: folder.file('whole.ndjson') })).toBe('');
    const saving = ({ controls }: WorkbenchOptions) => controls.saveTranscript(folder.file('by-hand.ndjson'));
    expect(await outputAfter(1, saving)).toBe('');
  });
});

const FAIL = () => {
  throw new Error('no screen');
};

test.each<[string, () => Promise<Draw>, readonly string[]]>([
  ['loaded', async () => FAIL(), []],
  ['drawn', async () => FAIL, ['header', 'failed']],
])('--save: if the screen cannot be %s, no partial transcript is left behind', async (_, load, ends) => {
  await using folder = await temporaryFolder();
  const options = { ...OPTIONS, save: folder.file('run.ndjson') };
  const terminal = terminalOf();
  const plan = await planWorkbench([], { ...options, demo: true }, terminal);
  await expect(runWorkbench(plan, terminal, load)).rejects.toThrow('no screen');
  const names = await readdir(folder.path);
  const texts = await Promise.all(names.map(name => readFile(folder.file(name), 'utf8')));
  const lines = texts.flatMap(text => text.trimEnd().split('\n')).map(line => JSON.parse(line));
  expect([lines.at(0)?.kind, lines.at(-1)?.reason].filter(Boolean)).toEqual(ends);
});
