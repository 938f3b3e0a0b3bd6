import type { OwnServer, runProbes } from '../../check/probes/run.js';
import type { Event } from '../../events/events.js';
import { History } from '../../events/history.js';
import { createLog, type Log } from '../../events/log.js';
import { verbosePrinter } from '../../render/wire.js';
import { Wire } from '../../runtime/wire.js';
import { finishedWithin } from '../../system/clock.js';
import { LIMITS } from '../../util/limits.js';
import { visibleLine } from '../../util/visible.js';
import { readHeaders } from '../headers.js';
import { asTrouble, type Run } from '../run.js';
import { saveTranscript } from '../save-transcript.js';
import { StartedServers, startTarget } from '../started-servers.js';
import { listenerOf, type ServerTarget } from '../target.js';
import type { CheckPlan } from './plan.js';
import { progressOn } from './progress.js';
import type { CheckInput } from './read-input.js';
import { nameOfRun, type Repeat, requireFreePaths } from './repeat.js';
import { commandName } from './secrets.js';

/** How long interrupted probes may take to end, in ms. */
const PROBE_STOP_MS = 500;

const QUERY_UNSENT = 'the query of the URL is not sent; pass credentials with -H or --bearer';

/**
 * Runs all probes against a tool until they are done or the user stops them; then stops what was started.
 * @throws ProtocolCliError `unreachable`, `no-discovery` if there is nothing to check, `unwritable-file` for `--save`.
 */
export async function callTool(
  target: ServerTarget,
  plan: CheckPlan,
  run: Run,
  probes: typeof runProbes,
  repeat: Repeat | undefined,
): Promise<CheckInput> {
  const { about, clock, redactor, interrupted } = run;
  const { save } = plan.flags;
  const events: Event[] = [];
  const log = createLog(clock.now, clock.runnable);
  log.subscribe(event => redactor.learn(event));
  log.subscribe(event => void events.push(event));
  if (target.kind === 'url' && new URL(target.url).search !== '')
    log.emit({ kind: 'warned', message: QUERY_UNSENT });
  const lines = new Map<number, number>();
  if (save !== undefined && save !== '-' && !repeat) await requireFreePaths(save);
  const path = save && nameOfRun(save, repeat?.run ?? 1);
  const endTranscript = await saveTranscript(log, path, redactor, about, {
    onLine: (seq, line) => void lines.set(seq, line),
    onForcedEnd: run.stderr.write,
  });
  const probing = probe(target, plan, run, log, probes, repeat);
  const trouble = await interrupted.race(probing).then(() => null, asTrouble);
  await run.stopStarted();
  await finishedWithin(Promise.allSettled([probing]), PROBE_STOP_MS); // so that nothing happens after the end
  const isWhole = !run.signal.aborted;
  const reason = isWhole ? (trouble?.code ?? 'done') : 'interrupted';
  const unwritten = await endTranscript(reason).then(() => null, asTrouble);
  const failure = trouble ?? unwritten;
  if (failure && isWhole) throw failure;
  const recording = { observer: 'runtime', events, isWhole } as const;
  return {
    target: nameOf(target),
    ...(save !== undefined && { file: save }),
    recordings: [{ ...recording, ...(save !== undefined && { lines }) }],
    gaps: [],
    redactor,
  };
}

async function probe(
  target: ServerTarget,
  { flags, cases, selection: { only, skip } }: CheckPlan,
  run: Run,
  log: Log,
  probes: typeof runProbes,
  repeat: Repeat | undefined,
): Promise<void> {
  const { redactor, terminal, onStop, signal, clock, openClient } = run;
  const { verbose, quiet, operation: operations = [], probeTimeout: probeTimeoutMs } = flags;
  const { destructive: mayBeDestructive } = flags;
  const progress = progressOn(terminal, quiet === true, repeat);
  onStop(async () => progress.end());
  progress.begin();
  if (verbose) log.subscribe(verbosePrinter(redactor, progress.printLine));
  const print = (text: string) => progress.printLine(redactor.text(text));
  const history = new History();
  history.keepRecent(new Set());
  log.subscribe(event => history.apply(event));
  const servers = new StartedServers(log, {
    calls: () => history.exchanges.values(),
    onStderr: verbose ? print : null,
  });
  const client = openClient();
  const wireTo = (url: string) => new Wire(log, client, url, readHeaders(flags, terminal.env));
  const start = { ...servers.options, signal };
  const url = await startTarget(target, {
    ...start,
    onStop,
    ...(!quiet && !repeat && { onRemark: text => print(`${visibleLine(text)}\n`) }),
  });
  const server: OwnServer = {
    settle: () => servers.settle(),
    async startAgain() {
      const stops: (() => Promise<void>)[] = [];
      const stop = async () => void (await Promise.all(stops.map(each => each())));
      onStop(stop);
      const again = await startTarget(target, { ...start, onStop: each => void stops.push(each) });
      return { wire: wireTo(again), stop };
    },
  };
  await probes({
    operations,
    cases,
    mayBeDestructive,
    probeTimeoutMs,
    clock,
    signal,
    wire: run.keepNamesOf(wireTo(url), target),
    server: target.kind === 'command' && !repeat ? server : undefined,
    listener: listenerOf({ ...flags, maxBody: LIMITS.messageBytes.value }),
    wants: id => (only?.has(id) ?? true) && !skip?.has(id),
    onConsent: consent => progress.printLine(`visit this URL to continue: ${visibleLine(consent)}\n`),
    onProgress: progress.update,
    ...(repeat && { repeats: repeat.failed }),
  });
  progress.end();
}

/** Returns the name of a target in reports, without secrets (threats, row 25). */
function nameOf(target: ServerTarget): string {
  if (target.kind === 'demo') return 'the bundled demo';
  return target.kind === 'command' ? commandName(target.command) : target.url.replace(/[?#].*$/s, '');
}
