import { setMaxListeners } from 'node:events';
import { CallLog } from '../../events/call-log.js';
import { createLog } from '../../events/log.js';
import { withQuestionSecrets } from '../../events/shareable.js';
import { createNodeClient } from '../../http/node-client.js';
import { openUrl } from '../../system/child.js';
import type { Clock } from '../../system/clock.js';
import type { Controls, Said, World } from '../../tui/workbench/model.js';
import { secretsOf } from '../../util/credentials.js';
import { createRedactor } from '../../util/redact.js';
import { wireSecrets } from '../save-files.js';
import { asUrl, type ConfiguredTarget } from '../target.js';
import { PROGRAM, type Terminal } from '../terminal.js';
import { type CallDefaults, Calls, done, failed, reasonOf } from './calls.js';
import { asCommand, asCurl, sentCall } from './copies.js';
import { Servers } from './servers.js';
import { Transcripts } from './transcripts.js';

interface EngineOptions {
  readonly terminal: Pick<Terminal, 'cwd' | 'home' | 'stdout'>;
  readonly clock: Clock;
  readonly defaults: CallDefaults;
  /** By lower-case name: for the server that is opened with them, and no other origin. */
  readonly headers: Readonly<Record<string, string>>;
  readonly onQuit: () => void;
}

export type Engine = ReturnType<typeof createEngine>;

/** The workbench without its screen. Nothing is loaded, sent or listened to before it is asked for. */
export function createEngine({ terminal, clock, defaults, headers, onQuit }: EngineOptions) {
  const log = createLog(() => clock.now());
  const credentials = () => createRedactor(secretsOf(headers));
  const redactor = withQuestionSecrets(credentials());
  const book = new CallLog('runtime', false, undefined, redactor.text);
  log.subscribe(book.apply);
  log.subscribe(event => redactor.learn(event));
  const listeners = new Set<() => void>();
  const onChange = () => {
    for (const listener of listeners) listener();
  };
  const client = createNodeClient();
  const over = new AbortController();
  setMaxListeners(0, over.signal); // every command that is being started listens to it
  const onDeath = (endpoint: string, value: string) => {
    const pending = [...book.history.exchanges.values()].filter(call => call.settled === null);
    for (const call of pending)
      if (call.endpoint === endpoint)
        log.emit({ kind: 'decided', what: 'give-up', by: 'policy', value, calls: [call.key] });
  };
  const servers = new Servers({ log, client, headers, redactor, signal: over.signal, onChange, onDeath });
  const calls = new Calls({ log, book, clock, redactor, servers, defaults });
  const about = { startedAt: clock.wall().toISOString(), observer: 'runtime', program: PROGRAM } as const;
  const { cwd, home, stdout } = terminal;
  const fileRedactor = () => wireSecrets(credentials());
  const transcripts = new Transcripts(book, { cwd, home, redactor, fileRedactor, about, onChange });
  const open = (target: ConfiguredTarget, hasHeaders: boolean) =>
    servers.add({ target, isConfigured: false, hasHeaders });
  const calledAs = (key: string, volume: number) => (volume === 0 ? calls.calledAs(key) : null);
  let closing: Promise<void> | null = null;
  const world: World = {
    get servers() {
      return servers.all;
    },
    get volumes() {
      return transcripts.volumes;
    },
    serverOf: key => calls.serverOf(key),
    isUnvalidated: key => calls.isUnvalidated(key),
  };
  const controls: Controls = {
    open: text => openTyped(text, target => open(target, false)),
    wake: id => servers.wake(id),
    dismiss: id => servers.dismiss(id),
    restart: id => servers.restart(id),
    needsConsent: (server, operation) => calls.needsConsent(server, operation),
    check: draft => calls.check(draft),
    run: (draft, options) => calls.run(draft, options),
    decline: draft => orReason(calls.decline(draft)),
    answer: (key, leg, selected) => calls.answer(key, leg, selected),
    cancel: key => orReason(calls.cancel(key)),
    visit,
    asCurl(key, id) {
      const volume = transcripts.volume(id);
      const sent = volume && sentCall(volume, key);
      return sent ? asCurl(sent, (calledAs(key, id)?.groupId ?? null) !== null) : null;
    },
    async asCommand(key, id) {
      const volume = transcripts.volume(id);
      return volume ? asCommand(volume, key, calledAs(key, id)) : failed('there is no such call');
    },
    copy: text => copyTo(stdout, text),
    saveFixture: (key, volume, path) => orReason(transcripts.saveFixture(key, volume, path)),
    saveTranscript: path => orReason(transcripts.saveTranscript(path)),
    openTranscript: path => orReason(transcripts.open(path)),
    freeName: name => transcripts.freeName(name),
    paths: typed => transcripts.paths(typed),
    quit: onQuit,
  };
  return {
    world,
    controls,
    /** Subscribes to changes of servers and transcripts. Returns how to unsubscribe. */
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    log,
    redactor,
    about,
    /** How many calls are in no transcript that the user saved. */
    unsaved: () => transcripts.unsaved,
    restart: (id: string) => servers.restart(id),
    /** Opens the server of the command line, which the headers are for. Returns its id. */
    open: (target: ConfiguredTarget) => open(target, true),
    /** Offers configured servers: their commands are started only once the user allows it. */
    offer(targets: readonly ConfiguredTarget[]) {
      for (const target of targets) servers.add({ target, isConfigured: true, hasHeaders: false });
    },
    /** Ends all calls, and stops what was started, whatever of it fails; once. */
    close(): Promise<void> {
      over.abort();
      closing ??= calls
        .close()
        .finally(() => servers.close())
        .finally(() => client.close());
      return closing;
    },
  };
}

async function orReason(work: Promise<Said>): Promise<Said> {
  return work.catch(error => failed(reasonOf(error)));
}

/** Opens `demo`, a URL or `:port`. */
function openTyped(text: string, open: (target: ConfiguredTarget) => string): ReturnType<Controls['open']> {
  const word = text.trim();
  if (word === 'demo') return { server: open({ kind: 'demo' }) };
  try {
    const url = asUrl(word);
    if (url !== null) return { server: open({ kind: 'url', url }) };
    return failed(`invalid URL: use http://host:port, :port, or demo`);
  } catch (error) {
    return failed(reasonOf(error));
  }
}

async function visit(url: string): Promise<Said> {
  const opening = await openUrl(url);
  if (opening.ok) return done('opened in the browser');
  return failed(`it could not be opened (${opening.reason}): visit it yourself`);
}

/** Bytes. Terminals take no more, and some much less. */
const MOST_COPIED = 100_000;

/** Writes a text to the terminal's clipboard (OSC 52), in base64, so that nothing of it acts on the terminal. */
function copyTo(stdout: Pick<NodeJS.WritableStream, 'write'>, text: string): Said {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length > MOST_COPIED)
    return failed(`too long for a terminal's clipboard: ${bytes.length} bytes, ${MOST_COPIED} at most`);
  stdout.write(`\u001b]52;c;${bytes.toString('base64')}\u0007`);
  return done('copied (if the terminal supports clipboard access)');
}
