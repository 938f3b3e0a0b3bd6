import { withQuestionSecrets } from '../../exchange/callback-secrets.js';
import { History } from '../../exchange/history.js';
import { createLog } from '../../exchange/log.js';
import { troubleText, warningText } from '../../reporters/trouble.js';
import { startOpenListener } from '../../runtime/open-listener.js';
import { misdirected } from '../../story/warnings.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { keepHeapTight } from '../../system/tight-heap.js';
import { createRedactor } from '../../text/redact.js';
import { type ExitStatus, statusOfFailure } from '../exit-status.js';
import { type Interruption, interruption } from '../interruption.js';
import { PROGRAM } from '../program.js';
import { saveTranscript } from '../save-transcript.js';
import type { Terminal } from '../terminal.js';
import { BoundedHistory } from './bounded-history.js';
import { type ListenFlags, type ListenPlan, planListen } from './plan.js';
import { shortfallOf } from './shortfall.js';
import { staying } from './staying.js';
import { startTelling, type TellingDesk, tellReady } from './telling.js';

/** `listen`, from the flags to the exit status: to be stopped is its normal end. */
export async function runListen(
  flags: ListenFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  const plan = planListen(flags);
  keepHeapTight();
  const log = createLog(() => clock.now());
  const history = new History();
  log.subscribe(event => history.apply(event));
  const interrupted = interruption();
  try {
    await using listener = await startOpenListener(log, history, plan.listener);
    const redactor = withQuestionSecrets(createRedactor([listener.token]));
    log.subscribe(event => redactor.learn(event));
    const about = { startedAt: clock.wall().toISOString(), observer: 'runtime', program: PROGRAM } as const;
    return await listen({
      plan,
      flags,
      terminal,
      clock,
      log,
      history,
      listener,
      redactor,
      about,
      interrupted,
    });
  } finally {
    interrupted.release();
  }
}

interface Run extends TellingDesk {
  readonly plan: ListenPlan;
  readonly clock: Clock;
  readonly interrupted: Interruption;
}

/** Tells what comes until it is time to go. What is expected becomes known last: everybody must hear of it. */
async function listen(run: Run): Promise<ExitStatus> {
  const { plan, flags, terminal, log, history, listener } = run;
  const finish = await transcriptOf(run);
  tellReady(run);
  const telling = startTelling(run);
  const parting = staying({ ...run, count: plan.count, timeoutMs: flags.timeout });
  const bounded = new BoundedHistory(history, listener.calls.expected);
  log.subscribe(event => bounded.apply(event));
  for (const ids of plan.expected) listener.calls.expect(ids);
  const parted = await parting.catch(async error => {
    await listener.close();
    await finish('unwritable-file'); // what could not be told is worth keeping all the more
    throw error;
  });
  const trouble = parted === 'timeout' ? shortfallOf(run) : null;
  await listener.close();
  const reason = trouble?.code ?? 'done';
  telling.end(reason);
  await finish(reason);
  if (!flags.quiet) terminal.stderr.write(wrongAddressText(history));
  if (trouble) terminal.stderr.write(troubleText(trouble));
  return trouble ? statusOfFailure(trouble.code) : 0;
}

/** How many posts came to a wrong address: each line about them may be long gone, and most have none. */
function wrongAddressText({ errands }: History): string {
  const lost = [...errands.values()].filter(({ refusal }) => refusal === 'wrong-address');
  return misdirected(lost, errands.misdirected).map(warningText).join('');
}

async function transcriptOf({
  flags: { save },
  log,
  redactor,
  about,
  terminal,
}: Run): Promise<(reason: string) => Promise<void>> {
  return save === undefined ? async () => {} : saveTranscript(log, save, redactor, about, terminal);
}
