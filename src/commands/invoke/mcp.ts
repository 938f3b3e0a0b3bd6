import type { Exchange } from '../../events/exchange.js';
import { checkValue } from '../../json-schema/validator.js';
import { answerOf, choiceOf, defaultsOf, type Elicitation, questionOf } from '../../protocol/mcp.js';
import { structureFault } from '../../protocol/mcp-structure.js';
import type { McpVersion } from '../../protocol/mcp-versions.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { checkArguments, toolOf } from '../../runtime/check-call.js';
import { type FormAnswer, McpCalls } from '../../runtime/mcp/call.js';
import { connectMcp, type McpServer } from '../../runtime/mcp/connection.js';
import type { McpPeer, McpTarget, MessageListener } from '../../runtime/mcp/link.js';
import type { Sink } from '../../system/streams.js';
import { parseJson } from '../../util/json.js';
import { REDACTED, type Redactor } from '../../util/redact.js';
import { redactJson } from '../../util/redact-json.js';
import { safeJson } from '../../util/safe-json.js';
import { formatDuration, truncate } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { readHeaders } from '../headers.js';
import { asTrouble, type Run } from '../run.js';
import { serverOutput } from '../started-servers.js';
import { type Prompts, type Terminal, VERSION } from '../terminal.js';
import { askForValues, readArguments, typed } from './arguments.js';
import type { CallOutput } from './output.js';
import { type InvokePlan, NOTICE_AFTER_MS } from './plan.js';
import type { CallProtocol, CallRequest, EndedCall, FoundTool, Preview } from './protocol.js';
import { type Chooser, selectedIndex } from './questions.js';
import { curlOf, requestText } from './request.js';

/** An MCP form has no RAP ids. */
const NO_IDS = { group: '', id: '' };

/** Limits for hints: length of a text, length of a label, and number of options. */
const MAX = { text: 300, label: 60, options: 50 };

/** Time limits in ms for starting a server and listing its tools: as for a RAP server, but long enough for a program to start. */
const START_MS = { most: 10_000, least: 2_000 };

interface Connecting {
  /** Time limit of a call in ms; 0 for no limit. */
  readonly timeout: number;
  /** Maximum size of a message, in bytes. */
  readonly maxBody: number;
  readonly protocolVersion?: McpVersion | undefined;
  /** Receives the stderr of a started server. */
  readonly onStderr?: Sink;
  readonly onMessage?: MessageListener;
  /** Suppresses the message about what the program is waiting for. */
  readonly isQuiet?: boolean;
}

/** Connects to a server within a time limit. @throws ProtocolCliError with the cause. */
export async function openServer(
  target: McpTarget,
  run: Run,
  { timeout, maxBody: maxBytes, isQuiet = false, ...options }: Connecting,
): Promise<McpServer> {
  const { log, onStop, stderr, clock } = run;
  const { most, least } = START_MS;
  const limitMs = timeout === 0 ? most : Math.min(most, Math.max(least, timeout));
  const does = target.kind === 'stdio' ? 'starting the MCP server' : 'reaching the MCP server';
  const text = `${does}: ${visibleLine(target.name)} (it has ${formatDuration(limitMs)})\n`;
  const stop = isQuiet ? () => {} : clock.after(NOTICE_AFTER_MS, () => stderr.write(text));
  const connecting = connectMcp(target, { ...options, log, onStop, limitMs, maxBytes, version: VERSION });
  const server = await connecting.finally(stop);
  run.keepNames({ kind: 'mcp', name: server.name, server: target }, server.tools);
  return server;
}

/** A tool of an MCP server, and the arguments of the call. */
interface Found {
  readonly tool: Tool;
  readonly args: Record<string, unknown>;
  readonly server: McpServer;
}

/** Connects to an MCP server, finds the tool, checks the arguments, and calls. */
export class McpProtocol implements CallProtocol {
  readonly #notes: Warning[] = [];
  #server: McpServer | null = null;

  constructor(
    private readonly plan: InvokePlan,
    private readonly peer: McpPeer,
    private readonly run: Run,
    private readonly output: CallOutput,
    private readonly chooser: Chooser,
  ) {}

  notes(): readonly Warning[] {
    const notes = this.#server?.notes() ?? [];
    return [...notes.map(message => ({ message })), ...this.#notes];
  }

  explain(exchange: Exchange): Trouble | null {
    return failureOf(exchange);
  }

  async find(): Promise<FoundTool> {
    const { operation = '', words, options } = this.plan;
    const server = await this.#connect();
    this.#server = server;
    const tool = toolOf({ name: server.name, tools: [...server.tools] }, operation);
    server.checkCallable(tool.name);
    const args = (await readArguments(words, this.run.terminal.stdin))(tool.inputSchema);
    if (options.validate) this.#notes.push(...(await checkArguments(tool, args, '')));
    const found = { tool, args, server };
    return {
      tool,
      args,
      preview: () => this.#preview(found),
      call: request => this.#call(found, request),
    };
  }

  async #connect(): Promise<McpServer> {
    const { run, peer } = this;
    const { isDrawn, verbosely } = this.output;
    const { options } = this.plan;
    const { quiet = false, timeout, maxBody, mcpVersion: protocolVersion } = options;
    const { terminal, redactor } = run;
    const headers = readHeaders(options, terminal.env);
    const lines = verbosely && serverOutput(text => verbosely(run.clean(text)));
    run.onStop(async () => lines?.end());
    return openServer({ ...peer, headers }, run, {
      timeout,
      maxBody,
      protocolVersion,
      isQuiet: isDrawn || quiet,
      ...(lines && !terminal.stdout.isTTY && { onStderr: lines.add }),
      ...(verbosely && { onMessage: jsonRpcPrinter(redactor, verbosely) }),
    });
  }

  async #call(
    { tool, args, server }: Found,
    { identity, denial, pausesForUser, report }: CallRequest,
  ): Promise<EndedCall> {
    const { run, chooser } = this;
    const { log, clock } = run;
    const { history } = this.output;
    const { timeout: timeoutMs } = this.plan.options;
    const call = { id: identity.id, operation: tool.name, arguments: args, timeoutMs };
    const forms = new FormAnswers(chooser);
    const client = new McpCalls(server, { log, history, clock, pausesForUser, answer: forms.answer });
    const stopCancelling = run.cancelWhenInterrupted(call.id);
    const { exchange, error } = denial
      ? { exchange: client.deny(call, denial), error: undefined }
      : await client.call(call);
    stopCancelling();
    const { settled } = exchange;
    const fault =
      settled?.by === 'answer' ? await structureFault(tool['outputSchema'], settled.native) : null;
    if (fault !== null) this.#notes.push({ message: fault });
    const isLeft = settled?.by === 'cancel' && settled.who === 'policy';
    const trouble = (isLeft ? forms.trouble : null) ?? troubleOf(server, exchange, error);
    await report({ exchange, trouble });
    return { exchange, trouble };
  }

  /** Over stdio a call has neither a URL nor headers nor a curl command. */
  #preview({ server, tool: { name }, args }: Found): Preview {
    const { peer } = this;
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
    if (peer.kind === 'stdio')
      return { text: `${safeJson(body, 2)}\n`, report: { request: { body }, curl: null } };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...server.headersOf({ name, arguments: args }),
      ...Object.fromEntries(Object.keys(server.headers).map(header => [header, REDACTED])),
    };
    const request = { method: 'POST', url: peer.name, headers, body } as const;
    return { text: requestText(request), report: { request, curl: curlOf(request) } };
  }
}

/** If the connection failed, the server's explanation is more specific than the events. */
function troubleOf(server: McpServer, exchange: Exchange, error: unknown): Trouble | null {
  const failure = failureOf(exchange);
  const isOfConnection = ['unreachable', 'refusal'].includes(exchange.settled?.by ?? '');
  if (!failure || error === undefined || !isOfConnection) return failure;
  const { message, faults, hint } = server.explain(error, 'tools/call');
  return { code: failure.code, message, faults, ...(hint !== undefined && { hint }) };
}

/** Answers the forms of an MCP server with `--choose` or by asking the user. */
class FormAnswers {
  /** Why a form was not answered. */
  trouble: Trouble | null = null;

  constructor(private readonly chooser: Chooser) {}

  readonly answer = async (
    form: Elicitation,
    signal: AbortSignal,
    nth: number,
  ): Promise<FormAnswer | null> => {
    const { chooser } = this;
    const { prompts, pick } = chooser;
    const flag = chooser.flag(nth);
    if (flag !== undefined) return this.#answerByFlag(form, flag);
    if (choiceOf(form) && (pick || prompts.canAsk)) {
      const selected = await chooser.select(questionOf(form, NO_IDS), signal, nth);
      return selected === null ? null : { by: 'person', ...answerOf(form, selected) };
    }
    if (prompts.canAsk) return prompts.lendTerminal(() => askPerson(form, prompts, signal));
    return this.#leave(
      form,
      `the server asks "${truncate(form.message, MAX.text)}", but no answer was given`,
    );
  };

  async #answerByFlag(form: Elicitation, text: string): Promise<FormAnswer | null> {
    const answer = await readAnswer(form, text, this.chooser.prompts.terminal).catch((error: unknown) => {
      this.trouble = asTrouble(error);
      return null;
    });
    if (this.trouble || (answer && answer.action !== 'accept')) return answer;
    const check = answer && (await checkValue(form.requestedSchema, answer.content ?? {}));
    if (check && check.kind !== 'invalid') return answer;
    const faults = check?.faults.map(fault => visibleLine(`${fault.path}: ${fault.message}`)) ?? [];
    const message = `--choose ${truncate(text, MAX.text)} does not fit the form "${truncate(form.message, MAX.text)}"`;
    return this.#leave(form, message, faults);
  }

  async #leave(form: Elicitation, message: string, faults: readonly string[] = []): Promise<null> {
    const { content = {} } = answerOf(form, questionOf(form, NO_IDS).default);
    const { kind } = await checkValue(form.requestedSchema, content);
    this.trouble = { code: 'decision-needed', message, faults, hint: hintFor(form, kind !== 'invalid') };
    return null;
  }
}

/** Explains how to answer a form with `--choose`. @param doDefaultsFit whether `default` is one of the ways */
function hintFor(form: Elicitation, doDefaultsFit: boolean): string {
  const { choices } = questionOf(form, NO_IDS);
  if (choiceOf(form)) {
    const few = choices.slice(0, MAX.options);
    const named = few.map((choice, index) => `${index} ${truncate(choice, MAX.label)}`);
    const ways = doDefaultsFit ? 'index, label or default' : 'index or label';
    return `Answer with --choose <${ways}>: ${named.join(', ')}.`;
  }
  const { properties, required = [] } = form.requestedSchema;
  const names = Object.keys(properties).slice(0, MAX.options);
  const needed = names.filter(name => required.includes(name));
  const inExample = needed.length > 0 ? needed : names.slice(0, 1);
  const example = JSON.stringify(Object.fromEntries(inExample.map(name => [name, '…'])));
  const others = doDefaultsFit ? 'default, decline or cancel' : 'decline or cancel';
  return `Answer with --choose '${example}' (fields: ${names.join(', ')}), or with ${others}.`;
}

/**
 * Parses a value of `--choose`: an index or a label, `default`, `decline`, `cancel`, a JSON object, `key=value`, or the only field's
 * value.
 */
async function readAnswer(form: Elicitation, text: string, terminal: Terminal): Promise<FormAnswer | null> {
  const { requestedSchema: schema } = form;
  const choice = choiceOf(form);
  const indexOf = (value: unknown) =>
    choice?.options.findIndex(option => String(option.value) === String(value)) ?? -1;
  const selected = selectedIndex(text, questionOf(form, NO_IDS)) ?? indexOf(text);
  if (selected >= 0) return { by: 'flag', ...answerOf(form, selected) };
  const accept = (given: Record<string, unknown>): FormAnswer => {
    const at = choice ? indexOf(given[choice.field]) : 0;
    const content = { ...defaultsOf(form), ...given };
    return { by: 'flag', action: 'accept', content, selected: Math.max(0, at) };
  };
  const json = parseJson(text);
  if (json.ok && isRecord(json.value)) return accept(json.value);
  const [only, ...others] = Object.keys(schema.properties);
  const key = text.slice(0, Math.max(0, text.search(/:?=/)));
  if (Object.hasOwn(schema.properties, key))
    return accept((await readArguments({ words: [text] }, terminal.stdin))(schema));
  return only !== undefined && others.length === 0 ? accept({ [only]: typed(only, text, schema) }) : null;
}

/** Asks the user for each field. */
async function askPerson(
  { message, requestedSchema }: Elicitation,
  prompts: Prompts,
  over: AbortSignal,
): Promise<FormAnswer | null> {
  prompts.show(
    `The server asks: ${visibleLine(truncate(message, MAX.text))}\nAn empty line takes the default. Ctrl-D cancels.\n`,
  );
  const names = Object.keys(requestedSchema.properties);
  const content = await askForValues(requestedSchema, names, prompts, over);
  const answer = content && (await prompts.ask('Send these answers? [Y/n] ', over));
  if (over.aborted || prompts.signal.aborted) return null;
  if (content === null || answer === null) return { by: 'person', action: 'cancel', selected: 2 };
  if (/^n/i.test(answer.trim())) return { by: 'person', action: 'decline', selected: 1 };
  return { by: 'person', action: 'accept', content, selected: 0 };
}

/** Maximum length of a printed message, in characters. */
const MAX_MESSAGE_LENGTH = 64 * 1024;

const SIGNS = { sent: '>', received: '<' } as const;

/** `-v` for MCP: prints each JSON-RPC message on one line, with secrets redacted and control characters made visible. */
function jsonRpcPrinter(
  redactor: Redactor,
  write: (text: string) => unknown,
): (message: unknown, way: keyof typeof SIGNS) => void {
  return (message, way) => {
    const json = redactJson(safeJson(message), redactor);
    write(`${SIGNS[way]} ${truncate(json, MAX_MESSAGE_LENGTH)}\n`);
  };
}
