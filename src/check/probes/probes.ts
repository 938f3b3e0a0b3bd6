import { randomUUID } from 'node:crypto';
import pRetry from 'p-retry';
import { ACK_SLOW_MS } from '../../events/exchange.js';
import type { Case } from '../../fixtures/check-files.js';
import { NOTICES } from '../../protocol/invocation.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Toolset } from '../../protocol/toolset.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { DISCOVERY_HINTS, readAcknowledgement, type Wire } from '../../runtime/wire.js';
import { forEachConcurrently } from '../../util/collections.js';
import { messageOf } from '../../util/errors.js';
import type { Check } from '../judge.js';
import { START_PLAN } from '../server-runs.js';
import { EXIT_MS, type OwnServer, repeatAlone, type Suspect, suspectsOf } from './alone.js';
import { hostileTexts } from './hostile-texts.js';
import {
  EXTRA_MEMBERS,
  HOSTILE_IDS,
  INCOMPLETE,
  MAX_ID_LENGTH,
  ODD_IDS,
  UNREADABLE,
  URL_ENDINGS,
} from './inputs.js';
import { type ProbeCall, type ProbeClient, type ProbePlan, Prober, type SentCall } from './prober.js';
import { SampleCalls } from './samples.js';
import { unknownName, unknownOperation } from './unknown-operation.js';

interface ProbeOptions extends Omit<Prober['options'], 'endpoint'> {
  readonly listener: ListenerOptions;
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
  /** The rules to try again: only the probes in which they failed are run; default: every probe. */
  readonly repeats?: readonly FailedRule[];
  /** The server, if the check started it. */
  readonly server?: OwnServer | undefined;
  /** Called before and after each probe, with its id. */
  readonly onProgress: (done: number, total: number, probe: string) => void;
}

type FailedRule = Pick<Check, 'id' | 'probes'>;

interface Target {
  readonly prober: Prober;
  readonly toolset: Toolset | null;
  readonly samples: SampleCalls;
}

/** One experiment of a check. `checks` are the requirements that it tests with any tool. */
interface Probe extends ProbePlan {
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

const VALID_CALL: Probe = {
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

/** How long no retry may come after a refusal, in ms. */
const QUIET_MS = 2_000;

/** What the answer to a callback may contain that a tool must not read. */
const MISLEADING: readonly string[] = [
  '<!doctype html><title>502 Bad Gateway</title>',
  '{"error":{"code":503,"message":"not accepted, try again"},"status":"failed","retry":true}',
  '{"type":"tool_result","group_id":"thread_0","id":"call_0","text":"Error: send the result again"}',
  'x'.repeat(5 * 1024 * 1024),
];

const CONCURRENT_CALLS = 8;

/** Calls of one thread: a tool may make them one after another. */
const SHARED_CALLS = 2;

/** Calls with these members alone, and with each of them if a tool refuses the group: so it is known which one. */
async function callWithMembers(
  client: ProbeClient,
  operation: ProbeCall,
  members: Readonly<Record<string, unknown>>,
): Promise<void> {
  const call = client.send({ ...operation, fields: { call_id: undefined, ...members } });
  await call.acknowledged;
  if (call.status === 200) return call.finish();
  const each = Object.entries(members);
  if (each.length > 1)
    await Promise.all(each.map(([name, value]) => callWithMembers(client, operation, { [name]: value })));
}

/** All probes; the slowest come first. To add a probe, add one entry. */
export const PROBES: readonly Probe[] = [
  VALID_CALL,
  { id: 'listener-hangs', checks: ['TOOL-RETRY'], run: untilAccepted(['hang', 200]) },
  {
    id: 'listener-refuses',
    checks: ['TOOL-NORETRY'],
    run: withOperation(async (client, operation, { prober }) => {
      const refused = async (status: number) => {
        const call = client.send({ ...operation, answers: [status] });
        const quietMs = Math.min(QUIET_MS, prober.windowMs);
        if (await call.expect(() => call.callbacks.length > 0))
          await call.expect(() => call.callbacks.length > 1, quietMs);
      };
      await Promise.all([400, 404].map(refused));
    }),
  },
  {
    id: 'listener-body',
    checks: ['TOOL-NORETRY', 'TOOL-ONCE'],
    run: withOperation(async (client, operation, { prober }) => {
      const answered = async (body: string) => {
        const call = await client.call({ ...operation, answers: [{ body }] });
        const { length } = call.callbacks;
        if (length > 0)
          await call.expect(() => call.callbacks.length > length, Math.min(QUIET_MS, prober.windowMs));
      };
      await Promise.all(MISLEADING.map(answered));
    }),
  },
  { id: 'listener-slow', checks: ['TOOL-ONCE'], run: variants([{ answers: ['slow'] }]) },
  { id: 'listener-fails', checks: ['TOOL-RETRY'], run: untilAccepted([500, 500, 200], [503, 200]) },
  { id: 'listener-resets', checks: ['TOOL-RETRY'], run: untilAccepted(['reset', 200]) },
  unknownOperation,
  {
    id: 'broken-arguments',
    checks: ['TOOL-BAD-ARGS', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
    isFor: async ({ samples }) => samples.harmless.length === 0 || (await samples.brokenCalls).length > 0,
    run: async (client, { samples }) => {
      void samples.finished; // a valid result proves that a call was executed
      await forEachConcurrently(await samples.brokenCalls, PROBE_CONCURRENCY, call => client.call(call));
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
  {
    id: 'extra-fields',
    checks: ['TOOL-EXTRA', 'TOOL-GROUP'],
    shows: ['TOOL-ACK'], // without it, a call that is refused because of its members would break TOOL-ACK
    run: withOperation(async (client, operation) => {
      await Promise.all(EXTRA_MEMBERS.map(members => callWithMembers(client, operation, members)));
    }),
  },
  {
    id: 'concurrent',
    checks: ['TOOL-ISOLATE', 'TOOL-ALWAYS'],
    run: withOperation(async (client, operation) => {
      const shared = { group_id: `thread_${randomUUID()}` };
      const calls = Array.from({ length: CONCURRENT_CALLS }, (_, index) =>
        client.call({ ...operation, ...(index < SHARED_CALLS && { fields: shared }) }),
      );
      await Promise.all(calls);
    }),
  },
  {
    id: 'cancel',
    checks: ['TOOL-CANCEL'],
    alone: true,
    run: async (client, target) => {
      const { prober } = target;
      const { wire } = prober.options;
      await Promise.all(
        [`call_${randomUUID()}`, ...HOSTILE_IDS].map(id => {
          const message = { thread_id: id, tool_call_id: id };
          return wire.notify({ kind: 'cancel', message }, prober.requestLimits);
        }),
      );
      const operation = await target.samples.operation;
      if (!operation) return;
      const call = client.send(operation);
      await call.acknowledged;
      prober.recordCancel(call.key);
      for (let time = 0; time < 2; time++) await prober.cancel(call);
    },
  },
  {
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
  },
  {
    id: 'migrate',
    checks: ['TOOL-MIGRATE'],
    isFor: ({ toolset }) => toolset?.needsMigration === true,
    run: async (_, { prober }) => {
      const { wire } = prober.options;
      const request = {
        method: 'POST',
        url: wire.base + NOTICES.migrate.path,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from('{}'), // cannot succeed: a check never migrates a session
        read: readAcknowledgement,
        timeoutMs: prober.windowMs,
        signal: prober.signal,
      } as const;
      await wire.send({ purpose: 'migrate' }, request).catch(() => {}); // the log has the error
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
      const { wire } = target.prober.options;
      const isAlive = () => wire.findDocument().then(Boolean, () => false);
      // One after another: if the tool crashes, the last message was the cause.
      for (const body of UNREADABLE) {
        await client.send({ ...nothing, body }).acknowledged;
        if (!(await isAlive())) return;
      }
      await Promise.all(INCOMPLETE.map(fields => client.call({ ...nothing, fields })));
      await client.call((await target.samples.operation) ?? nothing); // the tool must still serve a valid call
    },
  },
  hostileTexts,
];

/** Maximum number of probes at a time. Most only wait, but a tool on a small machine must answer in time. */
const PROBE_CONCURRENCY = 6;

const CLOSE_CONCURRENCY = 8;

const HINTS = {
  ...DISCOVERY_HINTS,
  missing:
    'A check begins with discovery: give the base URL, below which /.well-known/rap-toolset gives the toolset (TOOL-DISCOVER). A tool without one is judged by what was saved of it: protocol-cli invoke <endpoint> <operation> --endpoint --save run.ndjson, then protocol-cli check run.ndjson.',
};

/**
 * Loads the toolset of a tool server and runs all probes against it. The log records all messages, and the rules judge the log
 * afterwards.
 * @throws ProtocolCliError `unreachable` or `no-discovery` if there is nothing to check, `unknown-operation`, `port-in-use`.
 */
export async function runProbes(options: ProbeOptions): Promise<void> {
  const { wire, wants, cases, listener, server } = options;
  wire.log.emit({ kind: 'planned', by: 'probe', plan: START_PLAN, checks: ['TOOL-DISCOVER', 'TOOL-NAMES'] });
  const reading = await wire.loadToolset(HINTS);
  const toolset = reading.ok ? reading.toolset : null; // nothing of an invalid toolset may be called (RT-TOOLSET)
  const prober = new Prober({ ...options, endpoint: toolset?.endpoint ?? wire.base });
  const samples = await SampleCalls.of(prober, VALID_CALL, toolset, options);
  await prober.listen(listener);
  const target = { prober, toolset, samples };
  const alone: Probe[] = [];
  try {
    for (const { message } of wireOfAll(wire, cases).withheldFrom(prober.options.endpoint))
      prober.warn(message);
    if (toolset && isSampled(options)) void samples.finished;
    await runAll(target, options, alone);
    if (samples.isStarted) await samples.finished;
    if (wants('TOOL-ACK')) await repeatLate(target);
    await prober.within(STRAYS_MS);
    await closeThreads(prober);
    await server?.settle();
    const again = () => wire.findDocument().catch(() => {});
    if (prober.tool.isBroken && !prober.isAborted) await prober.within(prober.windowMs, again()); // shows whether the tool still answers
  } finally {
    await prober.close();
  }
  if (prober.tool.exitedAt === null) {
    if (prober.tool.isGone) await lookAgain(options);
    return;
  }
  if (!server) return;
  await repeatAlone(suspectsIn(target, alone), server, options).catch((error: unknown) => {
    const message = `could not find out which call ended the server: ${messageOf(error)}`;
    wire.log.emit({ kind: 'warned', message });
  });
}

/** How often and how long to look whether a tool that stopped answering is started again, in ms. */
const RESTART = { retries: 20, factor: 1, minTimeout: 150, maxRetryTime: 2_500 } as const;

/** Reads the toolset of a tool that stopped answering again: a supervisor may have started it, or another program may use its port. */
async function lookAgain({ wire, signal }: ProbeOptions): Promise<void> {
  const find = () => wire.findDocument(HINTS, RESTART.maxRetryTime);
  await pRetry(find, { ...RESTART, signal }).catch(() => {}); // the log has the answers
}

/** A wire with the headers of all calls. */
function wireOfAll(wire: Wire, cases: readonly Case[]): Wire {
  return wire.withHeaders(Object.assign({}, wire.headers, ...cases.map(({ caller }) => caller?.headers)));
}

/** Cases are called whatever rules are selected; in a repetition, if a rule failed in one of them. */
function isSampled({ cases, repeats }: ProbeOptions): boolean {
  const isProbe = (id: string) => PROBES.some(probe => probe.id === id);
  if (repeats) return repeats.some(({ probes = [] }) => !probes.every(isProbe));
  return cases.length > 0;
}

function tests({ checks, shows = [] }: Probe, isWanted: (id: RequirementId) => boolean): boolean {
  return [...checks, ...shows].some(isWanted);
}

/** The probes in which the rule failed: those that test it, if it failed in one of them; those that test it, if it failed in no call. */
function probesOf({ id, probes: failed }: FailedRule): readonly Probe[] {
  const testing = PROBES.filter(probe => tests(probe, own => own === id));
  if (!failed) return testing;
  const both = testing.filter(probe => failed.includes(probe.id));
  return both.length > 0 ? both : PROBES.filter(probe => failed.includes(probe.id));
}

/** Maximum number of calls of disturbing probes that are repeated before the probes themselves. */
const MAX_DISTURBING = 8;

/** What may have ended the server, the most likely first. @param alone the disturbing probes that were begun */
function suspectsIn(target: Target, alone: readonly Probe[]): readonly Suspect[] {
  const isDisturbing = ({ plan }: SentCall) => alone.some(({ id }) => id === plan.id);
  const of = (calls: readonly SentCall[]) => suspectsOf(calls, operation => mayRepeat(operation, target));
  const { calls } = target.prober;
  return [
    ...of(calls.filter(isDisturbing).slice(-MAX_DISTURBING)),
    ...alone.toReversed().map(probe => probeAlone(probe, target)),
    ...of(calls.filter(call => !isDisturbing(call))),
  ];
}

function probeAlone({ id, run }: Probe, target: Target): Suspect {
  const plan: ProbePlan = { id, checks: [], newServer: true };
  return async prober => {
    prober.recordPlan(plan);
    await run(prober.client(plan), { ...target, prober });
    await prober.within(EXIT_MS);
  };
}

/**
 * Records the plans of the selected probes and runs them in parallel, then the disturbing ones one by one.
 * @param alone receives the disturbing ones as they begin
 */
async function runAll(
  target: Target,
  { wants, repeats, onProgress }: ProbeOptions,
  alone: Probe[],
): Promise<void> {
  const { prober } = target;
  const again = repeats && new Set(repeats.flatMap(probesOf));
  const probes: Probe[] = [];
  for (const probe of PROBES)
    if (again?.has(probe) ?? tests(probe, wants))
      if ((await probe.isFor?.(target)) ?? true) probes.push(probe);
  for (const probe of probes) prober.recordPlan(probe);
  let done = 0;
  const run = (isAlone: boolean) =>
    forEachConcurrently(
      probes.filter(({ alone = false }) => alone === isAlone),
      isAlone ? 1 : PROBE_CONCURRENCY,
      async probe => {
        if (prober.isAborted) return;
        if (isAlone) alone.push(probe);
        onProgress(done, probes.length, probe.id);
        await probe.run(prober.client(probe), target);
        onProgress(++done, probes.length, probe.id);
      },
    );
  await run(false);
  await run(true);
}

/** How long messages that should not come may come at the end, in ms. */
const STRAYS_MS = 250;

const MAX_REPEATS = 3;

/** After this many calls that stay late, more repeats add nothing. */
const MAX_LATE = 3;

/** Late acknowledgements may have been late because of load, so each call is repeated alone; TOOL-ACK uses the best time. */
async function repeatLate(target: Target): Promise<void> {
  const { prober } = target;
  const client = prober.client({ id: 'acknowledgement again', checks: ['TOOL-ACK'], again: true });
  const late = new Map<string, ProbeCall>();
  for (const call of [...prober.calls])
    if (call.sent && (await call.isLate())) late.set(JSON.stringify(call.sent), call.sent);
  let stayLate = 0;
  for (const call of late.values())
    if (mayRepeat(call.operation, target) && (await staysLate(prober, client, call)))
      if (++stayLate === MAX_LATE || prober.tool.isBroken) return;
}

/** An operation that is not in the toolset cannot be executed. */
function mayRepeat(operation: string, { toolset, samples }: Pick<Target, 'toolset' | 'samples'>): boolean {
  if (samples.harmless.some(({ tool }) => tool.name === operation)) return true;
  return !toolset?.tools.some(({ name }) => name === operation);
}

async function staysLate(prober: Prober, client: ProbeClient, call: ProbeCall): Promise<boolean> {
  for (let time = 0; time < MAX_REPEATS && !prober.isAborted; time++) {
    const repeat = client.send(call);
    if ((await repeat.acknowledged) === null) break;
    const answered = repeat.until(() => repeat.callbacks.length > 0);
    await prober.within(ACK_SLOW_MS, answered); // the work of a call may disturb the next one
    await repeat.conversationEnded();
    if (!(await repeat.isLate())) return false;
  }
  return true;
}

/** Stops at the first notice without an answer; a tool that is gone already gets none. */
async function closeThreads(prober: Prober): Promise<void> {
  const threads = new Map(prober.calls.map(({ thread, wire }) => [thread, wire]));
  let isThere = !prober.tool.isBroken;
  await forEachConcurrently([...threads], CLOSE_CONCURRENCY, async ([thread, wire]) => {
    if (isThere && !prober.isAborted) isThere = (await prober.closeThread(thread, wire)) !== null;
  });
}
