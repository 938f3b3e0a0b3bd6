import { ProtocolCliError } from '../../../errors.js';
import { createLog } from '../../../exchange/log.js';
import { SessionPlatform } from '../../../session/platform/platform.js';
import { runAttached } from '../../../system/attached-command.js';
import { systemClock } from '../../../system/clock.js';
import { keepHeapTight } from '../../../system/tight-heap.js';
import { createRedactor } from '../../../text/redact.js';
import { type Interruption, interruption } from '../../interruption.js';
import { PROGRAM } from '../../program.js';
import { saveTranscript } from '../../save-transcript.js';
import type { Terminal } from '../../terminal.js';
import { readPlan, type SessionMockFlags, type SessionMockPlan } from './plan.js';
import { scriptOf } from './script.js';
import { startTelling } from './telling.js';
import { tellVerdict } from './verdict.js';

/**
 * `session mock`, from the words to the exit status: serves until the command ends, or somebody stops it. Where the command failed, its
 * status is ours.
 */
export async function runSessionMock(
  words: readonly string[],
  flags: SessionMockFlags,
  terminal: Terminal,
): Promise<number> {
  const plan = readPlan(words, flags, terminal);
  const script = await scriptOf(plan.file, terminal);
  keepHeapTight();
  const log = createLog(() => systemClock.now());
  const { key } = plan;
  const redactor = createRedactor([key]);
  const about = {
    startedAt: systemClock.wall().toISOString(),
    observer: 'platform',
    program: PROGRAM,
  } as const;
  const interrupted = interruption();
  const finish =
    flags.save === undefined ? null : await saveTranscript(log, flags.save, redactor, about, terminal);
  let reason = 'done';
  try {
    await using platform = await SessionPlatform.start({ ...platformOptions(plan), script, log, key });
    const telling = await startTelling(platform, { plan, terminal, redactor, about });
    const status = await serve(platform, plan, interrupted, telling.quit);
    await platform.close();
    await telling.end();
    const verdict = await tellVerdict(platform.verify(), plan, terminal, status);
    return status || verdict;
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    interrupted.release();
    await finish?.(reason);
  }
}

function platformOptions({ flags: { host, port, allowHost = [] } }: SessionMockPlan) {
  return { host, port, allowHosts: allowHost };
}

/** Resolves to the command's exit status; 0 where there is none, since to be stopped is a server's normal end. */
async function serve(
  { url, key, session }: SessionPlatform,
  { command }: SessionMockPlan,
  interrupted: Interruption,
  quit: Promise<void>,
): Promise<number> {
  const stopped = interrupted.signalStatus();
  if (command && stopped !== undefined) return stopped; // it came while we started
  if (command)
    return runAttached({ argv: command, env: { SESSION_URL: url, SESSION_ID: session, API_KEY: key } });
  const signalled = new Promise<void>(resolve => {
    interrupted.onSignal(resolve);
  });
  await Promise.race([signalled, quit]);
  return 0;
}
