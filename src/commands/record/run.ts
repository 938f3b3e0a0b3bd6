import { ProtocolCliError } from '../../errors.js';
import type { EventRedactor } from '../../exchange/callback-secrets.js';
import type { Event } from '../../exchange/events.js';
import { createLog, type GroupKeeper } from '../../exchange/log.js';
import { type Recorder, startRecorder } from '../../recorder/recorder.js';
import { createTranscriptFile } from '../../recorder/transcript-file.js';
import { warningText } from '../../reporters/trouble.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { keepHeapTight } from '../../system/tight-heap.js';
import type { ExitStatus } from '../exit-status.js';
import { type Interruption, interruption } from '../interruption.js';
import { PROGRAM } from '../program.js';
import { refuseToReplace } from '../refuse-to-replace.js';
import type { Terminal } from '../terminal.js';
import { planRecord, type RecordFlags } from './plan.js';
import { recordedSecrets } from './secrets.js';
import { startTelling, type TellingDesk, tellReady } from './telling.js';

/**
 * `record`, from the flags to the exit status: to be stopped is its normal end.
 * @throws ProtocolCliError `usage` for a recording that is there already; also at the end, where something could not be written down.
 */
export async function runRecord(
  url: string,
  flags: RecordFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  const plan = planRecord(url, flags);
  if (plan.file !== null) await refuseToReplace(plan.file, '--save');
  keepHeapTight();
  const log = createLog(() => clock.now());
  const redactor = recordedSecrets();
  const about = { startedAt: clock.wall().toISOString(), observer: 'recorder', program: PROGRAM } as const;
  const interrupted = interruption();
  const file = plan.file === null ? null : await createTranscriptFile(plan.file, redactor, about);
  log.keep(learning(redactor, file));
  let [reason, hasBegun] = ['done', false];
  try {
    await record({ plan, terminal, log, redactor, about }, clock, interrupted, () => {
      hasBegun = true;
    });
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    interrupted.release();
    await file?.close(reason);
    if (file && !hasBegun) await file.remove();
  }
  return 0;
}

/** What is secret is known before anything of it is written down. */
function learning(redactor: EventRedactor, file: GroupKeeper | null): GroupKeeper {
  return {
    take(event: Event) {
      redactor.learn(event);
      file?.take(event);
    },
    kept: async () => file?.kept(),
  };
}

async function record(
  desk: TellingDesk,
  clock: Clock,
  interrupted: Interruption,
  onBegun: () => void,
): Promise<void> {
  const { plan, log } = desk;
  await using recorder = await startRecorder(log, { ...plan.recorder, clock });
  onBegun();
  tellReady(recorder, desk);
  const endTelling = await startTelling(desk);
  void lookForTool(recorder, desk, interrupted);
  await untilStopped(desk, interrupted);
  await recorder.close();
  endTelling('done');
}

/** It may come up later: then the first who asks for it finds it. */
async function lookForTool(recorder: Recorder, { plan, terminal }: TellingDesk, { signal }: Interruption) {
  const isFound = await recorder.findTool();
  if (isFound || signal.aborted) return;
  terminal.stderr.write(warningText({ message: `there is no toolset at ${plan.recorder.url} yet` }));
}

/** By a signal; where what is told on stdout is all there is, also by a reader who goes away. */
function untilStopped({ plan, terminal: { stdout } }: TellingDesk, interrupted: Interruption): Promise<void> {
  return new Promise(resolve => {
    interrupted.onSignal(resolve);
    if (plan.file === null) stdout.once('error', () => resolve());
  });
}
