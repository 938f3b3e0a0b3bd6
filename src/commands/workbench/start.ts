import { setMaxListeners } from 'node:events';
import { CallLog } from '../../events/call-log.js';
import { pluralize } from '../../render/line.js';
import { warningText } from '../../render/outputs/trouble.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { copyToClipboard } from '../../tui/clipboard.js';
import type { ActionResult } from '../../tui/screen/effects.js';
import { visitPage } from '../../tui/visit.js';
import type { Controls, Model, Opened, WorkbenchOptions } from '../../tui/workbench/model.js';
import { secretsOfHeaders } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { Consent } from '../consent.js';
import { readHeaders } from '../headers.js';
import { type ArgumentReader, readArguments } from '../invoke/arguments.js';
import { type InvokeOptions, planInvoke } from '../invoke/plan.js';
import { usageError } from '../options.js';
import { readRapConfig } from '../rap-config.js';
import { type Run, withRun } from '../run.js';
import { asUrl, type ConfiguredTarget, type Target } from '../target.js';
import { canDraw, colourOf, type ExitStatus, linesSetting, type Terminal } from '../terminal.js';
import { Calls, failed } from './calls.js';
import { copiesOf } from './copies.js';
import { Servers } from './servers.js';
import { Transcripts } from './transcripts.js';

/** `invoke --interactive`, and `protocol-cli` alone. @throws ProtocolCliError `usage` if the terminal cannot show a screen. */
export async function startWorkbench(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const setting = linesSetting(terminal.env);
  if (setting)
    throw usageError(
      `the workbench draws a screen, and ${setting} asks for lines`,
      'protocol-cli toolset <url> lists operations; protocol-cli invoke <url> <operation> calls one.',
    );
  if (!canDraw(terminal))
    throw usageError(
      'the workbench needs a terminal of at least 40×8 on stdin and stdout, outside CI',
      'protocol-cli invoke <url> <operation> needs no terminal; see protocol-cli --help.',
    );
  return runWorkbench(await planWorkbench(words, options, terminal), terminal);
}

interface WorkbenchPlan {
  readonly options: InvokeOptions;
  readonly headers: Readonly<Record<string, string>>;
  readonly target: Target | null;
  readonly operation: string | undefined;
  readonly consent: Consent;
  /** The servers of `.infinity/rap.json`. */
  readonly configured: readonly ConfiguredTarget[];
  readonly arguments: ArgumentReader | undefined;
}

/** @throws ProtocolCliError `usage`, or `unreadable-file` for a file that a word or an option names. */
export async function planWorkbench(
  given: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<WorkbenchPlan> {
  const { target, operation, words } = planInvoke(given, options);
  const headers = readHeaders(options, terminal.env);
  if (target === null && Object.keys(headers).length > 0)
    throw usageError(
      '-H and --bearer need a server',
      'Give its URL: protocol-cli invoke -i <url> --bearer <token>.',
    );
  const hasArguments = words.words.length > 0 || words.whole !== undefined;
  return {
    options,
    headers,
    target,
    operation,
    consent: await Consent.read(options, terminal),
    configured: target ? [] : await configuredIn(terminal),
    arguments: hasArguments ? await readArguments(words, keyboard()) : undefined,
  };
}

/** Without a configuration the user can still open a server. */
async function configuredIn(terminal: Terminal): Promise<readonly ConfiguredTarget[]> {
  try {
    const { targets, warnings } = await readRapConfig(terminal);
    for (const warning of warnings) terminal.stderr.write(warningText(warning));
    return targets;
  } catch (error) {
    if (error instanceof ProtocolCliError && error.code === 'usage') return [];
    throw error;
  }
}

// biome-ignore lint/correctness/useYield: arguments cannot be read from the keyboard
async function* keyboard(): AsyncGenerator<Uint8Array> {
  throw new Error('standard input is the keyboard here');
}

export type Draw = (options: WorkbenchOptions) => { close(): Promise<void> };

const loadScreen = async (): Promise<Draw> => (await import('../../tui/workbench/screen.js')).workbenchScreen;

/** Runs until the user quits or a signal arrives; then restores the screen, cancels calls, and stops what was started. */
export function runWorkbench(
  plan: WorkbenchPlan,
  terminal: Terminal,
  load = loadScreen,
): Promise<ExitStatus> {
  return withRun({ terminal, secrets: secretsOfHeaders(plan.headers) }, async run => {
    const shown = show(plan, run, load);
    const isDone = await shown.then(
      () => true,
      () => false,
    );
    await run.stop();
    const quit = run.signal.aborted ? 'interrupted' : 'done';
    const { trouble } = await run.end(null, isDone ? quit : 'failed');
    await shown;
    if (trouble) throw trouble;
    return 0;
  });
}

async function show(plan: WorkbenchPlan, run: Run, load: () => Promise<Draw>): Promise<void> {
  const { options, target, configured, operation, arguments: args } = plan;
  const { terminal, log, clock } = run;
  const { stdin, stdout, stderr, cwd } = terminal;
  const { supports, save, watch, open: transcript } = options;
  let finish = () => {};
  const over = new Promise<void>(resolve => {
    finish = resolve;
  });
  run.interrupted.onSignal(finish);
  await run.save(save);
  const engine = createEngine(run, plan, finish);
  const draw = await load();
  const server = target && target.kind !== 'endpoint' ? engine.open(target, plan.headers) : undefined;
  for (const each of configured) engine.offer(each);
  if (watch && server !== undefined) {
    const { watchCommand } = await import('../watch-command.js');
    const command = target?.kind === 'command' ? target.command : undefined;
    const watching = await watchCommand(command, cwd, () =>
      engine.controls.restart(server, 'its files changed'),
    );
    run.onStop(async () => watching.close());
  }
  const { model, controls, onModelChange } = engine;
  const screen = draw({
    model,
    controls,
    onModelChange,
    subscribe: log.subscribe,
    stdin,
    stdout,
    level: colourOf(stdout, options, terminal),
    background: backgroundOf(terminal.env),
    supports,
    clock,
    start: {
      ...(server !== undefined && { server }),
      ...(transcript !== undefined && { transcript }),
      ...(operation !== undefined && { operation, ...(args && { arguments: args }) }),
    },
  });
  await over.finally(() => screen.close());
  const unsaved = run.signal.aborted || save !== undefined ? 0 : engine.unsaved();
  const calls = pluralize(unsaved, 'call was', 'calls were');
  if (unsaved > 0) stderr.write(`${calls} not saved. Next time press S, or give --save <file>.\n`);
}

/** Creates the workbench without its screen. Everything is loaded, sent or opened on demand; the run stops it. */
export function createEngine(
  run: Run,
  { options, consent }: Pick<WorkbenchPlan, 'options' | 'consent'>,
  onQuit: () => void,
) {
  const callLog = new CallLog({ redact: run.clean });
  run.log.subscribe(callLog.apply);
  const listeners = new Set<() => void>();
  const onChange = () => {
    for (const listener of listeners) listener();
  };
  const starting = new AbortController();
  setMaxListeners(0, starting.signal); // every starting command adds a listener
  const servers = new Servers({
    run,
    onChange,
    client: run.openClient(),
    closeSignal: starting.signal,
    onServerExit: (endpoint, exit) => calls.endPendingCalls(endpoint, exit),
  });
  const calls = new Calls(run, callLog, servers, options, consent);
  const transcripts = new Transcripts(callLog, run, onChange);
  run.onStop(() => servers.close());
  run.onStop(() => {
    starting.abort();
    return calls.close();
  });
  const open = (target: ConfiguredTarget, headers?: Readonly<Record<string, string>>) =>
    servers.add({ target, isConfigured: false, ...(headers && { headers }) });
  const copies = (key: string, id: number) => {
    const { offer, isValidated: validates = true } = (id === 0 && calls.record(key)) || {};
    const calledAs = offer ? { target: offer.target, groupId: options.groupId, validates } : null;
    const source = transcripts.source(id);
    return source ? copiesOf(source, key, calledAs) : null;
  };
  const model: Model = {
    get servers() {
      return servers.all;
    },
    get recent() {
      return servers.recent;
    },
    get sources() {
      return transcripts.sources;
    },
    serverOf: key => calls.record(key)?.server ?? null,
    isUnvalidated: key => calls.record(key)?.isValidated === false,
  };
  const controls: Controls = {
    open: text => openTyped(text, open),
    load: id => servers.load(id),
    remove: id => servers.remove(id),
    restart: (id, why) => servers.restart(id, why),
    needsConsent: (server, operation) => calls.needsConsent(server, operation),
    run: (draft, how) => calls.start(draft, how),
    decline: draft => orReason(calls.decline(draft)),
    answer: (key, leg, selected) => calls.answer(key, leg, selected),
    cancel: key => orReason(calls.cancel(key)),
    visit: visitPage,
    asCurl: (key, source) => copies(key, source)?.curl() ?? null,
    asCommand: (key, source) =>
      copies(key, source)?.command() ?? failed('nothing of this call was sent that could be copied'),
    copy: text => copyToClipboard(run.terminal.stdout, text),
    saveFixture: (key, source, path) => orReason(transcripts.saveFixture(key, source, path)),
    saveTranscript: path => orReason(transcripts.saveTranscript(path)),
    openTranscript: path => orReason(transcripts.open(path)),
    freeName: name => transcripts.freeName(name),
    paths: typed => transcripts.paths(typed),
    quit: onQuit,
  };
  return {
    model,
    controls,
    open,
    /** Offers a configured server: its command is started only after the user allows it. */
    offer: (target: ConfiguredTarget) => servers.add({ target, isConfigured: true }),
    /** Subscribes to changes of servers and transcripts. Returns how to unsubscribe. */
    onModelChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    unsaved: () => transcripts.unsaved,
  };
}

async function orReason(work: Promise<ActionResult>): Promise<ActionResult> {
  return work.catch(failed);
}

function openTyped(text: string, open: (target: ConfiguredTarget) => string): Opened | ActionResult {
  const word = text.trim();
  if (word === 'demo') return { server: open({ kind: 'demo' }) };
  try {
    const url = asUrl(word);
    if (url !== null) return { server: open({ kind: 'url', url }) };
    return failed(`invalid URL: use http://host:port, :port, or demo`);
  } catch (error) {
    return failed(error);
  }
}
