import { randomUUID } from 'node:crypto';
import { type BrokenValue, brokenValues } from '../../json-schema/check-schema.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { migrateUrl, type Toolset } from '../../protocol/toolset.js';
import {
  cancelToolCall,
  closeThread,
  notify,
  readAcknowledgement,
  recordedSend,
} from '../../runtime/notices.js';
import { onceEach } from '../../util/safe-to-visit.js';
import { isTaken } from './callback-listener.js';
import {
  concurrently,
  noticeOptions,
  type ProbeCall,
  type ProbeClient,
  type ProbeContext,
} from './probe-call.js';
import { type Callable, overAfter, type SampleCalls, SCHEMA_MS } from './sample-calls.js';

/** What a probe works with. */
export interface Target {
  readonly context: ProbeContext;
  readonly toolset: Toolset | null;
  readonly callables: readonly Callable[];
  /** Calls every operation that may be called, once and for all probes. */
  readonly tryAll: () => SampleCalls;
}

/** One thing that a check tries. */
export interface Probe {
  readonly id: string;
  /** What it shows of any tool that it can be tried with. */
  readonly checks: readonly RequirementId[];
  /** What it may show besides, where the tool offers it. */
  readonly shows?: readonly RequirementId[];
  /** It disturbs others, and is tried last, alone. */
  readonly alone?: true;
  /** Whether the probe applies to the tool; default: always. */
  readonly isFor?: (target: Target) => boolean | Promise<boolean>;
  readonly run: (client: ProbeClient, target: Target) => Promise<void>;
}

/** A valid call of what everything is tried with; null where nothing may be called. */
async function operationOf({ tryAll }: Target): Promise<ProbeCall | null> {
  const callable = await tryAll().sampleOperation;
  return callable && { operation: callable.tool.name, arguments: callable.arguments };
}

/** What a probe does that makes calls: nothing is sent where nothing may be called. */
function withOperation(
  run: (client: ProbeClient, operation: ProbeCall, target: Target) => Promise<void>,
): Probe['run'] {
  return async (client, target) => {
    const operation = await operationOf(target);
    if (operation) await run(client, operation, target);
  };
}

/** Of one operation, and of all of them. */
const MOST = { each: 6, all: 24 };

/** Arguments that break the `inputSchema`: only of what may be called, since a tool that does not look would do it. */
const brokenArguments: Probe = {
  id: 'broken-arguments',
  checks: ['TOOL-BAD-ARGS', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
  isFor: async target => harmless(target).length === 0 || (await brokenCalls(target)).length > 0,
  run: async (client, target) => {
    const calls = await brokenCalls(target);
    await concurrently(calls, MOST.each, ({ callable, broken }) =>
      client.call({ operation: callable.tool.name, arguments: broken.value }),
    );
  },
};

interface BrokenCall {
  readonly callable: Callable;
  readonly broken: BrokenValue;
}

function harmless({ callables }: Target): readonly Callable[] {
  return callables.filter(({ isHarmless }) => isHarmless);
}

const brokenCalls = onceEach(async (target: Target): Promise<readonly BrokenCall[]> => {
  const callables = harmless(target).slice(0, MOST.all);
  const each = Math.min(MOST.each, Math.max(1, Math.floor(MOST.all / Math.max(1, callables.length))));
  const found = callables.map(async callable => {
    const values = await brokenValues(
      callable.tool.inputSchema,
      callable.arguments,
      each,
      overAfter(SCHEMA_MS),
    );
    return values.map(broken => ({ callable, broken }));
  });
  return (await Promise.all(found)).flat();
});

/** Without a `call_id`, and with null: a model may not have given one. */
const callId: Probe = {
  id: 'call-id',
  checks: ['TOOL-CALLID', 'TOOL-ALWAYS'],
  run: withOperation(async (client, operation) => {
    const values = [null, undefined];
    await Promise.all(values.map(call_id => client.call({ ...operation, fields: { call_id } })));
  }),
};

/** What follows the token in a callback URL: all of it is the runtime's business alone. */
const ENDINGS: readonly string[] = [
  '?thread=a&attempt=1',
  '?token=3f1c&next=%2Fa%3Fb%3Dc&empty=',
  '/',
  '/results/3f1c',
  '/%c3%a9%2fb%20c',
];

/** A callback URL is used exactly as it is given. */
const callbackUrls: Probe = {
  id: 'callback-urls',
  checks: ['TOOL-OPAQUE'],
  run: withOperation(async (client, operation) => {
    await Promise.all(ENDINGS.map(ending => client.call({ ...operation, addressed: url => url + ending })));
  }),
};

/** Ids that a notice may name, and that no path, no query and no log may take for anything else. */
const HOSTILE_IDS: readonly string[] = [
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '',
  'x'.repeat(4_096),
  'Zoë 工具 🛠️ \u0000 \u202e',
];

/** Calls that are no longer wanted: known, known for a second time, unknown, and made to traverse paths. */
const cancel: Probe = {
  id: 'cancel',
  checks: ['TOOL-CANCEL'],
  alone: true,
  run: async (client, target) => {
    const { context } = target;
    const unknown = [`call_${randomUUID()}`, ...HOSTILE_IDS];
    await Promise.all(unknown.map(id => cancelUnknown(context, id)));
    await cancelKnown(client, target);
  },
};

async function cancelUnknown(context: ProbeContext, id: string): Promise<void> {
  const message = { thread_id: id, tool_call_id: id };
  await notify(context.wire, context.base, { kind: 'cancel', message }, noticeOptions(context));
}

const cancelKnown = withOperation(async (client, operation, { context }) => {
  const { wire, base } = context;
  const { key, id, thread, acknowledged } = client.send(operation);
  await acknowledged;
  wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
  for (let time = 0; time < 2; time++)
    await cancelToolCall(wire, base, { key, thread, id }, noticeOptions(context));
});

/** Threads that are over: known, known for a second time, unknown, and made to traverse paths. */
const close: Probe = {
  id: 'close',
  checks: ['TOOL-CLOSE'],
  alone: true,
  run: async (client, target) => {
    const unknown = [`thread_${randomUUID()}`, ...HOSTILE_IDS];
    await Promise.all(unknown.map(thread => closeOne(target.context, thread)));
    await closeKnown(client, target);
  },
};

const closeKnown = withOperation(async (client, operation, { context }) => {
  const { thread } = await client.call(operation);
  await closeOne(context, thread);
  await closeOne(context, thread);
});

async function closeOne(context: ProbeContext, thread: string): Promise<void> {
  await closeThread(context.wire, context.base, thread, noticeOptions(context));
}

const CALLS = 8;

/** Calls at once, each with ids, a thread and a callback URL of its own. */
const concurrent: Probe = {
  id: 'concurrent',
  checks: ['TOOL-ISOLATE'],
  run: withOperation(async (client, operation) => {
    await Promise.all(Array.from({ length: CALLS }, () => client.call(operation)));
  }),
};

const EXTRAS: readonly Readonly<Record<string, unknown>>[] = [
  { user_id: 'user_1', thread_ancestors: ['thread_root', 'thread_parent'] },
  { user_id: null, thread_ancestors: null },
  { 'x-unknown': { deep: [1, 2, 3] }, version: 99, constructor: 'none', ['__proto__']: { admin: true } },
];

/** Optional fields and unknown fields. */
const extraFields: Probe = {
  id: 'extra-fields',
  checks: ['TOOL-EXTRA'],
  run: withOperation(async (client, operation) => {
    await Promise.all(EXTRAS.map(fields => client.call({ ...operation, fields })));
  }),
};

/** A listener that cannot take a callback at first. */
const listenerFails: Probe = {
  id: 'listener-fails',
  checks: ['TOOL-RETRY'],
  run: withOperation(async (client, operation) => {
    const call = client.send({ ...operation, answers: [500, 500, 200] });
    if (await client.sees(call, isTaken)) await client.finish(call);
  }),
};

/** A listener that takes a callback and says nothing, until the tool gives up or the connection breaks. */
const listenerHangs: Probe = {
  id: 'listener-hangs',
  checks: ['TOOL-RETRY'],
  run: withOperation(async (client, operation) => {
    const call = client.send({ ...operation, answers: ['hang', 200] });
    if (await client.sees(call, isTaken)) await client.finish(call);
  }),
};

/** How long nothing more may come, in ms. */
const QUIET_MS = 2_000;

/** A listener that will never take a callback. */
const listenerRefuses: Probe = {
  id: 'listener-refuses',
  checks: ['TOOL-NORETRY'],
  run: withOperation(async (client, operation, { context: { windowMs } }) => {
    const call = client.send({ ...operation, answers: [400] });
    const hasCome = await client.sees(call, callbacks => callbacks.length > 0);
    if (hasCome) await client.sees(call, callbacks => callbacks.length > 1, Math.min(QUIET_MS, windowMs));
  }),
};

/** A listener that closes the connection instead of answering. */
const listenerResets: Probe = {
  id: 'listener-resets',
  checks: ['TOOL-RETRY'],
  run: withOperation(async (client, operation) => {
    const call = client.send({ ...operation, answers: ['reset', 200] });
    if (await client.sees(call, isTaken)) await client.finish(call);
  }),
};

/** A listener that takes its time: a tool waits for the answer, and does not send twice. */
const listenerSlow: Probe = {
  id: 'listener-slow',
  checks: ['TOOL-ONCE'],
  run: withOperation(async (client, operation) => {
    await client.call({ ...operation, answers: ['slow'] });
  }),
};

/** An operation that there is not. */
const unknownOperation: Probe = {
  id: 'unknown-operation',
  checks: ['TOOL-UNKNOWN-OP', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
  run: async (client, { toolset }) => {
    if (!toolset) return;
    const names = [unknownTo(toolset), '__proto__', '../../etc/passwd'];
    await Promise.all(names.map(operation => client.call({ operation, arguments: {} })));
  },
};

/** A name of which a toolset has none, near to what people call theirs. */
function unknownTo({ tools }: Toolset): string {
  let name = 'no_such_operation';
  while (tools.some(tool => tool.name === name)) name += '_';
  return name;
}

/** Malformed invocations: the first group has no callback URL, the second has one. */
const UNREADABLE: readonly NonNullable<ProbeCall['body']>[] = [
  () => '',
  () => '{"operation":',
  invocation => JSON.stringify([invocation]),
  () => 'null',
];

const INCOMPLETE: readonly NonNullable<ProbeCall['fields']>[] = [
  { operation: undefined },
  { operation: 5, arguments: 'none' },
  { arguments: undefined },
  { arguments: ['none'] },
];

/** Sends malformed invocations, then a valid one, which the tool must still serve. */
const malformed: Probe = {
  id: 'malformed',
  checks: ['TOOL-MALFORMED'],
  alone: true,
  run: async (client, target) => {
    const { toolset } = target;
    if (!toolset) return;
    // An unknown operation cannot be executed, even by a tool that does not validate.
    const nothing = { operation: unknownTo(toolset), arguments: {} };
    await Promise.all(UNREADABLE.map(body => client.send({ ...nothing, body }).acknowledged));
    await Promise.all(INCOMPLETE.map(fields => client.call({ ...nothing, fields })));
    await client.call((await operationOf(target)) ?? nothing);
  },
};

/** A migration that cannot succeed: it names neither what is to move nor where to. No other is ever asked for. */
const migrate: Probe = {
  id: 'migrate',
  checks: ['TOOL-MIGRATE'],
  isFor: ({ toolset }) => toolset?.needsMigration === true,
  run: async (_, { context: { wire, base, windowMs, signal } }) => {
    const request = {
      method: 'POST',
      url: migrateUrl(base),
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{}'),
      read: readAcknowledgement,
      timeoutMs: windowMs,
      signal,
    } as const;
    await recordedSend(wire, { purpose: 'migrate', attempt: 1 }, request).catch(() => {}); // it is in the log
  },
};

const LONG = 200;

/** What a model, or another runtime, may well take for an id. */
const ODD: readonly string[] = [
  `"quoted" and 'quoted'`,
  'a/b\\c?d#e&f=g',
  '../../etc/passwd',
  '%2f%2e%00',
  'Zoë 工具 🛠️',
  'x'.repeat(LONG),
];

/** Ids are opaque: they come back as they went out, whatever is in them. */
const oddIds: Probe = {
  id: 'odd-ids',
  checks: ['TOOL-ID', 'TOOL-GROUP', 'TOOL-CALLID'],
  run: withOperation(async (client, operation) => {
    const fields = ODD.map(odd => ({ id: unique(odd), group_id: unique(odd), call_id: unique(odd) }));
    await Promise.all(fields.map(each => client.call({ ...operation, fields: each })));
  }),
};

function unique(odd: string): string {
  return `${odd} ${randomUUID()}`.slice(-LONG);
}

/** Every operation that may be called, called well. */
export const validCall: Probe = {
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
  run: (_, { tryAll }) => tryAll().finished,
};

/** What a check tries, what waits longest first. A new probe is one file and one line here. */
export const PROBES: readonly Probe[] = [
  validCall,
  listenerHangs,
  listenerRefuses,
  listenerSlow,
  listenerFails,
  listenerResets,
  unknownOperation,
  brokenArguments,
  callId,
  oddIds,
  callbackUrls,
  extraFields,
  concurrent,
  cancel,
  close,
  migrate,
  malformed,
];
