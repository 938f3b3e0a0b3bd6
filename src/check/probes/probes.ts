import { randomUUID } from 'node:crypto';
import { brokenValues } from '../../json-schema/example.js';
import { migrateUrl, type Toolset } from '../../protocol/toolset.js';
import { readAcknowledgement, recordedSend } from '../../runtime/notices.js';
import { onceEach } from '../../util/collections.js';
import { concurrently, type Plan, type ProbeCall, type ProbeClient, type ProbeContext } from './client.js';
import type { Inbox } from './listener.js';
import { type SampleCalls, schemaDeadline } from './samples.js';

/** What a probe works with. */
export interface Target {
  readonly context: ProbeContext;
  readonly toolset: Toolset | null;
  readonly samples: SampleCalls;
}

/** One thing that a check tries; its `checks` are what it shows of any tool. */
export interface Probe extends Plan {
  /** What it may show besides, if the tool offers it. */
  readonly shows?: Plan['checks'];
  /** It disturbs others, so it runs last and alone. */
  readonly alone?: true;
  /** Whether the probe applies to the tool; default: always. */
  readonly isFor?: (target: Target) => boolean | Promise<boolean>;
  readonly run: (client: ProbeClient, target: Target) => Promise<void>;
}

/** A probe that calls the sample operation; nothing is sent if absent. */
function withOperation(
  run: (client: ProbeClient, operation: ProbeCall, target: Target) => Promise<void>,
): Probe['run'] {
  return async (client, target) => {
    const operation = await sampleOperation(target);
    if (operation) await run(client, operation, target);
  };
}

async function sampleOperation({ samples }: Target): Promise<ProbeCall | null> {
  const callable = await samples.operation;
  return callable && { operation: callable.tool.name, arguments: callable.arguments };
}

/** Calls the sample operation with each of these changes, all at once. */
function variants(changes: readonly Partial<ProbeCall>[]): Probe['run'] {
  return withOperation(async (client, operation) => {
    await Promise.all(changes.map(change => client.call({ ...operation, ...change })));
  });
}

/** Answers the callbacks of a call in an unusual way until one is accepted. */
function untilAccepted(answers: NonNullable<ProbeCall['answers']>): Probe['run'] {
  const isAccepted = ({ callbacks }: Inbox) => callbacks.some(callback => callback.isAccepted);
  return withOperation(async (client, operation) => {
    const call = client.send({ ...operation, answers });
    if (await client.sees(call, isAccepted)) await client.finish(call);
  });
}

/** Every operation that may be called, with valid arguments. */
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
  run: (_, { samples }) => samples.finished,
};

/** How long nothing may come after a refusal, in ms. */
const QUIET_MS = 2_000;

const CONCURRENT_CALLS = 8;

const MAX_ID_LENGTH = 200;

/** Calls with broken arguments: of one operation, and of all. */
const MAX_BROKEN = { each: 6, all: 24 };

/** What follows the token in a callback URL. */
const URL_ENDINGS: readonly string[] = [
  '?thread=a&attempt=1',
  '?token=3f1c&next=%2Fa%3Fb%3Dc&empty=',
  '/',
  '/results/3f1c',
  '/%c3%a9%2fb%20c',
];

/** Ids that a model or another runtime may well use. */
const ODD_IDS: readonly string[] = [
  `"quoted" and 'quoted'`,
  'a/b\\c?d#e&f=g',
  '../../etc/passwd',
  '%2f%2e%00',
  'Zoë 工具 🛠️',
  'x'.repeat(MAX_ID_LENGTH),
];

/** Ids in notices that a tool must not use as a path, a query or a log line. */
const HOSTILE_IDS: readonly string[] = [
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '',
  'x'.repeat(4_096),
  'Zoë 工具 🛠️ \u0000 \u202e',
];

const EXTRA_FIELDS: readonly Readonly<Record<string, unknown>>[] = [
  { user_id: 'user_1', thread_ancestors: ['thread_root', 'thread_parent'] },
  { user_id: null, thread_ancestors: null },
  { 'x-unknown': { deep: [1, 2, 3] }, version: 99, constructor: 'none', ['__proto__']: { admin: true } },
];

/** Malformed bodies without a callback URL. */
const UNREADABLE: readonly NonNullable<ProbeCall['body']>[] = [
  () => '',
  () => '{"operation":',
  invocation => JSON.stringify([invocation]),
  () => 'null',
];

/** Malformed invocations with a callback URL. */
const INCOMPLETE: readonly NonNullable<ProbeCall['fields']>[] = [
  { operation: undefined },
  { operation: 5, arguments: 'none' },
  { arguments: undefined },
  { arguments: ['none'] },
];

/** Everything that a check tries; what waits longest comes first. A new probe is one entry here. */
export const PROBES: readonly Probe[] = [
  VALID_CALL,
  { id: 'listener-hangs', checks: ['TOOL-RETRY'], run: untilAccepted(['hang', 200]) },
  {
    id: 'listener-refuses',
    checks: ['TOOL-NORETRY'],
    run: withOperation(async (client, operation, { context }) => {
      const call = client.send({ ...operation, answers: [400] });
      if (await client.sees(call, ({ callbacks }) => callbacks.length > 0))
        await client.sees(
          call,
          ({ callbacks }) => callbacks.length > 1,
          Math.min(QUIET_MS, context.windowMs),
        );
    }),
  },
  { id: 'listener-slow', checks: ['TOOL-ONCE'], run: variants([{ answers: ['slow'] }]) },
  { id: 'listener-fails', checks: ['TOOL-RETRY'], run: untilAccepted([500, 500, 200]) },
  { id: 'listener-resets', checks: ['TOOL-RETRY'], run: untilAccepted(['reset', 200]) },
  {
    id: 'unknown-operation',
    checks: ['TOOL-UNKNOWN-OP', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
    run: async (client, { toolset }) => {
      const names = toolset ? [unknownName(toolset), '__proto__', '../../etc/passwd'] : [];
      await Promise.all(names.map(operation => client.call({ operation, arguments: {} })));
    },
  },
  {
    id: 'broken-arguments',
    checks: ['TOOL-BAD-ARGS', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
    isFor: async target =>
      !target.samples.callables.some(({ isHarmless }) => isHarmless) ||
      (await brokenCalls(target)).length > 0,
    run: async (client, target) => {
      await concurrently(await brokenCalls(target), MAX_BROKEN.each, call => client.call(call));
    },
  },
  {
    id: 'call-id',
    checks: ['TOOL-CALLID', 'TOOL-ALWAYS'],
    run: variants([{ fields: { call_id: null } }, { fields: { call_id: undefined } }]),
  },
  {
    id: 'odd-ids',
    checks: ['TOOL-ID', 'TOOL-GROUP', 'TOOL-CALLID'],
    run: withOperation(async (client, operation) => {
      const unique = (id: string) => `${id} ${randomUUID()}`.slice(-MAX_ID_LENGTH);
      await Promise.all(
        ODD_IDS.map(id => {
          const fields = { id: unique(id), group_id: unique(id), call_id: unique(id) };
          return client.call({ ...operation, fields });
        }),
      );
    }),
  },
  {
    id: 'callback-urls',
    checks: ['TOOL-OPAQUE'],
    run: variants(URL_ENDINGS.map(ending => ({ addressed: url => url + ending }))),
  },
  { id: 'extra-fields', checks: ['TOOL-EXTRA'], run: variants(EXTRA_FIELDS.map(fields => ({ fields }))) },
  {
    id: 'concurrent',
    checks: ['TOOL-ISOLATE'],
    run: variants(Array.from({ length: CONCURRENT_CALLS }, () => ({}))),
  },
  {
    id: 'cancel',
    checks: ['TOOL-CANCEL'],
    alone: true,
    run: async (client, target) => {
      const { context } = target;
      const unknown = [`call_${randomUUID()}`, ...HOSTILE_IDS];
      await Promise.all(
        unknown.map(id => context.notify({ kind: 'cancel', message: { thread_id: id, tool_call_id: id } })),
      );
      const operation = await sampleOperation(target);
      if (!operation) return;
      const call = client.send(operation);
      await call.acknowledged;
      context.wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [call.key] });
      for (let time = 0; time < 2; time++) await context.cancel(call);
    },
  },
  {
    id: 'close',
    checks: ['TOOL-CLOSE'],
    alone: true,
    run: async (client, target) => {
      const { context } = target;
      const unknown = [`thread_${randomUUID()}`, ...HOSTILE_IDS];
      await Promise.all(unknown.map(thread => context.closeThread(thread)));
      const operation = await sampleOperation(target);
      if (!operation) return;
      const { thread } = await client.call(operation);
      for (let time = 0; time < 2; time++) await context.closeThread(thread);
    },
  },
  {
    id: 'migrate',
    checks: ['TOOL-MIGRATE'],
    isFor: ({ toolset }) => toolset?.needsMigration === true,
    run: async (_, { context }) => {
      const { wire, base, options } = context;
      const about = { purpose: 'migrate', attempt: 1 } as const;
      await recordedSend(wire, about, {
        method: 'POST',
        url: migrateUrl(base),
        headers: { 'content-type': 'application/json' },
        body: Buffer.from('{}'), // cannot succeed: a check never moves anything
        read: readAcknowledgement,
        timeoutMs: context.windowMs,
        signal: options.signal,
      }).catch(() => {}); // the log has the error
    },
  },
  {
    id: 'malformed',
    checks: ['TOOL-MALFORMED'],
    alone: true,
    run: async (client, target) => {
      if (!target.toolset) return;
      // An unknown operation cannot be executed, even by a tool that does not validate.
      const nothing = { operation: unknownName(target.toolset), arguments: {} };
      await Promise.all(UNREADABLE.map(body => client.send({ ...nothing, body }).acknowledged));
      await Promise.all(INCOMPLETE.map(fields => client.call({ ...nothing, fields })));
      await client.call((await sampleOperation(target)) ?? nothing); // the tool must still serve a valid call
    },
  },
];

/** A name that is not in the toolset. */
function unknownName({ tools }: Toolset): string {
  let name = 'no_such_operation';
  while (tools.some(tool => tool.name === name)) name += '_';
  return name;
}

/** Only of operations that may be called: a tool that does not validate would execute the call. */
const brokenCalls = onceEach(async ({ samples }: Target): Promise<readonly ProbeCall[]> => {
  const callables = samples.callables.filter(({ isHarmless }) => isHarmless).slice(0, MAX_BROKEN.all);
  const each = Math.min(
    MAX_BROKEN.each,
    Math.max(1, Math.floor(MAX_BROKEN.all / Math.max(1, callables.length))),
  );
  const found = await Promise.all(
    callables.map(async ({ tool, arguments: args }) => {
      const values = await brokenValues(tool.inputSchema, args, each, schemaDeadline());
      return values.map(broken => ({ operation: tool.name, arguments: broken }));
    }),
  );
  return found.flat();
});
