import { setMaxListeners } from 'node:events';
import { Book } from '../../exchange/book.js';
import { withQuestionSecrets } from '../../exchange/callback-secrets.js';
import { createLog, type Log } from '../../exchange/log.js';
import type { TranscriptAbout } from '../../exchange/transcript-writer.js';
import type { Clock } from '../../system/clock.js';
import { createRedactor, type Redactor } from '../../text/redact.js';
import { createNodeClient } from '../../transport/node-client.js';
import type { Controls } from '../../ui/workbench/controls.js';
import type { World } from '../../ui/workbench/world.js';
import { secretsOf } from '../headers.js';
import { PROGRAM } from '../program.js';
import type { ConfiguredTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import { wireSecrets } from '../wire-secrets.js';
import { Answers } from './answers.js';
import { audience } from './audience.js';
import { Caller } from './caller.js';
import { controlsOf } from './controls.js';
import { Keyring } from './keyring.js';
import { Ledger } from './ledger.js';
import { Library } from './library.js';
import type { Manners } from './manners.js';
import { Shelf } from './shelf.js';

export interface EngineOptions {
  readonly terminal: Pick<Terminal, 'cwd' | 'home' | 'stdout'>;
  readonly clock: Clock;
  readonly manners: Manners;
  /** By lower-case name: for the server that is opened with them, and no other origin. */
  readonly headers: Readonly<Record<string, string>>;
  /** A person has had enough. */
  readonly onQuit: () => void;
}

/** What the workbench looks at, and what it can do. */
export interface Engine {
  readonly world: World;
  readonly controls: Controls;
  /** Told when servers or volumes have changed. Returns how to stop listening. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly log: Log;
  readonly redactor: Redactor;
  /** What a transcript of it says of itself. */
  readonly about: TranscriptAbout;
  /** The server that the command line names; the headers are for it. Returns its id. */
  open(target: ConfiguredTarget): string;
  /** Starts a server of ours anew. */
  restart(id: string): void;
  /** Servers that a configuration names: none of its commands is started before a person allows it. */
  offer(targets: readonly ConfiguredTarget[]): void;
  /** How many calls are in no transcript that was saved by hand. */
  readonly unsaved: () => number;
  /** Takes leave of every tool, and stops what was started, whatever of it fails; once. */
  close(): Promise<void>;
}

/** The engine of a workbench; nothing is loaded, sent or listened to before it is asked for something. */
export function createEngine({ terminal, clock, manners, headers, onQuit }: EngineOptions): Engine {
  const log = createLog(() => clock.now());
  const book = new Book('runtime', false, undefined, text => redactor.text(text));
  const credentials = () => createRedactor(secretsOf(headers));
  const redactor = withQuestionSecrets(credentials());
  log.subscribe(book.apply);
  log.subscribe(event => redactor.learn(event));
  const { subscribe, tell } = audience();
  const client = createNodeClient();
  const over = new AbortController();
  setMaxListeners(0, over.signal); // every command that is being started listens to it
  const keyring = new Keyring(headers);
  const onDeath = (endpoint: string, value: string) => {
    for (const { key, settled, endpoint: its } of [...book.history.exchanges.values()])
      if (settled === null && its === endpoint)
        log.emit({ kind: 'decided', what: 'give-up', by: 'policy', value, calls: [key] });
  };
  const shelf = new Shelf({ log, client, keyring, signal: over.signal, onChange: tell, onDeath });
  const ledger = new Ledger(manners);
  const answers = new Answers();
  const caller = new Caller({ log, book, clock, redactor, shelf, manners, ledger, answers });
  const about = { startedAt: clock.wall().toISOString(), observer: 'runtime', program: PROGRAM } as const;
  let closing: Promise<void> | null = null;
  const library = new Library(book, {
    ...{ cwd: terminal.cwd, home: terminal.home, redactor, about, onChange: tell },
    foreign: () => wireSecrets(credentials()),
  });
  return {
    world: worldOf(shelf, library, ledger),
    controls: controlsOf({ shelf, caller, ward: { book, ledger, answers }, library, terminal, onQuit }),
    ...{ subscribe, log, redactor, about },
    unsaved: () => library.unsaved,
    restart: id => shelf.restart(id),
    open: target => shelf.add(target, { isConfigured: false, hasKeys: true }),
    offer(targets) {
      for (const target of targets) shelf.add(target, { isConfigured: true, hasKeys: false });
    },
    close() {
      over.abort();
      closing ??= inTurn([() => caller.leave(), () => shelf.close(), () => client.close()]);
      return closing;
    },
  };
}

/** All of them, whatever fails. @throws what failed first. */
async function inTurn(parts: readonly (() => Promise<void>)[]): Promise<void> {
  const [next, ...rest] = parts;
  if (next) await next().finally(() => inTurn(rest));
}

function worldOf(shelf: Shelf, library: Library, ledger: Ledger): World {
  return {
    get servers() {
      return shelf.servers;
    },
    get names() {
      return shelf.names;
    },
    get volumes() {
      return library.volumes;
    },
    serverOf: key => ledger.serverOf(key),
    isUnvalidated: key => ledger.isUnvalidated(key),
  };
}
