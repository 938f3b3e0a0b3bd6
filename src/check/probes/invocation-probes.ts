import { randomUUID } from 'node:crypto';
import type { Toolset } from '../../protocol/toolset.js';
import { forEachConcurrently } from '../../util/collections.js';
import { brokenCalls } from './generated-calls.js';
import { type Probe, variants, withOperation } from './probe.js';
import type { ProbeCall } from './probe-call.js';
import { PROBE_CONCURRENCY, type ProbeClient } from './prober.js';
import type { SampleCalls } from './samples.js';

export const VALID_CALL: Probe = {
  id: 'valid-call',
  checks: [
    'TOOL-ACK',
    'TOOL-ASYNC',
    'TOOL-ALWAYS',
    'TOOL-POST',
    'TOOL-GROUP',
    'TOOL-ID',
    'TOOL-CALLID',
    'TOOL-ONCE',
    'TOOL-SECRET',
  ],
  shows: [
    'TOOL-ERRPREFIX',
    'TOOL-NOLEAK',
    'TOOL-FALLBACK',
    'TOOL-DIFF',
    'TOOL-IMAGE',
    'TOOL-SUB',
    'TOOL-CHOICE',
    'TOOL-OAUTH',
  ],
  run: (_, { samples }) => samples.finish(),
};

/** Names beside one that could be an operation; every object of JavaScript has members of the first two. */
const ODD_NAMES: readonly string[] = ['constructor', '__proto__', '../../etc/passwd'];

/** Maximum number of operations whose arguments are sent with other names. */
const MAX_RENAMED = 3;

/** Calls of operations that the toolset does not have. A tool that executes any name may only complain about missing arguments. */
const UNKNOWN_OPERATION: Probe = {
  id: 'unknown-operation',
  checks: ['TOOL-UNKNOWN-OP', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
  async run(client, { toolset, samples }) {
    if (!toolset) return;
    const names = [unknownName(toolset), ...ODD_NAMES];
    const calls = names.map(operation => ({ operation, arguments: {} }));
    samples.start(); // a valid result proves that a call was executed
    await Promise.all([...calls, ...renamedCalls(toolset, samples)].map(call => client.call(call)));
  },
};

/** Calls with valid arguments under another name, and under the name in other letters. */
function renamedCalls(toolset: Toolset, { harmless }: SampleCalls): readonly ProbeCall[] {
  const isUnknown = (name: string) => toolset.tools.every(tool => tool.name !== name);
  return harmless.slice(0, MAX_RENAMED).flatMap(({ tool: { name }, arguments: args, caller }) => {
    const inOtherCase = [name.toUpperCase(), name.toLowerCase()].filter(isUnknown).slice(0, 1);
    return [unknownName(toolset), ...inOtherCase].map(operation => ({ operation, arguments: args, caller }));
  });
}

/** A name that could be an operation, and is not in the toolset. */
function unknownName({ tools }: Toolset): string {
  let name = 'no_such_operation';
  while (tools.some(tool => tool.name === name)) name += '_';
  return name;
}

const BROKEN_ARGUMENTS: Probe = {
  id: 'broken-arguments',
  checks: ['TOOL-BAD-ARGS', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
  isFor: async ({ samples }) =>
    samples.harmless.length === 0 || (await brokenCalls(samples.harmless)).length > 0,
  run: async (client, { samples }) => {
    samples.start(); // a valid result proves that a call was executed
    await forEachConcurrently(await brokenCalls(samples.harmless), PROBE_CONCURRENCY, call =>
      client.call(call),
    );
  },
};

const CALL_ID: Probe = {
  id: 'call-id',
  checks: ['TOOL-CALLID', 'TOOL-ALWAYS'],
  run: variants([{ fields: { call_id: null } }, { fields: { call_id: undefined } }]),
};

const MAX_ID_LENGTH = 200;

/** Unusual ids that a model or another runtime may use. */
const UNUSUAL_IDS: readonly string[] = [
  `"quoted" and 'quoted'`,
  'a/b\\c?d#e&f=g',
  '../../etc/passwd',
  '%2f%2e%00',
  'Zoë 工具 🛠️',
  '  padded',
  'x'.repeat(MAX_ID_LENGTH),
];

const ODD_IDS: Probe = {
  id: 'odd-ids',
  checks: ['TOOL-ID', 'TOOL-GROUP', 'TOOL-CALLID'],
  run: withOperation(async (client, operation) => {
    const unique = (id: string) => `${id} ${randomUUID()}`.slice(-MAX_ID_LENGTH);
    await Promise.all(
      UNUSUAL_IDS.map(id => {
        const fields = { id: unique(id), group_id: unique(id), call_id: unique(id) };
        return client.call({ ...operation, fields });
      }),
    );
  }),
};

/** Endings of a callback URL, after its token. */
const URL_ENDINGS: readonly string[] = [
  '?thread=a&attempt=1',
  '?token=3f1c&next=%2Fa%3Fb%3Dc&empty=',
  '/',
  '/results/3f1c',
  '/%c3%a9%2fb%20c',
  '/Results?tag=a&tag=B',
];

const CALLBACK_URLS: Probe = {
  id: 'callback-urls',
  checks: ['TOOL-OPAQUE'],
  run: variants(URL_ENDINGS.map(ending => ({ addressed: url => url + ending }))),
};

/**
 * Members beside the required ones, in groups; the first call has none. Frameworks refuse the keys of prototypes, so these have calls of
 * their own.
 */
const EXTRA_MEMBERS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { user_id: 'user_1', thread_ancestors: ['thread_root', 'thread_parent'] },
  { call_id: null, user_id: null, thread_ancestors: null },
  { 'x-unknown': { deep: [1, 2, 3] }, version: 99 },
  { constructor: { prototype: { admin: true } } },
  { ['__proto__']: { admin: true } },
];

const EXTRA_FIELDS: Probe = {
  id: 'extra-fields',
  checks: ['TOOL-EXTRA', 'TOOL-GROUP'],
  shows: ['TOOL-ACK'], // without it, a call that is refused because of its members would break TOOL-ACK
  run: withOperation(async (client, operation) => {
    await Promise.all(EXTRA_MEMBERS.map(members => callWithMembers(client, operation, members)));
  }),
};

/** Calls with these members, and with each of them alone if the tool refuses the group or reports an error: so it is known which one. */
async function callWithMembers(
  client: ProbeClient,
  operation: ProbeCall,
  members: Readonly<Record<string, unknown>>,
): Promise<void> {
  const call = client.send({ ...operation, fields: { call_id: undefined, ...members } });
  await call.acknowledged;
  if (call.status === 200) await call.finish();
  const isAccepted = call.status === 200 && call.error === null;
  const each = Object.entries(members);
  if (!isAccepted && each.length > 1)
    await Promise.all(each.map(([name, value]) => callWithMembers(client, operation, { [name]: value })));
}

const CONCURRENT_CALLS = 8;

/** Calls of one thread: a tool may make them one after another. */
const SHARED_CALLS = 2;

const CONCURRENT: Probe = {
  id: 'concurrent',
  checks: ['TOOL-ISOLATE', 'TOOL-ALWAYS'],
  run: withOperation(async (client, operation) => {
    const shared = { group_id: `thread_${randomUUID()}` };
    const calls = Array.from({ length: CONCURRENT_CALLS }, (_, index) =>
      client.call({ ...operation, ...(index < SHARED_CALLS && { fields: shared }) }),
    );
    await Promise.all(calls);
  }),
};

/** Malformed bodies without a callback URL that can be used. */
const UNREADABLE: readonly NonNullable<ProbeCall['body']>[] = [
  () => '',
  () => '{"operation":',
  invocation => JSON.stringify([invocation]),
  () => 'null',
  invocation => JSON.stringify({ ...invocation, callback_url: 'not a URL' }),
];

/** Malformed invocations with a callback URL. */
const INCOMPLETE: readonly NonNullable<ProbeCall['fields']>[] = [
  { operation: undefined },
  { operation: 5, arguments: 'none' },
  { arguments: undefined },
  { arguments: ['none'] },
];

export const MALFORMED: Probe = {
  id: 'malformed',
  checks: ['TOOL-MALFORMED'],
  alone: true,
  run: async (client, target) => {
    if (!target.toolset) return;
    // An unknown operation cannot be executed, even by a tool that does not validate.
    const nothing = { operation: unknownName(target.toolset), arguments: {} };
    // One after another: if the tool crashes, the last message was the cause.
    for (const body of UNREADABLE) {
      await client.send({ ...nothing, body }).acknowledged;
      if (!(await target.prober.isToolAlive())) return;
    }
    await Promise.all(INCOMPLETE.map(fields => client.call({ ...nothing, fields })));
    await client.call((await target.samples.operation) ?? nothing); // the tool must still serve a valid call
  },
};

/** Invocations with other names, arguments, ids, callback URLs and members than a tool may expect. */
export const INVOCATION_PROBES: readonly Probe[] = [
  UNKNOWN_OPERATION,
  BROKEN_ARGUMENTS,
  CALL_ID,
  ODD_IDS,
  CALLBACK_URLS,
  EXTRA_FIELDS,
  CONCURRENT,
];
