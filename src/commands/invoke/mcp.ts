import type { Exchange } from '../../events/exchange.js';
import { createLog } from '../../events/log.js';
import { checkValue } from '../../json-schema/validator.js';
import {
  choiceOf,
  type Elicitation,
  type FormOption,
  OTHER_ACTIONS,
  optionsOf,
  questionOf,
} from '../../protocol/callbacks.js';
import { failureOf } from '../../render/failure.js';
import { jsonRpcTeller } from '../../render/outputs/dialect.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { warningText } from '../../render/outputs/trouble.js';
import { callMcp, denyMcp, type FormAnswer, type McpCalled } from '../../runtime/mcp/client.js';
import type { McpPeer } from '../../runtime/mcp/transports.js';
import { rulingOn } from '../../runtime/policy.js';
import { systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { parseJson } from '../../util/json.js';
import { cut, isRecord } from '../../util/json-diagnosis.js';
import { REDACTED } from '../../util/redact.js';
import { safeJson } from '../../util/redact-json.js';
import { visibleLine } from '../../util/visible.js';
import { serverLines, typed } from '../started-server.js';
import {
  ask,
  type ExitStatus,
  isSomebodyThere,
  statusOfFailure,
  stoppable,
  type Terminal,
} from '../terminal.js';
import {
  asideOf,
  cancelWhenInterrupted,
  type Finish,
  notesOf,
  type Setting,
  statusOfCall,
  waitsForPeople,
} from './discover.js';
import { refuseForMcp } from './idle-options.js';
import { notesSoFar, type Reached, reachMcp } from './mcp/reach.js';
import { readMcpTarget } from './mcp/target.js';
import { outputFor } from './output.js';
import { type InvokeOptions, type InvokePlan, planInvoke, readArguments } from './plan.js';
import {
  answeringWith,
  type Chooser,
  curlOf,
  type DryRequest,
  denialOf,
  loadPolicy,
  requestText,
  saidTo,
  selectedIndex,
} from './questions.js';
import { type Calling, runInvoke } from './run.js';

/** Of what a server asks: characters of a text, and options of a field. */
const MOST = { text: 300, options: 50 };

type Content = Readonly<Record<string, unknown>>;
type Property = Readonly<Record<string, unknown>>;

/** Answers the forms of an MCP server: `--choose`, or the person at the terminal. */
class FormAnswers {
  /** Why a form was not answered. */
  trouble: Trouble | null = null;
  /** Asks a person for one of several choices, one question after the other. */
  readonly #select: ReturnType<typeof answeringWith>['select'];

  constructor(private readonly chooser: Chooser) {
    this.#select = answeringWith(chooser).select;
  }

  readonly answer = async (
    form: Elicitation,
    signal: AbortSignal,
    nth: number,
  ): Promise<FormAnswer | null> => {
    const { choose, pick, terminal, aside } = this.chooser;
    if (choose !== undefined) return this.#byFlag(form, saidTo(choose, nth) ?? '');
    if (choiceOf(form) && (pick || isSomebodyThere(terminal))) {
      const selected = await this.#select(questionOf(form, { group: '', id: '' }), signal, nth);
      return selected === null ? null : actionOf(form, 'person', selected);
    }
    if (isSomebodyThere(terminal))
      return aside(() => fillIn(form, this.chooser, AbortSignal.any([signal, this.chooser.signal])));
    this.trouble = unanswered(form);
    return null;
  };

  async #byFlag(form: Elicitation, said: string): Promise<FormAnswer | null> {
    try {
      const answer = await readFlag(form, said, this.chooser);
      const faults = answer.action === 'accept' ? await faultsOf(form, answer.content ?? {}) : [];
      if (faults.length > 0) throw unfit(form, said, faults);
      return answer;
    } catch (error) {
      if (!(error instanceof ProtocolCliError)) throw error;
      this.trouble = error;
      return null;
    }
  }
}

function unfit(form: Elicitation, said: string, faults: readonly string[]): ProtocolCliError {
  const message = `--choose ${cut(said, MOST.text)} does not fit the form "${cut(form.message, MOST.text)}"`;
  return new ProtocolCliError('decision-needed', message, { faults, hint: hintFor(form) });
}

function unanswered(form: Elicitation): Trouble {
  const message = `the server asks "${cut(form.message, MOST.text)}" and nobody answered`;
  return { code: 'decision-needed', message, hint: hintFor(form) };
}

/** How `--choose` answers a form. */
function hintFor(form: Elicitation): string {
  const { choices } = questionOf(form, { group: '', id: '' });
  if (choiceOf(form)) {
    const named = choices.slice(0, MOST.options).map((choice, index) => `${index} ${cut(choice, 60)}`);
    return `Answer with --choose <index, label or default>: ${named.join(', ')}.`;
  }
  const { properties, required = [] } = form.requestedSchema;
  const names = Object.keys(properties).slice(0, MOST.options);
  const needed = names.filter(name => required.includes(name));
  const example = Object.fromEntries(
    (needed.length > 0 ? needed : names.slice(0, 1)).map(name => [name, '…']),
  );
  return `Answer with --choose '${JSON.stringify(example)}' (fields: ${names.join(', ')}), or with default, decline or cancel.`;
}

/** The values that the fields have when nothing is filled in. */
function defaultsOf({ requestedSchema: { properties } }: Elicitation): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      property['default'] === undefined ? [] : [[name, property['default']]],
    ),
  );
}

/** The answer that an index of the question's choices stands for. */
function actionOf(form: Elicitation, by: FormAnswer['by'], selected: number): FormAnswer {
  const choice = choiceOf(form);
  const action = OTHER_ACTIONS[selected - (choice?.options.length ?? 1)];
  if (action) return { by, action, selected };
  const content = choice ? { [choice.field]: choice.options[selected]?.value } : defaultsOf(form);
  return { by, action: 'accept', content, selected };
}

/** A value of `--choose`: an index or a label, `default`, `decline`, `cancel`, a JSON object, `key=value`, or the only field's value. */
async function readFlag(form: Elicitation, said: string, { terminal }: Chooser): Promise<FormAnswer> {
  const { requestedSchema: schema } = form;
  const choice = choiceOf(form);
  const ofValue = choice?.options.findIndex(({ value }) => String(value) === said) ?? -1;
  const selected =
    selectedIndex(said, questionOf(form, { group: '', id: '' })) ?? (ofValue < 0 ? null : ofValue);
  if (selected !== null) return actionOf(form, 'flag', selected);
  const accept = (content: Content): FormAnswer => {
    const picked = choice?.options.findIndex(({ value }) => value === content[choice.field]) ?? 0;
    const whole = { ...defaultsOf(form), ...content };
    return { by: 'flag', action: 'accept', content: whole, selected: Math.max(0, picked) };
  };
  const json = parseJson(said);
  if (json.ok && isRecord(json.value)) return accept(json.value);
  const [only, ...others] = Object.keys(schema.properties);
  const key = said.slice(0, Math.max(0, said.search(/:?=/)));
  if (Object.hasOwn(schema.properties, key))
    return accept(await readArguments({ words: [said] }, schema, terminal.stdin));
  if (only !== undefined && others.length === 0) return accept({ [only]: typed(only, said, schema) });
  throw unfit(form, said, []);
}

async function faultsOf({ requestedSchema }: Elicitation, content: Content): Promise<string[]> {
  const check = await checkValue(requestedSchema, content);
  if (check.kind !== 'invalid') return [];
  return check.faults.map(({ path, message }) => visibleLine(`${path}: ${message}`));
}

/** Asks a person for each field. */
async function fillIn(
  form: Elicitation,
  { terminal }: Chooser,
  signal: AbortSignal,
): Promise<FormAnswer | null> {
  const content: Record<string, unknown> = {};
  terminal.stderr.write(
    `The server asks: ${shown(form.message)}\nAn empty line takes the default. Ctrl-D cancels.\n`,
  );
  for (const name of Object.keys(form.requestedSchema.properties)) {
    const value = await askField(form, name, terminal, signal);
    if (value === null) return signal.aborted ? null : { by: 'person', action: 'cancel', selected: 2 };
    if (value !== undefined) content[name] = value;
  }
  const sure = await ask('Send these answers? [Y/n] ', terminal, signal);
  if (signal.aborted) return null;
  if (sure === null) return { by: 'person', action: 'cancel', selected: 2 };
  if (/^n/i.test(sure.trim())) return { by: 'person', action: 'decline', selected: 1 };
  return { by: 'person', action: 'accept', content, selected: 0 };
}

/** The value of a field, asked until it is valid; undefined where it is left out, null where the person cancels. */
async function askField(
  form: Elicitation,
  name: string,
  terminal: Chooser['terminal'],
  signal: AbortSignal,
): Promise<unknown> {
  const { properties, required = [] } = form.requestedSchema;
  const property = properties[name] ?? {};
  terminal.stderr.write(describe(property));
  for (;;) {
    const line = await ask(labelOf(name, property, required), terminal, signal);
    if (line === null) return null;
    const value = valueIn(name, line.trim(), property, form);
    if (value === undefined && !required.includes(name)) return undefined;
    const fault = value === undefined ? 'is required' : await faultOf(property, value);
    if (fault === null) return value;
    terminal.stderr.write(`${shown(name)} ${shown(fault)}\n`);
  }
}

async function faultOf(property: Property, value: unknown): Promise<string | null> {
  const check = await checkValue(property, value);
  return check.kind === 'invalid' ? check.faults.map(({ message }) => message).join('; ') : null;
}

function labelOf(name: string, property: Property, required: readonly string[]): string {
  const { title, default: preset } = property;
  const label = typeof title === 'string' ? `${title} (${name})` : name;
  const optional = required.includes(name) ? '' : ', optional';
  const given = preset === undefined ? '' : ` [${shown(JSON.stringify(preset))}]`;
  return `${shown(label)}${optional}${given}: `;
}

/** The description of a field, and its options. */
function describe(property: Property): string {
  const { description, items } = property;
  const options = optionsOf(property) ?? (isRecord(items) ? optionsOf(items) : null) ?? [];
  const more = options.length > MOST.options ? [`… ${options.length - MOST.options} more`] : [];
  const labels = options.slice(0, MOST.options).map(({ label }, index) => `${index} ${shown(label)}`);
  return [...(typeof description === 'string' ? [shown(description)] : []), ...labels, ...more]
    .map(line => `  ${line}\n`)
    .join('');
}

/** What a line means for a field; undefined where it is empty and there is no default. */
function valueIn(name: string, line: string, property: Property, { requestedSchema }: Elicitation): unknown {
  if (line === '') return property['default'];
  const options = optionsOf(property);
  if (options) return picked(line, options);
  const { items } = property;
  const several = isRecord(items) ? optionsOf(items) : null;
  if (several && !line.startsWith('[')) return line.split(',').map(each => picked(each.trim(), several));
  return typed(name, line, requestedSchema);
}

function picked(said: string, options: readonly FormOption[]): unknown {
  const alike = options.find(({ label, value }) => [label, String(value)].some(each => isAlike(each, said)));
  return alike ? alike.value : /^\d+$/.test(said) ? (options[Number(said)]?.value ?? said) : said;
}

const isAlike = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

const shown = (text: string) => visibleLine(cut(text, MOST.text));

/** Calls a tool of an MCP server, and tells the result. */
function overMcp(peer: McpPeer): Calling {
  return async (setting, note) => {
    const { plan, observation, interrupted, terminal, onStop, clock } = setting;
    const { policy: file, yes = false, verbose = false } = plan.options;
    onStop(() => setting.client.close());
    const policy = file === undefined ? null : await loadPolicy(file, terminal);
    const { log, verbosely } = observation;
    const onStderr = (text: string) =>
      void terminal.stderr.write(observation.redactor.text(serverLines(text)));
    const isDrawn = outputFor(plan.options, terminal) === 'ui';
    const onWait = (text: string) => void terminal.stderr.write(observation.redactor.text(text));
    const desk = {
      log,
      terminal,
      onStop,
      clock,
      ...(verbose && !terminal.stdout.isTTY && { onStderr }),
      ...(verbosely && { hear: jsonRpcTeller(observation.redactor, verbosely) }),
      ...(!isDrawn && !plan.options.quiet && { onWait }),
    };
    const reached = await interrupted.race(reachMcp(plan, peer, desk));
    note(notesSoFar(reached));
    const stage = asideOf(setting);
    const denial = await interrupted.race(denialOf(reached.tool, reached.args, { policy, yes }, stage));
    if (interrupted.signal.aborted)
      throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
    const asked = callOf(setting, reached);
    const { choose } = plan.options;
    const forms = new FormAnswers({ choose, pick: observation.reporter.choose, ...stage });
    const called = denial
      ? { exchange: denyMcp(asked, denial, observation), error: undefined }
      : await call(setting, reached, asked, forms);
    note(notesSoFar(reached)); // there may be more now
    return conclude(setting, reached, called, forms);
  };
}

function callOf({ plan }: Setting, { tool, args, server: { endpoint, headers } }: Reached) {
  const { timeout: timeoutMs } = plan.options;
  return { id: plan.identity.id, operation: tool.name, arguments: args, endpoint, headers, timeoutMs };
}

async function call(
  setting: Setting,
  reached: Reached,
  asked: ReturnType<typeof callOf>,
  { answer }: FormAnswers,
): Promise<McpCalled> {
  const { observation, clock, plan, terminal } = setting;
  const waits = waitsForPeople(plan.options, terminal);
  const stopCancelling = cancelWhenInterrupted(setting, asked.id);
  const called = await callMcp(reached.server, asked, {
    ...observation,
    clock,
    waitsForPeople: waits,
    answer,
  });
  stopCancelling();
  return called;
}

async function conclude(
  setting: Setting,
  reached: Reached,
  called: McpCalled,
  forms: FormAnswers,
): Promise<Finish> {
  const { plan, observation } = setting;
  const { history, reporter } = observation;
  const { exchange } = called;
  const isLeft = exchange.settled?.by === 'cancel' && exchange.settled.who === 'policy';
  const trouble = (isLeft ? forms.trouble : null) ?? troubleOf(reached, called);
  await reporter.settled?.({
    history,
    exchange,
    notes: notesOf(plan, { notes: notesSoFar(reached) }),
    trouble,
  });
  return { exchange, trouble, status: statusOfCall(exchange, trouble) };
}

/** Where the connection failed it is known why, and better than the events can say it. */
function troubleOf({ server }: Reached, { exchange, error }: McpCalled): Trouble | null {
  const failure = failureOf(exchange);
  if (!failure || error === undefined || !isOfConnection(exchange)) return failure;
  const { message, faults, hint } = server.explain(error, 'tools/call');
  return { code: failure.code, message, faults, ...(hint !== undefined && { hint }) };
}

function isOfConnection({ settled }: Exchange): boolean {
  return settled?.by === 'unreachable' || settled?.by === 'refusal';
}

/** `--dry-run --mcp`: the message that would be sent. The server is asked for its tools, and no tool is called. */
async function dryRunMcp(plan: InvokePlan, peer: McpPeer, terminal: Terminal): Promise<ExitStatus> {
  return stoppable(async onStop => {
    const log = createLog(systemClock.now);
    const reached = await reachMcp(plan, peer, {
      log,
      terminal,
      onStop,
      clock: systemClock,
      onWait: text => void terminal.stderr.write(text),
    });
    const { policy: file } = plan.options;
    const ruling = file === undefined ? null : rulingOn(await loadPolicy(file, terminal), reached.tool);
    const refusal = ruling && !ruling.allowed ? [`it would not be sent: ${ruling.reason}`] : [];
    await tell(plan, reached, terminal, refusal);
    return refusal.length === 0 ? 0 : statusOfFailure('denied');
  });
}

async function tell(
  { options: { output, quiet } }: InvokePlan,
  reached: Reached,
  { stdout, stderr }: Terminal,
  refusals: readonly string[],
): Promise<void> {
  const refused = refusals.map(message => ({ message }));
  const warnings = [...notesSoFar(reached), ...refused];
  await writeOut(
    stdout,
    output === 'json' ? `${safeJson({ ...reportOf(reached), warnings }, 2)}\n` : textOf(reached),
  );
  for (const warning of quiet ? refused : warnings) stderr.write(warningText(warning));
}

/** Over stdio there is neither a URL nor a header, and nothing for curl. */
function textOf(reached: Reached): string {
  const { peer } = reached;
  if (peer.kind === 'http') return requestText(requestOf(reached));
  return `${safeJson(messageOf(reached), 2)}\n`;
}

function reportOf(reached: Reached): object {
  if (reached.peer.kind === 'stdio') return { request: { body: messageOf(reached) }, curl: null };
  const request = requestOf(reached);
  return { request, curl: curlOf(request) };
}

function requestOf(reached: Reached): DryRequest {
  const { peer, server } = reached;
  return {
    method: 'POST',
    url: peer.name,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...Object.fromEntries(Object.keys(server.headers).map(name => [name, REDACTED])),
    },
    body: messageOf(reached),
  };
}

function messageOf({ tool, args }: Reached): object {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool.name, arguments: args } };
}

/** `invoke --mcp`: the same command on another wire. @throws ProtocolCliError `usage`. */
export async function startMcp(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const peer = readMcpTarget(options.mcp ?? '');
  refuseForMcp(options, peer);
  const plan = planInvoke(words, options);
  if (plan.operation === undefined)
    throw new ProtocolCliError('usage', 'no tool of the MCP server given', {
      hint: `The tool comes first: protocol-cli invoke --mcp '${visibleLine(peer.name)}' <tool> key=value`,
    });
  return options.dryRun
    ? dryRunMcp(plan, peer, terminal)
    : runInvoke(plan, terminal, { calling: overMcp(peer) });
}
