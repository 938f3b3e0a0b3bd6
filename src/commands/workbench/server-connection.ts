import type { Log } from '../../events/log.js';
import type { HttpClient } from '../../http/client.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import { DISCOVERY_HINTS, type Discovered, discover } from '../../runtime/discover.js';
import type { Credentials, Wire } from '../../runtime/notices.js';
import type { Answering } from '../../runtime/runtime.js';
import type { Server } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import { withheld } from '../invoke/prepare.js';
import { reach } from '../rap-config.js';
import type { Death } from '../started-server.js';
import { type ConfiguredTarget, commandOf } from '../target.js';

/** The headers that a user gave: for the server that was named beside them, and for no other origin (threats, row 12). */
export class Keyring {
  #origin: string | null = null;

  /** @param headers by lower-case name */
  constructor(private readonly headers: Credentials['headers']) {}

  /** They were given for this URL, and for none before it: a command that is started again is somewhere else. */
  claim(url: string): void {
    this.#origin = new URL(url).origin;
  }

  /** Another process may listen there from now on. */
  giveUp(): void {
    this.#origin = null;
  }

  /** What is lent ends with the claim. */
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

/** What servers are reached with. */
export interface Desk {
  readonly log: Log;
  readonly client: HttpClient;
  readonly keyring: Keyring;
  /** Aborted when all is over: what is being started is not waited for. */
  readonly signal: AbortSignal;
  readonly onChange: () => void;
  /** Gives up what is pending at an endpoint. */
  readonly onDeath: (endpoint: string, reason: string) => void;
}

/** Where a server comes from. */
export interface Origin {
  readonly id: string;
  readonly target: ConfiguredTarget;
  /** By `.infinity/rap.json`, which may be anybody's, and not by a person. */
  readonly isConfigured: boolean;
  /** Whether the headers that were given are for it. */
  readonly hasKeys: boolean;
}

/** A server that answered, and what is sent through to it. */
export interface Found {
  readonly wire: Wire;
  readonly discovered: Discovered;
}

/** A token is for the server that is named beside it. */
const HINTS = {
  ...DISCOVERY_HINTS,
  locked:
    'Open it with a token: protocol-cli invoke -i <url> --bearer <token | env:NAME>; or with a header, by -H.',
};

/** One tool server: brought to life, asked what it offers, and stopped. */
export class Place {
  found: Found | null = null;
  /** Ever, whatever became of it since. */
  hasAnswered = false;
  #state: Server['state'];
  #url: Promise<string> | null = null;
  #asking: Promise<void> | null = null;
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(
    readonly origin: Origin,
    private readonly desk: Desk,
  ) {
    const { target, isConfigured } = origin;
    const command = commandOf(target);
    this.#state = isConfigured && command !== null ? { kind: 'asleep', command } : { kind: 'loading' };
  }

  get server(): Server {
    const { id, target, isConfigured } = this.origin;
    return { id, about: aboutOf(target), isConfigured, state: this.#state };
  }

  /** Asks what it offers, once at a time; what was ready stays so until the answer is here. Never rejects. */
  ask(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** Stops what was started, and starts it anew; its pending calls are given up. */
  async restart(): Promise<void> {
    await this.#asking;
    if (this.found) this.desk.onDeath(this.found.discovered.toolset.endpoint, 'the server was restarted');
    this.found = null;
    this.#enter({ kind: 'loading' });
    this.#url = null;
    if (this.origin.hasKeys) this.desk.keyring.giveUp();
    await Promise.allSettled(this.#stops.splice(0).map(stop => stop()));
    await this.ask();
  }

  /** What is only being started is stopped too. */
  async stop(): Promise<void> {
    await this.#url?.catch(() => {});
    await Promise.allSettled(this.#stops.map(stop => stop()));
  }

  async #ask(): Promise<void> {
    if (this.#state.kind !== 'ready') this.#enter({ kind: 'loading' });
    try {
      const url = await this.#reached();
      const { log, client, keyring } = this.desk;
      const wire = { client, log, credentials: keyring.credentialsFor(url) };
      this.#find({ wire, discovered: await discover(wire, url, HINTS) });
    } catch (error) {
      this.#fail(error);
    }
  }

  #find(found: Found): void {
    const { base, toolset, notes } = found.discovered;
    const kept = withheld(found.wire, toolset.endpoint).map(({ message }) => message);
    this.found = found;
    this.hasAnswered = true;
    this.#enter({ kind: 'ready', base, toolset, notes: [...notes, ...kept] });
  }

  #fail(error: unknown): void {
    const { faults = [], hint = null } = error instanceof ProtocolCliError ? error : {};
    this.found = null;
    const message = error instanceof Error ? error.message : String(error);
    this.#enter({ kind: 'failed', message, faults, hint });
  }

  /** Started once; again only where it did not come to life, or did not stay there. */
  #reached(): Promise<string> {
    const { target, hasKeys } = this.origin;
    const onStop = (stop: () => Promise<void>) => void this.#stops.push(stop);
    const onDeath = (death: Death) => this.#die(death);
    this.#url ??= reach(target, { onStop, signal: this.desk.signal, onDeath }).then(
      url => {
        if (hasKeys) this.desk.keyring.claim(url);
        return url;
      },
      error => {
        this.#url = null;
        throw error;
      },
    );
    return this.#url;
  }

  #die({ how, lastLines }: Death): void {
    if (this.found) this.desk.onDeath(this.found.discovered.toolset.endpoint, `the server ${how}`);
    this.#url = null;
    if (this.origin.hasKeys) this.desk.keyring.giveUp();
    this.#fail(
      new ProtocolCliError('command-failed', `the server ${how}`, {
        faults: lastLines,
        hint: 'Press R to restart it.',
      }),
    );
  }

  #enter(state: Server['state']): void {
    if (this.desk.signal.aborted) return;
    this.#state = state;
    this.desk.onChange();
  }
}

function aboutOf(target: ConfiguredTarget): string {
  if (target.kind === 'demo') return 'demo';
  if (target.kind === 'mcp') return target.name;
  return target.kind === 'url' ? target.url : target.command;
}

/** Questions that wait for a person, who answers in their own order. */
export class Answers {
  readonly #waiting = new Map<UserChoice, (selected: number | null) => void>();

  readonly answering: Answering = {
    by: 'person',
    select: (question, signal) =>
      new Promise(resolve => {
        const callOff = () => settle(null);
        const settle = (selected: number | null) => {
          this.#waiting.delete(question);
          signal.removeEventListener('abort', callOff);
          resolve(selected);
        };
        if (signal.aborted) return resolve(null);
        this.#waiting.set(question, settle);
        signal.addEventListener('abort', callOff);
      }),
  };

  /** Whether a question was pending. */
  give(question: UserChoice, selected: number): boolean {
    const settle = this.#waiting.get(question);
    settle?.(selected);
    return settle !== undefined;
  }
}
