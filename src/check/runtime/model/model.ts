import type { Incoming, Reply, Route } from '../../../http/route.js';
import { type RunningServer, startServer } from '../../../http/server.js';
import type { Instruction } from '../../../protocol/driver.js';
import { readJson } from '../../../util/json.js';
import { cut, excerpt, firstFew } from '../../../util/text.js';
import { visibleLine } from '../../../util/visible.js';
import { type Driver, type DriverSetting, type OpenDriver, startDriver } from '../driver.js';
import { anthropic } from './anthropic.js';
import { openai } from './openai.js';
import {
  jsonAnswer,
  type ModelInput,
  type ModelRequest,
  type Provider,
  TOKENS,
  type ToolCall,
} from './provider.js';
import { Conversation, type Invocation, Script } from './script.js';

export const PROVIDERS = { anthropic, openai } satisfies Record<string, Provider>;

export type ProviderName = keyof typeof PROVIDERS;

type Observer = Pick<DriverSetting, 'onLine' | 'onWarning'>;

const MAX_BODY = 32 * 1024 * 1024;

/** Limits for one scenario; an agent may send requests without end. */
const MAX_WARNINGS = 20;
const MAX_OBSERVATIONS = 10_000;
const MAX_OBSERVED_CHARACTERS = 64 * 1024 * 1024;

/** A model of a provider, served on loopback, that makes the tool calls of the instructions. */
export class ScriptedModel {
  readonly #script = new Script();
  readonly #conversation = new Conversation();
  readonly #warned = new Set<string>();
  #server: RunningServer | undefined;
  /** Ids of the calls that the model made. */
  readonly #calls = new Set<string>();
  #isUsed = false;
  #observations = 0;
  #observedCharacters = 0;

  private constructor(
    private readonly provider: Provider,
    private readonly observer: Observer,
  ) {}

  /** Starts to listen on a free port. */
  static async start(name: ProviderName, observer: Observer): Promise<ScriptedModel> {
    const model = new ScriptedModel(PROVIDERS[name], observer);
    model.#server = await startServer({
      routes: model.#routes(),
      maxBody: MAX_BODY,
      explains: 'json',
      onRefused: ({ method = '', target = '', detail }) =>
        model.#warn(`the scripted model refused a request (${method} ${shownPath(target)}): ${detail}`),
    });
    return model;
  }

  /** Variables that direct the official SDK to this model. */
  get env(): Readonly<Record<string, string>> {
    return this.provider.env(this.#server?.url ?? '');
  }

  send(instruction: Instruction): void {
    if (instruction.do === 'invoke') this.#script.addCall(instruction);
    else if (instruction.do === 'end') this.#script.end();
    else this.#warn(`a model cannot do "${instruction.do}"; the instruction was ignored`);
  }

  async close(): Promise<void> {
    this.#script.close();
    await this.#server?.close();
  }

  #routes(): Route[] {
    const { path, countPath } = this.provider;
    const post = { method: 'POST', accepts: 'anything' } as const;
    const count = () => jsonAnswer(200, { input_tokens: TOKENS.input });
    return [
      { ...post, name: 'model', serves: isPath(path), handle: incoming => this.#complete(incoming) },
      ...(countPath ? [{ ...post, name: 'count', serves: isPath(countPath), handle: count }] : []),
      {
        name: 'unknown',
        method: 'any',
        accepts: 'nothing',
        serves: () => true,
        handle: incoming => this.#unknown(incoming),
      },
    ];
  }

  /** Not async: neither the body nor the conversation is kept while the request waits. */
  #complete({ body, onGone, target }: Incoming): Reply | Promise<Reply> {
    const json = readJson(body);
    const read = json.ok ? this.provider.read(json.value) : { ok: false as const, faults: [json.reason] };
    if (!read.ok)
      return this.#refuse(400, `invalid request to ${shownPath(target)}: ${firstFew(read.faults, 3)}`);
    this.#observe(read.request, read.inputs);
    return this.#reply(read.request, onGone);
  }

  async #reply(request: ModelRequest, onGone: Incoming['onGone']): Promise<Reply> {
    if (request.tools.length === 0) {
      this.#warn('the agent sent a request without tools; the model answered with a text');
      return this.provider.answer(request, []);
    }
    const message = await this.#script.next(request, onGone);
    if (message === null) return 'reset';
    const calls = message.map(invocation => this.#toolCall(invocation, request.tools));
    return this.provider.answer(request, calls);
  }

  #toolCall({ id, operation, arguments: args }: Invocation, tools: readonly string[]): ToolCall {
    const name = toolNameFor(operation, tools);
    if (name === undefined)
      this.#warn(`the agent offers no tool for ${excerpt(operation)}: ${excerpt(firstFew(tools, 5))}`);
    this.#calls.add(id);
    return { id, name: name ?? operation, arguments: args };
  }

  /** A request without tools has another purpose, such as a title: only results of our calls are observed in it. */
  #observe({ tools }: ModelRequest, inputs: readonly ModelInput[]): void {
    if (!this.#isUsed) this.observer.onLine({ cannot: [...this.provider.cannot] });
    this.#isUsed = true;
    const isOurs = (input: ModelInput) => input.kind === 'result' && this.#calls.has(input.id);
    const added =
      tools.length > 0
        ? this.#conversation.newInputs(inputs)
        : this.#conversation.newInputsOfOther(inputs.filter(isOurs));
    for (const input of added) this.#report(input);
  }

  #report(input: ModelInput): void {
    this.#observations++;
    this.#observedCharacters += input.text.length;
    if (this.#observations > MAX_OBSERVATIONS || this.#observedCharacters > MAX_OBSERVED_CHARACTERS)
      this.#warn('the agent sent too much to the model; the rest was not observed');
    else if (input.kind === 'text') this.observer.onLine({ saw: 'model', text: input.text });
    else this.observer.onLine({ saw: input.isError ? 'failure' : 'model', id: input.id, text: input.text });
  }

  #unknown({ method, target }: Incoming): Reply {
    const { path, countPath } = this.provider;
    const served = [path, ...(countPath ? [countPath] : [])].map(each => `POST /v1${each}`).join(' and ');
    const requested = `${cut(visibleLine(method), 20)} ${shownPath(target)}`;
    return this.#refuse(404, `the model does not serve ${requested}, only ${served}${adviceFor(target)}`);
  }

  /** Answers with an error of the provider, and warns the user. */
  #refuse(status: number, message: string): Reply {
    this.#warn(`the agent got status ${status} from the scripted model: ${message}`);
    return this.provider.error(status, message);
  }

  #warn(message: string): void {
    if (this.#warned.has(message) || this.#warned.size >= MAX_WARNINGS) return;
    this.#warned.add(message);
    this.observer.onWarning(message);
  }
}

const SHOWN_PATH = 100;

/** The query may contain a key. */
function shownPath(target: string): string {
  return visibleLine(cut(pathOf(target), SHOWN_PATH));
}

function pathOf(target: string): string {
  return target.replace(/\?.*$/s, '');
}

/** Base URLs of SDKs contain `/v1`, or do not. */
function isPath(path: string): (requested: string) => boolean {
  return requested => requested === path || requested === `/v1${path}`;
}

function adviceFor(target: string): string {
  const path = pathOf(target);
  if (/\/responses(\/|$)/.test(path)) return '. Let the agent use the chat completions API';
  const other = Object.entries(PROVIDERS).find(([, each]) => isPath(each.path)(path))?.[0];
  return other === undefined ? '' : `. Use --model ${other} for this agent`;
}

/** Characters that agents replace, since tool names may not contain them. */
const UNUSUAL = /[^\w-]/g;

/** Separators between a prefix of the agent and the name of the operation, the most explicit first. */
const SEPARATORS = ['__', '.', '/', ':', '-', '_'];

/** The offered tool for an operation: of the same name, or of one that ends with it. */
export function toolNameFor(operation: string, offered: readonly string[]): string | undefined {
  if (offered.includes(operation)) return operation;
  const plain = operation.replace(UNUSUAL, '_');
  return (
    offered.find(name => name === plain) ??
    SEPARATORS.map(separator =>
      offered.find(name => name.endsWith(separator + operation) || name.endsWith(separator + plain)),
    ).find(name => name !== undefined)
  );
}

/**
 * Starts an agent with our model: each instruction becomes a tool call of the model, and each request of the agent to the model becomes
 * observations. The agent's stdin is empty and its stdout is dropped.
 */
export function modelDriver(command: string, provider: ProviderName): OpenDriver {
  return async (setting): Promise<Driver> => {
    const model = await ScriptedModel.start(provider, setting);
    const started = startDriver(command, setting, { ...setting.env, ...model.env });
    started.stdin.end();
    started.stdout.resume();
    return {
      kind: 'agent',
      send: instruction => model.send(instruction),
      ended: started.ended,
      lastLines: started.stderr,
      hint: `It must send requests to the model at ${Object.keys(model.env).find(name => name.endsWith('URL'))}: protocol-cli help runtimes.`,
      stop: async () => {
        await Promise.all([started.stop(), model.close()]);
      },
    };
  };
}
