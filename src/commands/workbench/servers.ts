import type { HttpClient } from '../../http/client.js';
import type { Tool } from '../../protocol/toolset.js';
import { DISCOVERY_HINTS, type DiscoveredToolset, Wire } from '../../runtime/wire.js';
import { definitionsIn, definitionsText, type Server } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import { withoutColours } from '../../util/visible.js';
import type { Run } from '../run.js';
import { type ServerExit, startTarget } from '../started-servers.js';
import { type ConfiguredTarget, commandOf } from '../target.js';
import type { Terminal } from '../terminal.js';
import { UserFile } from '../user-file.js';

interface Found {
  readonly wire: Wire;
  readonly discovered: DiscoveredToolset;
}

export interface Offer extends Found {
  readonly tool: Tool;
  readonly target: ConfiguredTarget;
}

interface ServersOptions {
  readonly run: Run;
  readonly client: HttpClient;
  /** Aborted at the end, so that starting servers are not waited for. */
  readonly closeSignal: AbortSignal;
  readonly onChange: () => void;
  /** Called when the server of this endpoint has exited, or with null when the user restarts it; its pending calls end. */
  readonly onServerExit: (endpoint: string, exit: ServerExit | null) => void;
}

interface Origin {
  readonly target: ConfiguredTarget;
  /** Listed in `.infinity/rap.json`, which another person may have written, rather than opened by the user. */
  readonly isConfigured: boolean;
  /** The headers given for this server; they are sent to no other (threats, row 12). */
  readonly headers?: Readonly<Record<string, string>>;
}

export class Servers {
  #connections: readonly ServerConnection[] = [];
  readonly #stopping: Promise<void>[] = [];
  #opened = 0;
  readonly #recent: RecentServers;

  constructor(private readonly options: ServersOptions) {
    const { run, onChange } = options;
    this.#recent = new RecentServers(run.terminal, text => run.clean(text) !== text);
    void this.#recent.load().then(onChange);
  }

  /** The URLs of the servers that the user opened, the latest first. */
  get recent(): readonly string[] {
    return this.#recent.urls;
  }

  get all(): readonly Server[] {
    return this.#connections.map(({ server }) => server);
  }

  get found(): readonly Found[] {
    return this.#connections.flatMap(({ found }) => found ?? []);
  }

  /** Adds a server, unless the user opened it before. Loads its toolset, unless the user must allow that first. Returns its id. */
  add(origin: Origin): string {
    const known = this.#connections.find(each => !origin.isConfigured && each.isFor(origin.target));
    const connection =
      known ?? new ServerConnection(`s${++this.#opened}`, origin, this.options, url => this.#recent.add(url));
    if (!known) this.#connections = [...this.#connections, connection];
    this.options.onChange();
    if (connection.server.state.kind !== 'unstarted') void connection.load();
    return connection.id;
  }

  restart(id: string, why?: string): void {
    void this.#connection(id)?.restart(why);
  }

  load(id: string): void {
    void this.#connection(id)?.load();
  }

  /** Removes a server that failed, and stops its process. */
  remove(id: string): void {
    const connection = this.#connection(id);
    if (connection?.server.state.kind !== 'failed') return;
    this.#connections = this.#connections.filter(each => each !== connection);
    this.#stopping.push(connection.stop());
    this.options.onChange();
  }

  /** Returns the operation of a server, or why it cannot be called (RT-OP, RT-TOOLSET). */
  offer(id: string, operation: string): Offer | string {
    const { found, origin, server } = this.#connection(id) ?? {};
    if (!found || !origin || !server) return 'its server is not ready';
    const tool = found.discovered.toolset.tools.find(({ name }) => name === operation);
    if (!tool) return `its toolset has no operation "${operation}"`;
    const definitions = definitionsIn(this.all)(server, operation);
    if (definitions > 1) return `${operation}: ${definitionsText(definitions)}: open one by its URL`;
    return { ...found, tool: this.#strictest(found, tool), target: origin.target };
  }

  async close(): Promise<void> {
    await Promise.all([
      ...this.#stopping,
      ...this.#connections.map(each => each.stop()),
      this.#recent.saved(),
    ]);
  }

  #connection(id: string): ServerConnection | undefined {
    return this.#connections.find(each => each.id === id);
  }

  /** An operation is destructive if any toolset with the same endpoint marks it destructive: the server is the same. */
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

const MAX_LINES = 1_000;

/** A connection to one tool server: starts its command, loads its toolset, and stops it. */
class ServerConnection {
  found: Found | null = null;
  server: Server;
  #url: Promise<string> | null = null;
  #wire: Wire | null = null;
  #loading: Promise<void> | null = null;
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(
    readonly id: string,
    readonly origin: Origin,
    private readonly options: ServersOptions,
    /** Called when the user opened a server by its URL and it sent a toolset. */
    private readonly onOpened: (url: string) => void,
  ) {
    const { target, isConfigured } = origin;
    const command = commandOf(target);
    this.server = {
      id,
      about: nameOf(target),
      isConfigured,
      ...(command !== null && { output: [] }),
      state: isConfigured && command !== null ? { kind: 'unstarted', command } : { kind: 'loading' },
    };
  }

  isFor(target: ConfiguredTarget): boolean {
    return (
      !this.origin.isConfigured &&
      target.kind === this.origin.target.kind &&
      (target.kind !== 'url' || nameOf(target) === nameOf(this.origin.target))
    );
  }

  /** Loads the toolset; concurrent calls share one request. The previous toolset stays until the new one arrives. Never rejects. */
  load(): Promise<void> {
    this.#loading ??= this.#fetchToolset().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async restart(why: string | null = null): Promise<void> {
    await this.#loading;
    this.#disconnect(null);
    this.#enter({ kind: 'loading' });
    await Promise.allSettled(this.#stops.splice(0).map(stop => stop()));
    await this.load();
    this.server = { ...this.server, restarted: { why } };
    this.options.onChange();
  }

  async stop(): Promise<void> {
    await this.#url?.catch(() => {}); // it may still be starting
    await Promise.allSettled(this.#stops.map(stop => stop()));
  }

  async #fetchToolset(): Promise<void> {
    if (this.server.state.kind !== 'ready') this.#enter({ kind: 'loading' });
    const { run } = this.options;
    try {
      this.#url ??= this.#reach();
      const wire = await this.#wireTo(this.#url);
      const discovered = await wire.discover(HINTS);
      const { toolset } = discovered;
      const withheld = wire.withheldFrom(toolset.endpoint).map(({ message }) => message);
      const notes = [...discovered.notes, ...withheld];
      this.found = { wire, discovered };
      this.#enter({ kind: 'ready', base: wire.base, toolset, notes: notes.map(run.clean) });
      const { target, isConfigured } = this.origin;
      if (target.kind === 'url' && !isConfigured) this.onOpened(target.url);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Starts a command once, and again if the start failed or it has exited. */
  #reach(): Promise<string> {
    const { run, closeSignal: over, onChange } = this.options;
    return startTarget(this.origin.target, {
      onStop: stop => void this.#stops.push(stop),
      signal: over,
      onServerExit: exit => {
        this.#disconnect(exit);
        const message = `the server ${exit.how}`;
        const hint = 'Press R to restart it.';
        const error = new ProtocolCliError('command-failed', message, { faults: exit.lastLines, hint });
        this.#fail(error, exit.how);
      },
      onStderr: async text => {
        const { output = [] } = this.server;
        const added = run.clean(withoutColours(text).trimEnd()).split(/\r?\n/);
        this.server = { ...this.server, output: [...output, ...added].slice(-MAX_LINES) };
        onChange();
      },
    }).catch((error: unknown) => {
      this.#url = null;
      throw error;
    });
  }

  /** After a disconnection another process may listen there, so it gets no headers, not even in a notice. */
  async #wireTo(connection: Promise<string>): Promise<Wire> {
    const { run, client } = this.options;
    const url = await connection;
    const isLost = this.#url !== connection;
    const wire = new Wire(run.log, client, url, isLost ? {} : this.origin.headers);
    this.#wire = run.keepNamesOf(wire, this.origin.target);
    return this.#wire;
  }

  #disconnect(exit: ServerExit | null): void {
    if (this.found) this.options.onServerExit(this.found.discovered.toolset.endpoint, exit);
    if (this.#wire) this.#wire.headers = {};
    this.#url = null;
    this.found = null;
  }

  #fail(error: unknown, exited?: string): void {
    const { clean } = this.options.run; // the message may quote the server's output
    const { message, faults = [], hint = null } = error as Partial<ProtocolCliError>;
    this.found = null;
    this.#enter({
      kind: 'failed',
      ...(exited !== undefined && { exited }),
      message: clean(message ?? String(error)),
      faults: faults.map(clean),
      hint,
    });
  }

  #enter(state: Server['state']): void {
    if (this.options.closeSignal.aborted) return;
    this.server = { ...this.server, state };
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

/** Limits of the list of recent servers: URLs, characters of a URL, and bytes of the file. */
const MAX_RECENT = { urls: 5, length: 500, bytes: 16 * 1024 };

/** The URLs of the servers that the user opened, the latest first. They are kept in a file that only its owner may read. */
class RecentServers {
  urls: readonly string[] = [];
  readonly #file: UserFile;
  /** One reads or writes at a time. */
  #last: Promise<void> = Promise.resolve();

  constructor(
    terminal: Pick<Terminal, 'env' | 'home'>,
    private readonly isSecret: (text: string) => boolean,
  ) {
    this.#file = new UserFile('XDG_STATE_HOME', 'recent.json', terminal);
  }

  /** Ignores a file that is broken, too large, or not a file. Never rejects. */
  load(): Promise<void> {
    return this.#inTurn(() => this.#load());
  }

  /** Adds a URL without its credentials and query (threats, row 25). A file that cannot be written stays as it is. */
  add(url: string): void {
    void this.#inTurn(() => this.#save(url));
  }

  saved(): Promise<void> {
    return this.#last;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).catch(() => {});
    return this.#last;
  }

  async #load(): Promise<void> {
    const saved = await this.#file.read(MAX_RECENT.bytes);
    const urls = Array.isArray(saved) ? saved.map(bareUrl) : [];
    this.urls = [...new Set(urls.filter(url => url !== null))].slice(0, MAX_RECENT.urls);
  }

  /** Reads the file again: another workbench may have changed it. */
  async #save(opened: string): Promise<void> {
    const url = bareUrl(opened);
    if (url === null || this.isSecret(url)) return;
    await this.#load();
    if (this.urls[0] === url) return;
    this.urls = [url, ...this.urls.filter(each => each !== url)].slice(0, MAX_RECENT.urls);
    await this.#file.write(this.urls);
  }
}

/** An HTTP URL without credentials, query and fragment; null for anything else. */
function bareUrl(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > MAX_RECENT.length || !URL.canParse(text)) return null;
  const { protocol, host, pathname } = new URL(text);
  return /^https?:$/.test(protocol) ? `${protocol}//${host}${pathname === '/' ? '' : pathname}` : null;
}
