import type { Answer } from '../../../../dialects/dialect.js';
import { answeredCall, unknownTool } from '../../../../session/answering/answerer.js';
import type { PendingCall } from '../../../../session/answering/pending-calls.js';
import type { ChoiceQuestion } from '../../../../tool/conversation/people.js';
import { fixtureFiles } from '../../../../tool/fixture-files.js';
import { loadHandlers } from '../../../../tool/handlers/load-handlers.js';
import { answerOfLocal } from '../../../../tool/local/answer-of-local.js';
import type { SpokenReply } from '../../../../tool/local/local-call.js';
import { type LocalTool, startLocalTool } from '../../../../tool/local/local-tool.js';
import { pickedByFlag } from '../../../invoke/choices.js';
import { type LoadedFixtures, loadFixtures } from '../../../mock-tool/load-fixtures.js';
import type { Source } from '../plan.js';
import type { Setting } from './setting.js';
import type { ToolAnswerer } from './tool-answerer.js';
import { withinTime } from './within-time.js';

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
