import type { Tool } from '../../protocol/toolset.js';
import { DISCOVERY_HINTS, type Discovered, discover } from '../../runtime/discover.js';
import type { Wire } from '../../runtime/notices.js';
import { definitionsIn, type Server } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import { byLine, reach } from '../reach.js';
import type { Run } from '../run.js';
import { type ConfiguredTarget, commandOf, withheld } from '../target.js';

/** A server that answered. */
interface Found {
  readonly wire: Wire;
  readonly discovered: Discovered;
}

/** An operation that can be called. */
export interface Offer extends Found {
  readonly tool: Tool;
  readonly target: ConfiguredTarget;
}

interface ServersOptions {
  readonly run: Run;
  readonly client: Wire['client'];
  /** Aborted at the end: servers that are being started are not waited for. */
  readonly over: AbortSignal;
  readonly onChange: () => void;
  /** The server of this endpoint is gone, and its pending calls end. */
  readonly onDeath: (endpoint: string, reason: string) => void;
}

/** Where a server comes from. */
interface Origin {
  readonly target: ConfiguredTarget;
  /** Named in `.infinity/rap.json`, which may be another person's, and not by the user. */
  readonly isConfigured: boolean;
  /** The headers that were given for it: no other server gets them (threats, row 12). */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The tool servers of a session. */
export class Servers {
  #connections: readonly ServerConnection[] = [];
  /** Stops of servers that were removed. */
  readonly #stopping: Promise<void>[] = [];
  #opened = 0;

  constructor(private readonly options: ServersOptions) {}

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
    const connection = known ?? new ServerConnection(`s${++this.#opened}`, origin, this.options);
    if (!known) this.#connections = [...this.#connections, connection];
    this.options.onChange();
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
    this.options.onChange();
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

const HINTS = {
  ...DISCOVERY_HINTS,
  locked:
    'Open it with a token: protocol-cli invoke -i <url> --bearer <token | env:NAME>; or with a header, by -H.',
};

/** Lines of the output of a server that are kept. */
const MOST_LINES = 1_000;

/** One tool server: started where it is a command, asked for its toolset, and stopped. */
class ServerConnection {
  found: Found | null = null;
  #state: Server['state'];
  #url: Promise<string> | null = null;
  #asking: Promise<void> | null = null;
  readonly #stops: (() => Promise<void>)[] = [];
  #output: readonly string[] = [];

  constructor(
    readonly id: string,
    readonly origin: Origin,
    private readonly options: ServersOptions,
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
  isFor(target: ConfiguredTarget): boolean {
    return (
      !this.origin.isConfigured &&
      target.kind === this.origin.target.kind &&
      (target.kind !== 'url' || nameOf(target) === nameOf(this.origin.target))
    );
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
    const { run } = this.options;
    try {
      this.#url ??= this.#reach();
      const connection = this.#url;
      const url = await connection;
      const wire = this.#wireTo(url, connection);
      const discovered = await discover(wire, url, HINTS);
      const { base, toolset } = discovered;
      const notes = [
        ...discovered.notes,
        ...withheld(wire.credentials, toolset.endpoint).map(({ message }) => message),
      ];
      this.found = { wire, discovered };
      this.#enter({ kind: 'ready', base, toolset, notes: notes.map(run.clean) });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A command is started once, and again where it did not start or has exited. */
  #reach(): Promise<string> {
    const { run, over, onChange } = this.options;
    const lines = byLine(text => {
      this.#output = [...this.#output, ...run.clean(text.trimEnd()).split('\n')].slice(-MOST_LINES);
      onChange();
    });
    return reach(this.origin.target, {
      onStop: stop => void this.#stops.push(stop),
      signal: over,
      onDeath: ({ how, lastLines }) => {
        this.#disconnect(`the server ${how}`);
        const hint = 'Press R to restart it.';
        this.#fail(new ProtocolCliError('command-failed', `the server ${how}`, { faults: lastLines, hint }));
      },
      onStderr: lines.add,
    }).catch((error: unknown) => {
      this.#url = null;
      throw error;
    });
  }

  /** After a disconnection another process may listen there: it gets no headers, not even in a notice. */
  #wireTo(url: string, connection: Promise<string>): Wire {
    const { run, client } = this.options;
    const headers = () => (this.#url === connection ? (this.origin.headers ?? {}) : {});
    const credentials = {
      origin: new URL(url).origin,
      get headers() {
        return headers();
      },
    };
    return { client, log: run.log, credentials };
  }

  #disconnect(reason: string): void {
    if (this.found) this.options.onDeath(this.found.discovered.toolset.endpoint, reason);
    this.#url = null;
    this.found = null;
  }

  #fail(error: unknown): void {
    const { clean } = this.options.run; // the message may quote what the server wrote
    const { message, faults = [], hint = null } = error as Partial<ProtocolCliError>;
    this.found = null;
    this.#enter({
      kind: 'failed',
      message: clean(message ?? String(error)),
      faults: faults.map(clean),
      hint,
    });
  }

  #enter(state: Server['state']): void {
    if (this.options.over.aborted) return;
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
