import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Book } from '../../events/call-log.js';
import type { Event, RequestEvent } from '../../events/events.js';
import { canBeGivenUp } from '../../events/exchange.js';
import { createLog, type Log } from '../../events/log.js';
import { shareableText, withQuestionSecrets } from '../../events/shareable.js';
import type { TranscriptAbout } from '../../events/transcript-writer.js';
import { createNodeClient } from '../../http/node-client.js';
import { type Invocation, readInvocation } from '../../protocol/read-invocation.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { concerning } from '../../render/wire.js';
import { giveUp, isTaken, type NoticeAnswer } from '../../runtime/notices.js';
import type { Clock } from '../../system/drafts.js';
import { openUrl } from '../../system/open-url.js';
import type { Controls, Said, ShellLine, Volume, World } from '../../tui/workbench/model.js';
import { secretsOf } from '../../util/credentials.js';
import { parseJson } from '../../util/json.js';
import { createRedactor, isPlainHeader, type Redactor, redactHeaders } from '../../util/redact.js';
import { curlOf, gapsIn, YOUR_CALLBACK } from '../invoke/questions.js';
import { wireSecrets } from '../save-files.js';
import { asUrl, type ConfiguredTarget, type ServerTarget, type Target } from '../target.js';
import { PROGRAM, type Terminal } from '../terminal.js';
import { Caller, done, failed, reasonOf, saying } from './calls.js';
import { Answers, Keyring } from './server-connection.js';
import { asCommand, type CalledAs, Ledger, type Manners, Shelf } from './servers.js';
import { freeName, Library, pathsFrom, type Whereabouts } from './transcripts.js';

/** Whoever wants to know that something has changed. */
function audience() {
  const listeners = new Set<() => void>();
  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell() {
      for (const listener of listeners) listener();
    },
  };
}

/** Where calls are that were made. */
interface Ward {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly answers: Answers;
}

/** Gives the answer to an open question of a call; null where it was taken. */
function answer({ book, answers }: Ward, key: string, leg: string, selected: number): Said | null {
  const exchange = book.history.exchanges.get(key);
  const question = exchange?.questions.find(each => each.leg === leg)?.message;
  if (question?.type !== 'user_choice') return failed('there is no such question');
  if (question.choices[selected] === undefined) return failed('there is no such choice');
  return answers.give(question, selected) ? null : failed('nobody waits for this answer any more');
}

/** Gives a call, or the subscription that it started, up, and tells its tool. */
async function cancel({ book, ledger }: Ward, key: string): Promise<Said> {
  const exchange = book.history.exchanges.get(key);
  const offer = ledger.offerOf(key);
  if (!exchange || !offer) return failed('this call is none of this session');
  if (!canBeGivenUp(exchange)) return failed('there is nothing to cancel: it is over');
  return told(await giveUp(offer.wire, offer.discovered.base, exchange, 'person'));
}

function told(reply: NoticeAnswer): Said {
  if (isTaken(reply)) return done('given up, and the tool was told');
  const why = reply.kind === 'answered' ? `it answered ${reply.status}` : reply.reason;
  return failed(`given up here, but the tool could not be told: ${why}`);
}

/** Bytes. Terminals take no more, and some much less. */
const MOST = 100_000;

/** Gives a text to the terminal's clipboard (OSC 52): it comes out of base64 as it was, and nothing of it acts on the way. */
function copyTo(stdout: Pick<NodeJS.WritableStream, 'write'>, text: string): Said {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length > MOST)
    return failed(`too long for a terminal's clipboard: ${bytes.length} bytes, ${MOST} at most`);
  stdout.write(`\u001b]52;c;${bytes.toString('base64')}\u0007`);
  return done('copied, where the terminal allows it');
}

/** An invocation as it went out, and as it may be told. */
interface SentCall {
  readonly request: RequestEvent;
  /** Where it went, secrets in. */
  readonly url: string;
  /** Secrets out. */
  readonly invocation: Invocation;
  /** Of where it was found. */
  readonly redactor: Redactor;
}

/** The invocation of a call; null if it was not sent over RAP, or is unreadable, or its URL is unknown. */
export function sentCall(
  { book, redactor }: Pick<Volume, 'book' | 'redactor'>,
  key: string,
): SentCall | null {
  const requests = book.of(key).filter(isInvocation);
  const request = requests.find(({ url }) => !isPath(url)) ?? requests[0];
  const url = request ? addressOf(request) : null;
  if (!request?.body || request.dialect !== undefined || url === null) return null;
  const reading = readInvocation(parseJson(shareableText(request.body, redactor) ?? ''));
  return reading.ok ? { request, url, invocation: reading.invocation, redactor } : null;
}

function isInvocation(event: Event): event is RequestEvent {
  return event.kind === 'request' && event.purpose === 'invocation';
}

/** Whoever receives a request sees no more of its address than the path, and the name that it was called by. */
function addressOf({ url, headers }: RequestEvent): string | null {
  if (!isPath(url)) return url;
  const [, host = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'host') ?? [];
  return HOST.test(host) ? `http://${host}${url}` : null;
}

function isPath(url: string): boolean {
  return url.startsWith('/');
}

/** A name or an address, and a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Of the connection that it was sent on: curl has its own. */
const CARRIAGE = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'date',
  'host',
  'keep-alive',
  'transfer-encoding',
  'user-agent',
]);

/**
 * An invocation as a command for a shell: a call of its own, or a tool would take it for a retry of the old one. What is secret in
 * it, and where its callbacks go, has to be put in.
 * @param keepsThread it was named; else a fresh one is
 */
export function asCurl({ request, url, invocation, redactor }: SentCall, keepsThread: boolean): ShellLine {
  const ours = Object.entries(redactHeaders(request.headers)).filter(
    ([name]) => !CARRIAGE.has(name.toLowerCase()),
  );
  const byHand = {
    method: 'POST',
    url: redactor.text(url),
    headers: Object.fromEntries(ours),
    body: {
      ...invocation,
      id: `call_${randomUUID()}`,
      call_id: null,
      callback_url: YOUR_CALLBACK,
      group_id: keepsThread ? invocation.group_id : `thread_${randomUUID()}`,
    },
  } as const;
  return { text: curlOf(byHand), gaps: gapsIn(byHand) };
}

const VALIDATION: ReadonlySet<RequirementId> = new Set(['RT-ARGS']);

/** Whether the arguments of a call broke the `inputSchema` known at that time (RT-ARGS): they were not validated. */
async function wentUnvalidated(book: Book, key: string): Promise<boolean> {
  const exchange = book.history.exchanges.get(key);
  if (!exchange) return false;
  const { checkTranscript } = await import('../../check/report.js');
  const told = { observer: book.observer, only: VALIDATION, sides: ['runtime'] } as const;
  const { summary } = await checkTranscript(concerning(book.whole, exchange), told);
  return summary.fail > 0 || summary.warn > 0;
}

/** Where calls are, and what must not be copied of them. */
interface Archive {
  readonly library: Library;
  readonly ledger: Ledger;
}

/** Calls as commands for a shell. */
function copiesOf({ library, ledger }: Archive): Pick<Controls, 'asCurl' | 'asCommand'> {
  const foundIn = (key: string, id: number) => {
    const volume = library.volume(id);
    const sent = volume && sentCall(volume, key);
    return sent ? { sent, volume, called: volume.isLive ? ledger.calledAs(key) : null } : null;
  };
  return {
    asCurl(key, id) {
      const found = foundIn(key, id);
      return found && asCurl(found.sent, (found.called?.groupId ?? null) !== null);
    },
    async asCommand(key, id) {
      const found = foundIn(key, id);
      if (!found) return failed('nothing of this call was sent that could be copied');
      const { sent, volume, called } = found;
      return lineOf(sent, called ?? (await calledIn(volume, key, sent)));
    },
  };
}

/** How a call of a transcript was meant, as far as that tells. */
async function calledIn(volume: Volume, key: string, sent: SentCall): Promise<CalledAs> {
  const target = placeIn(volume, sent);
  const validates = target.kind === 'endpoint' || !(await wentUnvalidated(volume.book, key));
  return { target, groupId: null, validates };
}

/** Null also if a secret is part of the line: without it the line would do something else. */
function lineOf({ request, invocation, redactor }: SentCall, called: CalledAs): ShellLine | Said {
  const isSecret = (text: string | null) => text !== null && redactor.text(text) !== text;
  if (isSecret(placeNamed(called.target))) return noLine('a secret is in the name of its server');
  if (isSecret(called.groupId)) return noLine('a secret is in the name of its thread');
  const { arguments: args, user_id, thread_ancestors } = invocation;
  const gaps = gapsIn({
    headers: redactHeaders(request.headers),
    body: { arguments: args, user_id, thread_ancestors },
  });
  const headers = Object.keys(request.headers).filter(name => !isPlainHeader(name));
  const said = asCommand({ ...called, invocation, headers });
  return said.ok ? { text: said.line, gaps } : noLine(said.why);
}

function noLine(why: string): Said {
  return failed(`no line of this program is the same call: ${why}`);
}

function placeNamed(target: CalledAs['target']): string {
  if (target.kind === 'demo' || target.kind === 'mcp') return '';
  return target.kind === 'command' ? target.command : target.url;
}

/** Where a call of a transcript went: the server whose toolset named that endpoint, else the endpoint alone. */
function placeIn({ book }: Volume, { url }: SentCall): Target {
  const loaded = book.history.toolsets.findLast(({ endpoint }) => endpoint === url);
  return loaded?.base ? { kind: 'url', url: loaded.base } : { kind: 'endpoint', url };
}

/** Who does what a person wants. */
interface Staff {
  readonly ward: Ward;
  readonly shelf: Shelf;
  readonly caller: Caller;
  readonly library: Library;
  readonly terminal: Whereabouts & { readonly stdout: Pick<NodeJS.WritableStream, 'write'> };
  readonly onQuit: () => void;
}

/** Actions of the user. */
function controlsOf({ shelf, caller, ward, library, terminal, onQuit }: Staff): Controls {
  return {
    open: text => opened(text, target => shelf.add(target, { isConfigured: false, hasKeys: false })),
    wake: id => shelf.wake(id),
    dismiss: id => shelf.dismiss(id),
    needsConsent: (server, operation) => caller.needsConsent(server, operation),
    check: draft => caller.check(draft),
    run: (draft, options) => caller.run(draft, options),
    decline: draft => saying(() => caller.decline(draft)),
    answer: (key, leg, selected) => answer(ward, key, leg, selected),
    cancel: key => saying(() => cancel(ward, key)),
    visit,
    ...copiesOf({ library, ledger: ward.ledger }),
    copy: text => copyTo(terminal.stdout, text),
    saveFixture: (key, volume, path) => saying(() => library.saveFixture(key, volume, path)),
    saveTranscript: path => saying(() => library.saveTranscript(path)),
    openTranscript: path => saying(() => library.open(path)),
    freeName: name => freeName(name, terminal.cwd),
    paths: typed => pathsFrom(typed, terminal),
    quit: onQuit,
  };
}

/** What a person types: `demo`, a URL, `:port`. */
function opened(text: string, add: (target: ServerTarget) => string): ReturnType<Controls['open']> {
  const word = text.trim();
  try {
    const url = word === 'demo' ? null : asUrl(word);
    if (url === null && word !== 'demo')
      return failed('this is no URL: a server is http://host:port, :port, or demo');
    return { server: add(url === null ? { kind: 'demo' } : { kind: 'url', url }) };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

async function visit(url: string): Promise<Said> {
  const opening = await openUrl(url);
  if (opening.ok) return done('opened in the browser');
  return failed(`it could not be opened (${opening.reason}): visit it yourself`);
}

interface EngineOptions {
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
