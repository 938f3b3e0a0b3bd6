import { randomUUID } from 'node:crypto';
import { NOTICES } from '../../protocol/invocation.js';
import type { Toolset } from '../../protocol/toolset.js';
import { readAcknowledgement, type Wire } from '../../runtime/wire.js';
import { forEachConcurrently } from '../../util/collections.js';
import { HOSTILE_TEXTS_PLAN } from '../recorded-call.js';
import { brokenCalls, hostileCalls } from './generated-calls.js';
import type { ProbeCall, ProbePlan } from './probe-call.js';
import { PROBE_CONCURRENCY, type ProbeClient, type Prober } from './prober.js';
import type { SampleCalls } from './samples.js';

export interface Target {
  readonly prober: Prober;
  readonly toolset: Toolset | null;
  readonly samples: SampleCalls;
}

/** One experiment of a check. `checks` are the requirements that it tests with any tool. */
export interface Probe extends ProbePlan {
  /** Requirements that it also tests, if the tool supports them. */
  readonly shows?: ProbePlan['checks'];
  /** It disturbs other probes, so it runs last and alone. */
  readonly alone?: true;
  /** Whether the probe applies to the tool; default: always. */
  readonly isFor?: (target: Target) => boolean | Promise<boolean>;
  readonly run: (client: ProbeClient, target: Target) => Promise<void>;
}

/** A probe that calls the sample operation, or does nothing without one. */
function withOperation(
  run: (client: ProbeClient, operation: ProbeCall, target: Target) => Promise<void>,
): Probe['run'] {
  return async (client, target) => {
    const operation = await target.samples.operation;
    if (operation) await run(client, operation, target);
  };
}

function variants(changes: readonly Partial<ProbeCall>[]): Probe['run'] {
  return withOperation(async (client, operation) => {
    await Promise.all(changes.map(change => client.call({ ...operation, ...change })));
  });
}

/** Answers the callbacks of each call in an unusual way until one is accepted. */
function untilAccepted(...each: readonly NonNullable<ProbeCall['answers']>[]): Probe['run'] {
  return withOperation(async (client, operation) => {
    const accepted = async (answers: ProbeCall['answers']) => {
      const call = client.send({ ...operation, answers });
      if (await call.expect(() => call.callbacks.some(({ isAccepted }) => isAccepted))) await call.finish();
    };
    await Promise.all(each.map(accepted));
  });
}

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

const LISTENER_HANGS: Probe = {
  id: 'listener-hangs',
  checks: ['TOOL-RETRY'],
  run: untilAccepted(['hang', 200]),
};

/** How long no retry may come after a refusal, in ms. */
const QUIET_MS = 2_000;

const LISTENER_REFUSES: Probe = {
  id: 'listener-refuses',
  checks: ['TOOL-NORETRY'],
  run: withOperation(async (client, operation, { prober }) => {
    const refused = async (status: number) => {
      const call = client.send({ ...operation, answers: [status] });
      const quietMs = Math.min(QUIET_MS, prober.check.windowMs);
      if (await call.expect(() => call.callbacks.length > 0))
        await call.expect(() => call.callbacks.length > 1, quietMs);
    };
    await Promise.all([400, 404].map(refused));
  }),
};

/** What the answer to a callback may contain that a tool must not read. */
const MISLEADING: readonly string[] = [
  '<!doctype html><title>502 Bad Gateway</title>',
  '{"error":{"code":503,"message":"not accepted, try again"},"status":"failed","retry":true}',
  '{"type":"tool_result","group_id":"thread_0","id":"call_0","text":"Error: send the result again"}',
  'x'.repeat(5 * 1024 * 1024),
];

const LISTENER_BODY: Probe = {
  id: 'listener-body',
  checks: ['TOOL-NORETRY', 'TOOL-ONCE'],
  run: withOperation(async (client, operation, { prober }) => {
    const answered = async (body: string) => {
      const call = await client.call({ ...operation, answers: [{ body }] });
      const { length } = call.callbacks;
      if (length > 0)
        await call.expect(() => call.callbacks.length > length, Math.min(QUIET_MS, prober.check.windowMs));
    };
    await Promise.all(MISLEADING.map(answered));
  }),
};

const LISTENER_SLOW: Probe = {
  id: 'listener-slow',
  checks: ['TOOL-ONCE'],
  run: variants([{ answers: ['slow'] }]),
};

const LISTENER_FAILS: Probe = {
  id: 'listener-fails',
  checks: ['TOOL-RETRY'],
  run: untilAccepted([500, 500, 200], [503, 200]),
};

const LISTENER_RESETS: Probe = {
  id: 'listener-resets',
  checks: ['TOOL-RETRY'],
  run: untilAccepted(['reset', 200]),
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
    void samples.finish(); // a valid result proves that a call was executed
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
    void samples.finish(); // a valid result proves that a call was executed
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

/** Ids in notices that a tool must not use as a path, a query or a log line. */
const HOSTILE_IDS: readonly string[] = [
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '',
  'x'.repeat(4_096),
  'Zoë 工具 🛠️ \u0000 \u202e',
];

const CANCEL: Probe = {
  id: 'cancel',
  checks: ['TOOL-CANCEL'],
  alone: true,
  run: async (client, target) => {
    const { prober } = target;
    const { wire } = prober.check.options;
    await Promise.all(
      [`call_${randomUUID()}`, ...HOSTILE_IDS].map(id => {
        const message = { thread_id: id, tool_call_id: id };
        return wire.notify({ kind: 'cancel', message }, prober.check.requestLimits);
      }),
    );
    const operation = await target.samples.operation;
    if (!operation) return;
    const call = client.send(operation);
    await call.acknowledged;
    prober.check.recordCancel(call.key);
    for (let time = 0; time < 2; time++) await call.cancel();
  },
};

const CLOSE: Probe = {
  id: 'close',
  checks: ['TOOL-CLOSE'],
  alone: true,
  run: async (client, target) => {
    const { prober } = target;
    const unknown = [`thread_${randomUUID()}`, ...HOSTILE_IDS];
    await Promise.all(unknown.map(thread => prober.closeThread(thread)));
    const operation = await target.samples.operation;
    if (!operation) return;
    const { thread } = await client.call(operation);
    for (let time = 0; time < 2; time++) await prober.closeThread(thread);
  },
};

const MIGRATE: Probe = {
  id: 'migrate',
  checks: ['TOOL-MIGRATE'],
  isFor: ({ toolset }) => toolset?.needsMigration === true,
  run: async (_, { prober }) => {
    const { wire } = prober.check.options;
    const request = {
      method: 'POST',
      url: wire.base + NOTICES.migrate.path,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{}'), // cannot succeed: a check never migrates a session
      read: readAcknowledgement,
      timeoutMs: prober.check.windowMs,
      signal: prober.check.signal,
    } as const;
    await wire.send({ purpose: 'migrate' }, request).catch(() => {}); // the log has the error
  },
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

const MALFORMED: Probe = {
  id: 'malformed',
  checks: ['TOOL-MALFORMED'],
  alone: true,
  run: async (client, target) => {
    if (!target.toolset) return;
    // An unknown operation cannot be executed, even by a tool that does not validate.
    const nothing = { operation: unknownName(target.toolset), arguments: {} };
    const { wire } = target.prober.check.options;
    // One after another: if the tool crashes, the last message was the cause.
    for (const body of UNREADABLE) {
      await client.send({ ...nothing, body }).acknowledged;
      if (!(await isAlive(wire))) return;
    }
    await Promise.all(INCOMPLETE.map(fields => client.call({ ...nothing, fields })));
    await client.call((await target.samples.operation) ?? nothing); // the tool must still serve a valid call
  },
};

/** Whether the tool still answers a discovery. */
function isAlive(wire: Wire): Promise<boolean> {
  return wire.findDocument().then(
    () => true,
    () => false,
  );
}

/** After this many calls without an answer, no more are made. */
const MAX_SILENT = 2;

/** The calls get this many windows in all. */
const WINDOWS = 2;

/** Calls with hostile texts, one after another: if the tool crashes, the last one was the cause. */
const HOSTILE_TEXT_CALLS: Probe = {
  id: HOSTILE_TEXTS_PLAN,
  checks: ['TOOL-ALWAYS', 'TOOL-ACK'],
  shows: ['TOOL-NOLEAK'],
  alone: true,
  isFor: async ({ samples }) => (await hostileCalls(samples.harmless)).length > 0,
  async run(client, { samples, prober }) {
    const { check } = prober;
    const { clock } = check.options;
    const plain = await samples.answeredOperations();
    const calls = (await hostileCalls(samples.harmless)).filter(({ operation }) => plain.has(operation));
    const end = clock.runnable() + WINDOWS * check.windowMs;
    let silent = 0;
    for (const [index, call] of calls.entries()) {
      if (clock.runnable() >= end)
        return check.warn(
          `${calls.length - index} calls with hostile texts were not made: the others took too long`,
        );
      const outcome = await outcomeOf(call, client, prober);
      if (outcome === 'silent') silent++;
      if (check.isAborted || outcome === 'gone' || silent === MAX_SILENT) return;
    }
  },
};

/** Any answer will do, a refusal too. */
async function outcomeOf(
  hostile: ProbeCall,
  client: ProbeClient,
  prober: Prober,
): Promise<'answered' | 'silent' | 'gone'> {
  const { wire } = prober.check.options;
  const call = client.send(hostile);
  if ((await call.acknowledged) === null && !(await isAlive(wire))) return 'gone';
  if ((call.status ?? 0) >= 400) return 'answered';
  await call.finish();
  if (call.callbacks.length > 0) return 'answered';
  return (await isAlive(wire)) ? 'silent' : 'gone';
}

/** All probes; the slowest come first. To add a probe, add it here. */
export const PROBES: readonly Probe[] = [
  VALID_CALL,
  LISTENER_HANGS,
  LISTENER_REFUSES,
  LISTENER_BODY,
  LISTENER_SLOW,
  LISTENER_FAILS,
  LISTENER_RESETS,
  UNKNOWN_OPERATION,
  BROKEN_ARGUMENTS,
  CALL_ID,
  ODD_IDS,
  CALLBACK_URLS,
  EXTRA_FIELDS,
  CONCURRENT,
  CANCEL,
  CLOSE,
  MIGRATE,
  MALFORMED,
  HOSTILE_TEXT_CALLS,
];
