import { ProtocolCliError } from '../../../errors.js';
import type { Warning } from '../../../protocol/requirements.js';
import type { Trouble } from '../../../reporters/reporter.js';
import { errorReport } from '../../../reporters/trouble.js';
import { answering } from '../../../session/answering/answering.js';
import { type Clock, systemClock } from '../../../system/clock.js';
import { holdOpen } from '../../../system/hold-open.js';
import { writeOut } from '../../../system/output.js';
import { safeJson } from '../../../text/json-safe.js';
import { createNodeClient } from '../../../transport/node-client.js';
import { type ExitStatus, statusOfFailure } from '../../exit-status.js';
import { type Interruption, interruption } from '../../interruption.js';
import { loadPolicy } from '../../invoke/consent.js';
import type { Terminal } from '../../terminal.js';
import { openAnswerer } from './answerers/index.js';
import type { Setting } from './answerers/setting.js';
import { governing } from './consent.js';
import { ownNotes, troubleOf } from './ending.js';
import { type Observation, observe } from './observe.js';
import { type AnswerFlags, type AnswerPlan, planAnswer } from './plan.js';

/** `session answer`, from the words to the exit status. */
export async function runSessionAnswer(
  words: readonly [base: string, id: string],
  flags: AnswerFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  try {
    const plan = planAnswer(words, flags, terminal);
    return await run(plan, await observe(plan, terminal, clock), terminal, clock);
  } catch (error) {
    // Whoever asked for an object gets one, however early it failed.
    if (flags.output === 'json' && error instanceof ProtocolCliError)
      await writeOut(terminal.stdout, `${safeJson({ warnings: [], error: errorReport(error) }, 2)}\n`);
    throw error;
  }
}

async function run(
  plan: AnswerPlan,
  observation: Observation,
  terminal: Terminal,
  clock: Clock,
): Promise<ExitStatus> {
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
