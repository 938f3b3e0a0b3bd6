import { createNodeClient } from '../../http/node-client.js';
import { isWildcard } from '../../http/server.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { errorReport } from '../../render/outputs/trouble.js';
import { answering, type SessionEnd } from '../../session/client/answering.js';
import { type Clock, systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { holdOpen } from '../../system/watch-files.js';
import { ProtocolCliError } from '../../util/errors.js';
import { formatDuration } from '../../util/format-duration.js';
import { cut } from '../../util/json-diagnosis.js';
import { safeJson } from '../../util/redact-json.js';
import { visibleLine } from '../../util/visible.js';
import { loadPolicy } from '../invoke/questions.js';
import {
  type ExitStatus,
  type Interruption,
  interruption,
  statusOfFailure,
  type Terminal,
} from '../terminal.js';
import { governing, type Observation, observe } from './answer-output.js';
import { type AnswerFlags, type AnswerPlan, planAnswer } from './answer-plan.js';
import type { Setting, ToolAnswerer } from './answer-tools.js';

/** Who answers, as the plan has it; each is loaded only where it is meant. @throws ProtocolCliError where it cannot be started. */
async function openAnswerer(setting: Setting): Promise<ToolAnswerer> {
  const { source } = setting.plan;
  if (source.kind === 'tool') return (await import('./answer-rap-tool.js')).openRapTool(source.url, setting);
  return (await import('./answer-tools.js')).openLocalTool(source, setting);
}

const WELL: ReadonlySet<string> = new Set(['completed', 'idle']);
const LONGEST = 500;

/** What is wrong with how a session ended; null where it is well: an idle one waits for a message. */
export function troubleOf({ id, status, isSettled, error }: SessionEnd, waitMs: number): Trouble | null {
  if (!isSettled)
    return {
      code: 'timeout',
      message: `nothing new from the session ${visibleLine(id)} within ${formatDuration(waitMs)}: it is ${visibleLine(status)}`,
      hint: '--wait gives it more time; without it, it is waited for for ever.',
    };
  if (WELL.has(status)) return null;
  const said = error === null ? '' : `: ${cut(visibleLine(error), LONGEST)}`;
  return {
    code: 'session-failed',
    message: `the session ${visibleLine(id)} ended as ${visibleLine(status)}${said}`,
  };
}

/** What the options themselves are worth a warning for (threats, row 5). */
function ownNotes({ source, flags: { callbackHost } }: AnswerPlan): readonly Warning[] {
  if (source.kind !== 'tool' || !isWildcard(callbackHost)) return [];
  return [{ message: `the callback listener is open to the network (--callback-host ${callbackHost})` }];
}

/** `session answer`, from the words to the exit status. */
export async function runSessionAnswer(
  words: readonly [base: string, id: string],
  flags: AnswerFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  try {
    const plan = planAnswer(words, flags, terminal);
    return await run(plan, await observe(plan, terminal, clock), clock);
  } catch (error) {
    // Whoever asked for an object gets one, however early it failed.
    if (flags.output === 'json' && error instanceof ProtocolCliError)
      await writeOut(terminal.stdout, `${safeJson({ warnings: [], error: errorReport(error) }, 2)}\n`);
    throw error;
  }
}

async function run(plan: AnswerPlan, observation: Observation, clock: Clock): Promise<ExitStatus> {
  const { terminal } = observation;
  const interrupted = interruption();
  const stops: (() => Promise<void>)[] = [];
  const notes: Warning[] = [...ownNotes(plan)];
  const onStop = (stop: () => Promise<void>) => void stops.push(stop);
  const letGo = holdOpen(); // a call without a limit may wait for what has no timer of ours
  const client = createNodeClient();
  onStop(async () => letGo());
  onStop(() => client.close());
  const common = { plan, terminal, clock, client, observation, interrupted, onStop };
  const trouble = await serve(common, notes)
    .catch(asTrouble)
    .finally(() => stop(stops, interrupted, observation));
  return conclude(plan, observation, { trouble, notes, interrupted });
}

/** Answers until the session settles. What went wrong with it; null where nothing did. */
async function serve(common: Omit<Setting, 'governing'>, notes: Warning[]): Promise<Trouble | null> {
  const { plan, terminal, clock, client, observation, interrupted, onStop } = common;
  const { reporter, log } = observation;
  const { policy: file, yes = false, wait } = plan.flags;
  const policy = file === undefined ? null : await loadPolicy(file, terminal);
  const aside: Setting['observation']['reporter']['aside'] = work => reporter.aside?.(work) ?? work();
  const asked = { terminal, signal: interrupted.signal, aside };
  const answerer = await openAnswerer({ ...common, governing: governing({ policy, yes }, asked) });
  onStop(() => answerer.close());
  notes.push(...answerer.notes);
  const { url, id: thread, key } = plan;
  const desk = { client, log, clock, url, thread, key, signal: interrupted.signal };
  return troubleOf(await answering(desk, answerer, wait), wait);
}

/** Whatever happened: nothing of ours goes on, and the terminal is in order. What was started last is stopped first. */
async function stop(
  stops: readonly (() => Promise<void>)[],
  interrupted: Interruption,
  { reporter }: Observation,
): Promise<void> {
  for (const each of stops.toReversed()) await each().catch(() => {});
  interrupted.release();
  await reporter.close?.();
}

async function conclude(
  { id, url }: AnswerPlan,
  { reporter, known, finish, redactor }: Observation,
  {
    trouble,
    notes,
    interrupted,
  }: { trouble: Trouble | null; notes: readonly Warning[]; interrupted: Interruption },
): Promise<ExitStatus> {
  const kept = await finish(trouble?.code ?? 'done').then(() => null, asTrouble);
  const ended = trouble ?? kept;
  const told = ended && toldOf(ended, redactor.text);
  const lost = trouble && kept ? [{ message: kept.message }] : [];
  await reporter.end({ session: { id, url }, known, notes: [...notes, ...lost], trouble: told });
  return interrupted.signalStatus() ?? (ended ? statusOfFailure(ended.code) : 0);
}

/** An error's own properties alone would not be told; each may quote a platform, which may give the key back. */
function toldOf({ code, message, hint, faults }: Trouble, clean: (text: string) => string): Trouble {
  return {
    code,
    message: clean(message),
    hint: hint === undefined ? undefined : clean(hint),
    ...(faults && { faults: faults.map(clean) }),
  };
}

function asTrouble(error: unknown): Trouble {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}
