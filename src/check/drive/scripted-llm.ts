import { createHash, randomUUID } from 'node:crypto';
import type { Incoming, Reply, Route } from '../../http/route.js';
import { type RunningServer, startServer } from '../../http/server.js';
import type { DriverLine, Instruction } from '../../protocol/driver.js';
import { RecentMap } from '../../util/collections.js';
import { readJson } from '../../util/json.js';
import { LIMITS } from '../../util/limits.js';
import { excerpt, joinFirst, truncate } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { callIdOf, type ModelCall, ModelScript } from './model-script.js';
import { CANCELING, cancelingToolIn, FINAL_TOOL, toolNameFor } from './offered-tools.js';
import { anthropic } from './providers/anthropic.js';
import {
  type Api,
  FINAL_TEXT,
  type ModelErrorCode,
  type ModelRequest,
  type OfferedTool,
  type Provider,
  type ToolCall,
} from './providers/api.js';
import { openai } from './providers/openai.js';

const PROVIDERS: Readonly<Record<'anthropic' | 'openai', Provider>> = { anthropic, openai };

export type ProviderName = keyof typeof PROVIDERS;

interface Observer {
  /** Called for each observation, in order. */
  readonly onLine: (line: DriverLine) => void;
  /** Called with a warning for the user. */
  readonly onWarning: (message: string) => void;
  /** Called at each request of the agent: it is running, whatever it asks for. */
  readonly onRequest: () => void;
  /** Called with the first request that the model does not serve, and why: it may be why the agent fails, until `onServed`. */
  readonly onUnserved: (message: string) => void;
  /** Called when the model serves a request after that: the agent got past it. */
  readonly onServed: () => void;
}

/** What a request that continues a response need not repeat. */
interface Conversation {
  readonly tools: readonly OfferedTool[];
  /** How often each input occurs in it. */
  readonly counts: ReadonlyMap<string, number>;
}

const NO_CONVERSATION: Conversation = { tools: [], counts: new Map() };

/** How many of the last responses can be continued, at least: each keeps its whole conversation. */
const MAX_CONTINUABLE = 16;

/** An agent may send requests without end. */
const MAX_WARNINGS = 20;

/** A model of a provider, served on loopback, that makes the tool calls of the instructions. */
export class ScriptedModel {
  readonly #provider: Provider;
  readonly #script = new ModelScript();
  readonly #warned = new Set<string>();
  #server: RunningServer | undefined;
  /** Ids of the calls that the model made. */
  readonly #calls = new Set<string>();
  /** How often each input occurred in one request, at most. */
  readonly #known = new Map<string, number>();
  /** By the id of the response that ends it. */
  readonly #conversations = new RecentMap<string, Conversation>(MAX_CONTINUABLE);
  /** Whether a request was not served, and none was served since. */
  #isUnserved = false;
  #hasBegun = false;
  #hasFoundTool = false;
  #canCancel = false;

  private constructor(
    name: ProviderName,
    private readonly observer: Observer,
  ) {
    this.#provider = PROVIDERS[name];
  }

  /** Starts to listen on a free port. */
  static async start(name: ProviderName, observer: Observer): Promise<ScriptedModel> {
    const model = new ScriptedModel(name, observer);
    model.#server = await startServer({
      routes: model.#routes(),
      maxBody: LIMITS.modelBodyBytes.value,
      explains: 'json',
      onRefused: ({ detail }, { method, target }) =>
        model.#unserved(`the scripted model refused a request (${method} ${shownPath(target)}): ${detail}`),
    });
    observer.onLine({ cannot: [...model.#provider.cannot] });
    return model;
  }

  /** Variables that direct the official SDK to this model. */
  get env(): Readonly<Record<string, string>> {
    return this.#provider.env(this.#server?.url ?? '');
  }

  send(instruction: Instruction): void {
    if (instruction.do === 'invoke' || instruction.do === 'cancel-subscription')
      this.#script.addCall(instruction);
    else if (instruction.do === 'end') this.#script.end();
    else this.#warn(`a model cannot do "${instruction.do}"; the instruction was ignored`);
  }

  /** Answers the waiting request, if there is one, with a text: an agent may act between two turns only. */
  endTurn(): void {
    this.#script.endTurn();
  }

  async close(): Promise<void> {
    this.#script.close();
    await this.#server?.close();
  }

  #routes(): Route[] {
    const { apis, fixedEndpoints } = this.#provider;
    return [
      ...apis.map(
        (api): Route => ({
          name: 'model',
          method: 'POST',
          accepts: 'anything',
          serves: isPath(api.path),
          handle: (incoming, body) => this.#complete(api, incoming, body),
        }),
      ),
      ...fixedEndpoints.map(
        ({ method, path, answer }): Route => ({
          name: 'other',
          method,
          accepts: method === 'POST' ? 'anything' : 'nothing',
          serves: isPath(path),
          handle: () => {
            this.observer.onRequest();
            return answer();
          },
        }),
      ),
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
  #complete(api: Api, incoming: Incoming, body: Uint8Array): Reply | Promise<Reply> {
    this.observer.onRequest();
    const json = readJson(body);
    const read = json.ok ? api.read(json.value) : { ok: false as const, faults: [json.reason] };
    if (!read.ok)
      return this.#refuse(
        400,
        `invalid request to ${shownPath(incoming.target)}: ${joinFirst(read.faults, 3)}`,
      );
    const { id, previous, isContinuable, inputs, allowsParallelCalls, answer } = read.value;
    const earlier = previous === undefined ? NO_CONVERSATION : this.#conversations.get(previous);
    if (!earlier) return this.#refuse(404, `unknown response ${excerpt(previous ?? '')}`, 'unknown-response');
    const tools = read.value.tools ?? earlier.tools;
    const counts = this.#observe(tools, inputs, earlier);
    if (isContinuable) this.#conversations.set(id, { tools, counts });
    if (tools.length === 0) {
      this.#warn('the agent sent a request without tools; the model answered with a text');
      return answer([]);
    }
    this.#script.receiveResults(inputs.flatMap(input => input.id ?? []));
    return this.#script.next(allowsParallelCalls, incoming).then(message => {
      if (message === null) return 'reset';
      if (this.#isUnserved) this.observer.onServed();
      this.#isUnserved = false;
      return answer(this.#toolCalls(message, tools));
    });
  }

  #toolCalls(message: readonly ModelCall[], tools: readonly OfferedTool[]): readonly ToolCall[] {
    if (message.length > 0) return message.map(each => this.#toolCall(each, tools));
    const isOffered = tools.some(({ name }) => name === FINAL_TOOL);
    return isOffered
      ? [{ id: `final_${randomUUID()}`, name: FINAL_TOOL, arguments: { answer: FINAL_TEXT } }]
      : [];
  }

  #toolCall(request: ModelCall, tools: readonly OfferedTool[]): ToolCall {
    if (request.do === 'cancel-subscription') {
      const id = callIdOf(request);
      this.#calls.add(id);
      const { name = CANCELING[0], parameter = 'id' } = cancelingToolIn(tools) ?? {};
      return { id, name, arguments: { [parameter]: request.id } };
    }
    const { id, operation, arguments: args } = request;
    const names = tools.map(each => each.name);
    const name = toolNameFor(operation, names);
    this.#hasFoundTool ||= name !== undefined;
    if (!this.#hasFoundTool)
      // otherwise the scenario may request an operation that does not exist
      this.#warn(`the agent offers no tool for ${excerpt(operation)}: ${excerpt(joinFirst(names, 5))}`);
    this.#calls.add(id);
    return { id, name: name ?? operation, arguments: args };
  }

  /**
   * Reports only the messages that earlier requests did not contain, because each request repeats the whole conversation. The first request
   * precedes all calls. One without tools has another purpose, such as a title: only results of our calls are observed in it.
   */
  #observe(
    tools: readonly OfferedTool[],
    inputs: ModelRequest['inputs'],
    earlier: Conversation,
  ): Conversation['counts'] {
    if (!this.#canCancel && cancelingToolIn(tools)) {
      this.#canCancel = true;
      this.observer.onLine({ can: ['cancel-subscription'] });
    }
    const isOfConversation = tools.length > 0;
    const counts = new Map(earlier.counts);
    for (const input of inputs) {
      if (!isOfConversation && !this.#calls.has(input.id ?? '')) continue;
      // The same text may come again: it is new if it occurs more often than in any request before.
      const key = createHash('sha256').update(JSON.stringify(input)).digest('base64'); // a conversation may be large
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= (this.#known.get(key) ?? 0)) continue;
      this.#known.set(key, count);
      if (this.#hasBegun || !isOfConversation) this.observer.onLine(input);
    }
    this.#hasBegun ||= isOfConversation;
    return counts;
  }

  #unknown({ method, target }: Incoming): Reply {
    this.observer.onRequest();
    const { apis, fixedEndpoints } = this.#provider;
    const endpoints = [...apis.map(({ path }) => ({ method: 'POST', path })), ...fixedEndpoints];
    const served = endpoints.map(({ method, path }) => `${method} /v1${path}`).join(', ');
    const requested = `${truncate(visibleLine(method), 20)} ${shownPath(target)}`;
    return this.#refuse(404, `the model does not serve ${requested}, only ${served}${adviceFor(target)}`);
  }

  /** Answers with an error of the provider, and warns the user. */
  #refuse(status: number, message: string, code?: ModelErrorCode): Reply {
    this.#unserved(`the agent got status ${status} from the scripted model: ${message}`);
    return this.#provider.error(status, message, code);
  }

  /** After the last message of the model, the agent needs nothing from it. */
  #unserved(message: string): void {
    this.#warn(message);
    if (this.#isUnserved || this.#script.isOver) return;
    this.#isUnserved = true;
    this.observer.onUnserved(message);
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
  return visibleLine(truncate(pathOf(target), SHOWN_PATH));
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
  const [other] =
    Object.entries(PROVIDERS).find(([, { apis }]) => apis.some(api => isPath(api.path)(path))) ?? [];
  return other === undefined ? '' : `. Use --model ${other} for this agent`;
}
