import type { Answer } from '../../dialects/dialect.js';
import type { HttpClient } from '../../http/client.js';
import type { ChoiceQuestion } from '../../mock/conversation.js';
import { fixtureFiles } from '../../mock/fixture-files.js';
import { loadHandlers } from '../../mock/load-handlers.js';
import { answerOfLocal, type SpokenReply } from '../../mock/local/local-call.js';
import { type LocalTool, startLocalTool } from '../../mock/local/local-tool.js';
import type { Warning } from '../../protocol/requirements.js';
import {
  type Answerer,
  answeredCall,
  type PendingCall,
  unknownTool,
} from '../../session/client/pending-calls.js';
import type { Clock } from '../../system/drafts.js';
import { pickedByFlag } from '../invoke/questions.js';
import { type LoadedFixtures, loadFixtures } from '../mock-tool/load-fixtures.js';
import type { Interruption, OnStop, Terminal } from '../terminal.js';
import type { Governing, Observation } from './answer-output.js';
import type { AnswerPlan, Source } from './answer-plan.js';

/** What an answerer works in: who looks on, who may interrupt it, what it may call. */
export interface Setting {
  readonly plan: AnswerPlan;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly client: HttpClient;
  readonly observation: Observation;
  readonly interrupted: Interruption;
  readonly governing: Governing;
  readonly onStop: OnStop;
}

/** An answerer that was started for one session, and is stopped after it. */
export interface ToolAnswerer extends Answerer {
  /** What is worth a warning before the first call. */
  readonly notes: readonly Warning[];
  /** Resolves once nothing of ours goes on. */
  close(): Promise<void>;
}

/** A time limit. */
interface TimeLimit {
  readonly clock: Clock;
  /** 0 is no limit. */
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** What the work comes to; null where its time was over before: its signal, which follows the given one, is then aborted. */
export async function withinTime<T>(
  { clock, ms, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  if (ms === 0) return work(signal);
  const over = new AbortController();
  let cancel = () => {};
  const late = new Promise<null>(resolve => {
    cancel = clock.after(ms, () => {
      resolve(null);
      over.abort();
    });
  });
  return Promise.race([work(AbortSignal.any([signal, over.signal])), late]).finally(cancel);
}

type LocalSource = Extract<Source, { kind: 'local' }>;

/**
 * Fixtures and handlers as who answers, in this process.
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`, `invalid-toolset`.
 */
export async function openLocalTool(
  { fixtures: files, handlers: module }: LocalSource,
  setting: Setting,
): Promise<ToolAnswerer> {
  const { plan, terminal, clock, observation } = setting;
  const { seed, choose } = plan.flags;
  if (module !== null) terminal.hostsCode();
  const loaded = module === null ? {} : await loadHandlers(module, terminal.cwd);
  const { warnings = [], ...fixtures }: Partial<LoadedFixtures> =
    files.length === 0 ? {} : await loadFixtures(await fixtureFiles(files));
  const tool = await startLocalTool({
    ...fixtures,
    ...loaded,
    clock,
    log: observation.log,
    ...(seed !== undefined && { seed }),
    ...(choose !== undefined && { ask: { choice: picking(choose) } }),
  });
  return {
    notes: warnings.map(message => ({ message })),
    close: () => tool.close({ drainMs: 0 }),
    answer: (call, { signal }) => answer(tool, call, setting, signal),
  };
}

/** `--choose`, for the questions of each call by themselves. */
function picking(choose: readonly string[]): (question: ChoiceQuestion) => Promise<number | null> {
  const asked = new Map<string, number>();
  return async question => {
    const nth = asked.get(question.id) ?? 0;
    asked.set(question.id, nth + 1);
    return pickedByFlag(choose, question, nth);
  };
}

async function answer(
  tool: LocalTool,
  call: PendingCall,
  { governing, plan, observation: { log }, clock }: Setting,
  signal: AbortSignal,
): Promise<Answer> {
  const { tools } = tool.toolset;
  const called = tools.find(({ name }) => name === call.tool);
  if (!called)
    return unknownTool(
      call,
      tools.map(({ name }) => name),
    );
  const denial = await governing(called, call.args);
  if (denial) {
    const { reason } = denial;
    log.emit({ kind: 'denied', by: denial.by, tool: call.tool, reason, calls: [call.key], thread: plan.id });
    return { call: answeredCall(call), outcome: { type: 'denied', tool: call.tool, reason, basis: 'ours' } };
  }
  const limit = { clock, ms: plan.flags.timeout, signal };
  const reply = await withinTime(limit, within => replyOf(tool, call, plan.id, within));
  if (reply) return answerOfLocal(answeredCall(call), reply);
  const durationMs = limit.ms;
  log.emit({ kind: 'expired', what: 'timeout', afterMs: durationMs, calls: [call.key], thread: plan.id });
  return { call: answeredCall(call), outcome: { type: 'timeout', durationMs, basis: 'ours' } };
}

/** What it says; where it is to say nothing, that never comes. */
async function replyOf(
  tool: LocalTool,
  { key, tool: operation, args }: PendingCall,
  groupId: string,
  signal: AbortSignal,
): Promise<SpokenReply> {
  const reply = await tool.call({ operation, arguments: args, id: key, key, groupId, signal });
  return reply.kind === 'silence' ? new Promise(() => {}) : reply;
}
