import { type Exchange, outcomeOf } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { Reporter } from '../../render/outputs/reporter.js';
import { type Trouble, warningText } from '../../render/outputs/trouble.js';
import { writeOut } from '../../system/streams.js';
import { secretsOfHeaders } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { safeJson } from '../../util/safe-json.js';
import { Consent } from '../consent.js';
import { readHeaders } from '../headers.js';
import { usageError } from '../options.js';
import { asTrouble, type Run, withErrorReport, withRun } from '../run.js';
import { listenerWarnings } from '../target.js';
import { type ExitStatus, Prompts, statusOfFailure, type Terminal } from '../terminal.js';
import { type CallOutput, openOutput, silentOutput } from './output.js';
import { type CallIdentity, type InvokeOptions, type InvokePlan, identityOf, planInvoke } from './plan.js';
import type { CallProtocol, EndedCall } from './protocol.js';
import { Chooser } from './questions.js';
import { RapProtocol } from './rap.js';

/**
 * Runs `invoke`. With `-o json` an object is printed even if the command fails early.
 * @param refuseIneffective throws for options that would have no effect
 */
export async function startInvoke(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
  refuseIneffective: () => void,
): Promise<ExitStatus> {
  const { interactive, watch, output, dialect, command, dryRun } = options;
  if (interactive) {
    refuseIneffective();
    return (await import('../workbench/start.js')).startWorkbench(words, options, terminal);
  }
  return withErrorReport(output === 'json' && dialect === undefined, terminal, async () => {
    refuseIneffective();
    const once = async () => invoke(planInvoke(words, options), terminal);
    if (!watch || dryRun) return once();
    return (await import('../watch-command.js')).runOnEachChange(command, terminal, once);
  });
}

/** The status of the first match is returned, from the most specific to the least. */
const WORST_FIRST: readonly ExitStatus[] = [4, 7, 6, 5, 0];

/** How the calls of a run ended. */
interface CallsEnd {
  /** Undefined unless there is exactly one call. */
  readonly exchange: Exchange | undefined;
  readonly trouble: Trouble | null;
  readonly status: ExitStatus;
}

function invoke(plan: InvokePlan, terminal: Terminal): Promise<ExitStatus> {
  const secrets = secretsOfHeaders(readHeaders(plan.options, terminal.env));
  return withRun({ terminal, secrets }, run =>
    plan.options.dryRun ? previewCall(plan, run) : makeCalls(plan, run),
  );
}

/** Finds the tool, asks for consent, makes the calls and reports each, stops everything, and reports the end. */
async function makeCalls(plan: InvokePlan, run: Run): Promise<ExitStatus> {
  const { options, listener } = plan;
  const { repeat, concurrency = 1 } = options;
  const output = await openOutput(options, run);
  const { history, reporter } = output;
  const chooser = chooserOf(options, run, reporter);
  const { prompts } = chooser;
  const protocol = await protocolOf(plan, run, output, chooser);
  // About the options (threats, row 5), and those of the run so far.
  const warnings = () => [...listenerWarnings(listener), ...protocol.notes()];
  const report = async ({ exchange, trouble }: EndedCall) =>
    reporter.settled?.({ history, exchange, notes: warnings(), trouble });
  let end: CallsEnd;
  try {
    const consent = await readConsent(plan, run);
    const found = await run.interrupted.race(protocol.find());
    const denial = await run.interrupted.race(consent.denialOf(found.tool, found.args, prompts));
    if (run.signal.aborted)
      throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
    // Without a terminal, an explicit `--timeout` also limits the wait for a consent, which otherwise has no limit.
    const pausesForUser = prompts.canAsk || !options.given.includes('--timeout');
    const call = (identity: CallIdentity) => found.call({ identity, denial, pausesForUser, report });
    if (repeat !== undefined && !denial)
      end = await repeatCall(repeat, concurrency, run, history, () => call(identityOf(options)));
    else {
      const ended = await call(plan.identity);
      const status = statusOf(ended);
      end = repeat === undefined ? { ...ended, status } : { exchange: undefined, trouble: null, status };
    }
  } catch (error) {
    const trouble = asTrouble(error);
    end = { exchange: undefined, trouble, status: statusOfFailure(trouble.code) };
  } finally {
    await run.stop();
    await reporter.close?.();
  }
  const { exchange, trouble, status } = end;
  const last = exchange && history.exchanges.get(exchange.key); // includes what arrived after the call ended
  const isLate = trouble?.code === 'timeout' && exchange && last;
  const explained = isLate ? protocol.explain({ ...exchange, arrivals: last.arrivals }) : null;
  const closed = await run.end(explained ?? trouble);
  const notes = [...warnings(), ...closed.warnings];
  await reporter.end({ history, exchange: last, notes, trouble: closed.trouble });
  return closed.trouble && !trouble ? statusOfFailure(closed.trouble.code) : status;
}

/** `--repeat`: makes the same call several times, some in parallel, until the server exits or the user interrupts. */
async function repeatCall(
  repeat: number,
  concurrency: number,
  { signal }: Run,
  { exits }: History,
  call: () => Promise<EndedCall>,
): Promise<CallsEnd> {
  const statuses: ExitStatus[] = [];
  let begun = 0;
  const worker = async () => {
    while (begun < repeat && !signal.aborted && exits.length === 0) {
      begun++;
      statuses.push(statusOf(await call()));
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(concurrency, repeat) }, worker));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
  const status = WORST_FIRST.find(each => statuses.includes(each)) ?? statuses[0] ?? 0;
  const missing = repeat - begun;
  if (missing === 0) return { exchange: undefined, trouble: null, status };
  const [code, why] =
    exits.length > 0
      ? (['unreachable', 'the server exited'] as const)
      : (['interrupted', 'interrupted'] as const);
  const message = `${why}: ${missing} of ${repeat} ${missing === 1 ? 'call was' : 'calls were'} not made`;
  return { exchange: undefined, trouble: { code, message }, status };
}

/** `--dry-run`: finds the tool, and prints the request, and whether the policy would deny it. */
async function previewCall(plan: InvokePlan, run: Run): Promise<ExitStatus> {
  const { terminal, stderr } = run;
  const { output, quiet = false } = plan.options;
  const silent = silentOutput();
  const protocol = await protocolOf(plan, run, silent, chooserOf(plan.options, run, silent.reporter));
  const consent = await readConsent(plan, run);
  const found = await run.interrupted.race(protocol.find());
  const verdict = consent.judge(found.tool);
  const refused = typeof verdict === 'object' ? [{ message: `it would not be sent: ${verdict.reason}` }] : [];
  const warnings = [...protocol.notes(), ...refused];
  const { text, report, advice } = found.preview();
  const isJson = output === 'json';
  await writeOut(terminal.stdout, isJson ? `${safeJson({ ...report, warnings }, 2)}\n` : text);
  for (const warning of quiet ? refused : warnings) stderr.write(warningText(warning));
  if (advice && !isJson && !quiet && refused.length === 0) stderr.write(advice);
  return refused.length === 0 ? 0 : statusOfFailure('denied');
}

/** `--repeat` never asks the user. */
function chooserOf({ choose, repeat }: InvokeOptions, run: Run, reporter: Reporter): Chooser {
  const preset = choose ?? (repeat === undefined ? undefined : []);
  return new Chooser(new Prompts(run, reporter), preset, reporter.choose);
}

/** MCP is loaded on demand: a call over RAP must not wait for its libraries. */
async function protocolOf(
  plan: InvokePlan,
  run: Run,
  output: CallOutput,
  chooser: Chooser,
): Promise<CallProtocol> {
  if (plan.peer === null) return new RapProtocol(plan, run, output, chooser);
  const { McpProtocol } = await import('./mcp.js');
  return new McpProtocol(plan, plan.peer, run, output, chooser);
}

async function readConsent({ options, target }: InvokePlan, { terminal }: Run): Promise<Consent> {
  const consent = await Consent.read(options, terminal);
  if (target?.kind === 'endpoint' && consent.usesAnnotations)
    throw usageError(
      '--endpoint loads no toolset, but the policy uses annotations',
      'Give the base URL without --endpoint, or use names in the policy.',
    );
  return consent;
}

function statusOf({ exchange, trouble }: EndedCall): ExitStatus {
  if (trouble) return statusOfFailure(trouble.code);
  return outcomeOf(exchange)?.type === 'success' ? 0 : 5;
}
