import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type OwnTool, resultFor, startTool } from './support/own-tool.js';
import { type Peer, startPeer } from './support/peers.js';
import { argv } from './support/program.js';
import { invokeJson, invokeJsonHere, type Reported, warningsOf } from './support/report.js';

/** What stands on the command line, and what goes over the wire. */
let tool: OwnTool;
let stdlib: Peer;

beforeAll(async () => {
  const properties = {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    on: { type: 'boolean' },
    none: { type: 'null' },
    list: { type: 'array' },
    map: { type: 'object' },
    free: {},
  };
  tool = await startTool({
    take: { inputSchema: { type: 'object', properties }, callbacks: call => [resultFor(call, 'done')] },
  });
  stdlib = await startPeer('stdlib');
});
afterAll(() => Promise.all([tool[Symbol.asyncDispose](), stdlib.stop()]));

const sentSchema = z.looseObject({
  id: z.string(),
  arguments: z.custom<object>(value => typeof value === 'object'),
});

/** The invocation that the tool got for this command line. */
async function sentBy(
  words: readonly string[],
  invoke: (args: readonly string[]) => Promise<Reported> = invokeJsonHere,
): Promise<z.infer<typeof sentSchema>> {
  const { report, status, stderr } = await invoke([tool.url, 'take', ...words]);
  expect(status, stderr.slice(0, 300)).toBe(0);
  const all = tool.invocations().map(({ raw }) => sentSchema.parse(JSON.parse(raw)));
  const sent = all.find(({ id }) => id === report.invocation?.id);
  if (!sent) throw new Error('it never arrived');
  return sent;
}

describe.concurrent('arguments', () => {
  it.each<[string, string[], Record<string, unknown>]>([
    [
      'typed by the schema',
      ['text=42', 'count=42', 'ratio=1.5', 'on=true', 'none=null', 'list=[1]', 'map={"a":1}'],
      { text: '42', count: 42, ratio: 1.5, on: true, none: null, list: [1], map: { a: 1 } },
    ],
    [
      ':= is JSON, verbatim',
      ['free:=42', 'other:={"a":[null]}', 'text:="b"'],
      { free: 42, other: { a: [null] }, text: 'b' },
    ],
    ['empty, and with further =', ['text=', 'free=a=b:=c'], { text: '', free: 'a=b:=c' }],
    ['--args, as JSON', ['--args', '{"count":1,"free":{"b":2}}'], { count: 1, free: { b: 2 } }],
  ])('%s', async (_, words, expected) => {
    const { arguments: args } = await sentBy(words);
    expect(JSON.stringify(args)).toBe(JSON.stringify(expected));
  });

  it('=@file and --args @file read text and arguments from files, relative to the current folder', async () => {
    await using folder = await temporaryFolder();
    await folder.write('note.txt', 'é\r\n42');
    await folder.write('args.json', '{"count":7}');
    const here = (args: readonly string[]) => invokeJson(args, { cwd: folder.path });
    expect((await sentBy(['text=@note.txt'], here)).arguments).toEqual({ text: 'é\r\n42' });
    expect((await sentBy(['--args', '@args.json'], here)).arguments).toEqual({ count: 7 });
  });

  it('--args - and =@- read standard input', async () => {
    const given =
      (stdin: string, invoke = invokeJson) =>
      (args: readonly string[]) =>
        invoke(args, { stdin });
    expect((await sentBy(['--args', '-'], given('{"count":8}'))).arguments).toEqual({ count: 8 });
    expect((await sentBy(['text=@-'], given('from stdin', invokeJsonHere))).arguments).toEqual({
      text: 'from stdin',
    });
  });

  it.each([
    ['echo', ['txt=hi'], 'Unexpected argument "txt". Did you mean "text"?'],
    ['echo', ['colour=red'], null],
  ])('%s %j: an unknown name beside a missing one', async (operation, words, offer) => {
    const { status, stderr } = await runHere(['invoke', stdlib.url, operation, ...words]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('$.text: is required')]);
    if (offer) expect(stderr).toContain(`hint: ${offer} `);
    else expect(stderr).not.toContain('Did you mean');
  });

  it('--no-validate sends arguments that do not match the schema', async () => {
    expect((await sentBy(['count=many', 'on=maybe', '--no-validate'])).arguments).toEqual({
      count: 'many',
      on: 'maybe',
    });
  });
});

describe.concurrent('identity on the wire (RT-ID, RT-FIELDS)', () => {
  it('default: fresh ids, call_id null, no ancestors, no user', async () => {
    const [one, other] = await Promise.all([sentBy([]), sentBy([])]);
    expect(Object.keys(one).sort()).toEqual([
      'arguments',
      'call_id',
      'callback_url',
      'group_id',
      'id',
      'operation',
    ]);
    expect(one['call_id']).toBeNull();
    expect(one.id).not.toBe(other.id);
    expect(one['group_id']).not.toBe(other['group_id']);
    expect(one['callback_url']).not.toBe(other['callback_url']);
  });

  it('each flag sets its field', async () => {
    const sent = await sentBy([
      ...['--id', 'i-1', '--call-id', 'c-1', '--group-id', 'g-1', '--user-id', 'u-1'],
      ...['--ancestor', 'root', '--ancestor', 'parent'],
    ]);
    expect(sent).toMatchObject({
      id: 'i-1',
      call_id: 'c-1',
      group_id: 'g-1',
      user_id: 'u-1',
      thread_ancestors: ['root', 'parent'],
    });
  });

  it('TOOL-CALLID: the result carries the call_id', async () => {
    const { report } = await invokeJsonHere(argv`${stdlib.url} echo text=a --call-id c-2`);
    expect(report.result).toMatchObject({ call_id: 'c-2' });
    expect(warningsOf(report)).toEqual([]);
  });
});
