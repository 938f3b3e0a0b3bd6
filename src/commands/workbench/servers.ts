import type { Log } from '../../events/log.js';
import type { HttpClient } from '../../http/client.js';
import type { Tool } from '../../protocol/toolset.js';
import { DISCOVERY_HINTS, type Discovered, discover } from '../../runtime/discover.js';
import type { Credentials, Wire } from '../../runtime/notices.js';
import { definitionsIn, type Server } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { Redactor } from '../../util/redact.js';
import { withheld } from '../invoke/prepare.js';
import { reach } from '../rap-config.js';
import type { Death } from '../started-server.js';
import { type ConfiguredTarget, commandOf } from '../target.js';

/** A server that answered. */
export interface Found {
  readonly wire: Wire;
  readonly discovered: Discovered;
}

/** An operation that can be called. */
export interface Offer extends Found {
  readonly tool: Tool;
  readonly target: ConfiguredTarget;
}

interface ServersOptions {
  readonly log: Log;
  readonly client: HttpClient;
  /** The headers that the user gave for one server, by lower-case name. */
  readonly headers: Credentials['headers'];
  /** Aborted at the end: servers that are being started are not waited for. */
  readonly signal: AbortSignal;
  readonly redactor: Redactor;
  readonly onChange: () => void;
  /** The server of this endpoint is gone, and its pending calls end. */
  readonly onDeath: (endpoint: string, reason: string) => void;
}

/** Where a server comes from. */
interface Origin {
  readonly target: ConfiguredTarget;
  /** Named in `.infinity/rap.json`, which may be another person's, and not by the user. */
  readonly isConfigured: boolean;
  /** Whether the headers were given for it. */
  readonly hasHeaders: boolean;
}

/** The tool servers of a session. */
export class Servers {
  readonly #options: ServersOptions;
  readonly #headers: OriginHeaders;
  #connections: readonly ServerConnection[] = [];
  /** Stops of servers that were removed. */
  readonly #stopping: Promise<void>[] = [];
  #opened = 0;

  constructor(options: ServersOptions) {
    this.#options = options;
    this.#headers = new OriginHeaders(options.headers);
  }

  get all(): readonly Server[] {
    return this.#connections.map(({ server }) => server);
  }

  /** Those that answered. */
  get found(): readonly Found[] {
    return this.#connections.flatMap(({ found }) => found ?? []);
  }

  /** Adds a server, unless the user opened it before, and loads its toolset unless the user must allow that first. Returns its id. */
  add(origin: Origin): string {
    const known = this.#connections.find(each => !origin.isConfigured && each.isFor(origin.target));
    const connection = known ?? this.#connect(origin);
    if (connection.server.state.kind !== 'asleep') void connection.ask();
    return connection.id;
  }

  restart(id: string): void {
    void this.#connection(id)?.restart();
  }

  /** Starts a server, or asks for its toolset again. */
  wake(id: string): void {
    void this.#connection(id)?.ask();
  }

  /** Removes a server that failed, and stops what still runs of it. */
  dismiss(id: string): void {
    const connection = this.#connection(id);
    if (connection?.server.state.kind !== 'failed') return;
    this.#connections = this.#connections.filter(each => each !== connection);
    this.#stopping.push(connection.stop());
    this.#options.onChange();
  }

  /** The operation of a server; else why it cannot be called (RT-OP, RT-TOOLSET). */
  offer(id: string, operation: string): Offer | string {
    const { found, origin } = this.#connection(id) ?? {};
    if (!found || !origin) return 'its server is not ready';
    const tool = found.discovered.toolset.tools.find(({ name }) => name === operation);
    if (!tool) return `its toolset has no operation "${operation}"`;
    const count = origin.isConfigured ? (definitionsIn(this.all).get(operation) ?? 1) : 1;
    if (count > 1)
      return `"${operation}" is defined by ${count} configured toolsets, so neither is used (RT-TOOLSET): open one by its URL`;
    return { ...found, tool: this.#strictest(found, tool), target: origin.target };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#stopping, ...this.#connections.map(each => each.stop())]);
  }

  #connect(origin: Origin): ServerConnection {
    const connection = new ServerConnection(`s${++this.#opened}`, origin, this.#options, this.#headers);
    this.#connections = [...this.#connections, connection];
    this.#options.onChange();
    return connection;
  }

  #connection(id: string): ServerConnection | undefined {
    return this.#connections.find(each => each.id === id);
  }

  /** An operation that any toolset of its endpoint marks destructive is destructive: the server is the same. */
  #strictest({ discovered: { toolset } }: Found, tool: Tool): Tool {
    const isDestructive = this.found
      .filter(({ discovered }) => discovered.toolset.endpoint === toolset.endpoint)
      .flatMap(({ discovered }) => discovered.toolset.tools)
      .some(({ name, annotations }) => name === tool.name && annotations?.destructive === true);
    return isDestructive ? { ...tool, annotations: { ...tool.annotations, destructive: true } } : tool;
  }
}

/** The headers that a user gave for one server: no other origin gets them (threats, row 12). */
class OriginHeaders {
  #origin: string | null = null;

  constructor(private readonly headers: Credentials['headers']) {}

  /** Null: another process may listen there from now on, and gets no headers. */
  allow(url: string | null): void {
    this.#origin = url === null ? null : new URL(url).origin;
  }

  /** Credentials that were handed out before are empty once their origin is not allowed any more. */
  credentialsFor(url: string): Credentials {
    const { origin } = new URL(url);
    const headers = () => (origin === this.#origin ? this.headers : {});
    return {
      origin,
      get headers() {
        return headers();
      },
    };
  }
}

const HINTS = {
  ...DISCOVERY_HINTS,
  locked:
    'Open it with a token: protocol-cli invoke -i <url> --bearer <token | env:NAME>; or with a header, by -H.',
};

/** Of the output of a server. */
const MOST_LINES = 1_000;
const LONGEST_LINE = 16 * 1024;

/** One tool server: started where it is a command, asked for its toolset, and stopped. */
class ServerConnection {
  found: Found | null = null;
  #state: Server['state'];
  #url: Promise<string> | null = null;
  #asking: Promise<void> | null = null;
  readonly #stops: (() => Promise<void>)[] = [];
  #output: readonly string[] = [];
  /** The start of a line of output that has not ended. */
  #begun = '';

  constructor(
    readonly id: string,
    readonly origin: Origin,
    private readonly options: ServersOptions,
    private readonly headers: OriginHeaders,
  ) {
    const command = commandOf(origin.target);
    this.#state = origin.isConfigured && command !== null ? { kind: 'asleep', command } : { kind: 'loading' };
  }

  get server(): Server {
    const { target, isConfigured } = this.origin;
    const output = commandOf(target) === null ? {} : { output: this.#output };
    return { id: this.id, about: nameOf(target), isConfigured, state: this.#state, ...output };
  }

  /** Whether the user opened it as this target. */
  isFor(other: ConfiguredTarget): boolean {
    const { target, isConfigured } = this.origin;
    if (isConfigured || target.kind !== other.kind) return false;
    return target.kind !== 'url' || (other.kind === 'url' && target.url === other.url);
  }

  /** Loads the toolset, once at a time; a ready one stays until the answer is here. Never rejects. */
  ask(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async restart(): Promise<void> {
    await this.#asking;
    this.#disconnect('the server was restarted');
    this.found = null;
    this.#enter({ kind: 'loading' });
    await Promise.allSettled(this.#stops.splice(0).map(stop => stop()));
    await this.ask();
  }

  async stop(): Promise<void> {
    await this.#url?.catch(() => {}); // it may only just be starting
    await Promise.allSettled(this.#stops.map(stop => stop()));
  }

  async #ask(): Promise<void> {
    if (this.#state.kind !== 'ready') this.#enter({ kind: 'loading' });
    try {
      const url = await this.#reached();
      const { log, client } = this.options;
      const wire = { client, log, credentials: this.headers.credentialsFor(url) };
      const discovered = await discover(wire, url, HINTS);
      const { base, toolset } = discovered;
      const notes = [...discovered.notes, ...withheld(wire, toolset.endpoint).map(({ message }) => message)];
      this.found = { wire, discovered };
      this.#enter({ kind: 'ready', base, toolset, notes: notes.map(this.options.redactor.text) });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A command is started once, and again where it did not start or has exited. */
  #reached(): Promise<string> {
    const { target, hasHeaders } = this.origin;
    this.#url ??= reach(target, {
      onStop: stop => void this.#stops.push(stop),
      signal: this.options.signal,
      onDeath: death => this.#die(death),
      onStderr: text => this.#write(text),
    }).then(
      url => {
        if (hasHeaders) this.headers.allow(url);
        return url;
      },
      error => {
        this.#url = null;
        throw error;
      },
    );
    return this.#url;
  }

  /** A secret may be split between two pieces: only whole lines are kept. */
  #write(text: string): void {
    const lines = (this.#begun + text).split('\n');
    this.#begun = (lines.pop() ?? '').slice(-LONGEST_LINE);
    const clean = lines.map(line => this.options.redactor.text(line.slice(-LONGEST_LINE)));
    this.#output = [...this.#output, ...clean].slice(-MOST_LINES);
    this.options.onChange();
  }

  #die({ how, lastLines }: Death): void {
    this.#disconnect(`the server ${how}`);
    const hint = 'Press R to restart it.';
    this.#fail(new ProtocolCliError('command-failed', `the server ${how}`, { faults: lastLines, hint }));
  }

  #disconnect(reason: string): void {
    if (this.found) this.options.onDeath(this.found.discovered.toolset.endpoint, reason);
    this.#url = null;
    if (this.origin.hasHeaders) this.headers.allow(null);
  }

  #fail(error: unknown): void {
    const { faults = [], hint = null } = error instanceof ProtocolCliError ? error : {};
    const message = error instanceof Error ? error.message : String(error);
    const { redactor } = this.options; // the message may quote what the server wrote
    this.found = null;
    this.#enter({ kind: 'failed', message: redactor.text(message), faults: faults.map(redactor.text), hint });
  }

  #enter(state: Server['state']): void {
    if (this.options.signal.aborted) return;
    this.#state = state;
    this.options.onChange();
  }
}

function nameOf(target: ConfiguredTarget): string {
  switch (target.kind) {
    case 'demo':
      return 'demo';
    case 'mcp':
      return target.name;
    case 'url':
      return target.url;
    case 'command':
      return target.command;
  }
}
