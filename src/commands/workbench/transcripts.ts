import type { Dirent } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import { type CallLog, savedCallLog } from '../../events/call-log.js';
import type { EventRedactor } from '../../events/shareable.js';
import type { TranscriptAbout } from '../../events/transcript-writer.js';
import { fixtureName, type Said, TRANSCRIPT_NAME, type Volume } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { Redactor } from '../../util/redact.js';
import { refuseToReplace } from '../save-files.js';
import { done, failed } from './calls.js';

/** Names of a folder that are looked at, and numbered names that are tried. */
const MOST = { names: 10_000, numbers: 1_000 };

interface TranscriptsOptions {
  readonly cwd: string;
  readonly home: string;
  /** Of this session; it learns nothing from files, or their secrets would be redacted in what the session saves. */
  readonly redactor: Redactor;
  /** Of the files that are opened. */
  readonly fileRedactor: () => EventRedactor;
  readonly about: TranscriptAbout;
  readonly onChange: () => void;
}

interface Opened {
  /** Of the file; null for this session. */
  readonly path: string | null;
  readonly volume: Volume;
}

/** This session and the transcripts that were opened, and the files that are written of them. */
export class Transcripts {
  readonly #own: CallLog;
  readonly #options: TranscriptsOptions;
  #opened: readonly Opened[];
  #nextId = 1;
  /** Calls of this session that were saved. */
  #saved = 0;

  constructor(own: CallLog, options: TranscriptsOptions) {
    const { redactor } = options;
    this.#own = own;
    this.#options = options;
    const volume = { id: 0, name: 'this session', book: own, isLive: true, redactor };
    this.#opened = [{ path: null, volume }];
  }

  get volumes(): readonly Volume[] {
    return this.#opened.map(({ volume }) => volume);
  }

  volume(id: number): Volume | undefined {
    return this.volumes.find(each => each.id === id);
  }

  /** Calls of this session that are in no transcript. */
  get unsaved(): number {
    return this.#own.keys.length - this.#saved;
  }

  /** A file that is opened again keeps its id and goes to the end. @throws ProtocolCliError `unreadable-file` */
  async open(name: string): Promise<Said> {
    const { readTranscriptFile } = await import('./files.js');
    const path = this.#pathOf(name);
    const transcript = await readTranscriptFile(path);
    if (transcript === null) return failed(`${name} is not a transcript`);
    const redactor = this.#options.fileRedactor();
    for (const event of transcript.events) redactor.learn(event);
    const book = savedCallLog(transcript);
    const id = this.#opened.find(each => each.path === path)?.volume.id ?? this.#nextId++;
    const volume = { id, name: basename(name), book, isLive: false, redactor };
    this.#opened = [...this.#opened.filter(each => each.path !== path), { path, volume }];
    this.#options.onChange();
    const unread = transcript.faults.length;
    const broken = unread > 0 ? `, ${counted(unread, 'line')} could not be read` : '';
    return { text: `opened ${name}: ${counted(book.keys.length, 'call')}${broken}`, isBad: unread > 0 };
  }

  /** @throws ProtocolCliError `usage`, `unwritable-file` */
  async saveTranscript(typed: string): Promise<Said> {
    const { path, name } = await this.#newFile(typed, TRANSCRIPT_NAME);
    const { redactor, about } = this.#options;
    const events = [...this.#own.events];
    const { length: calls } = this.#own.keys;
    const { writeTranscript } = await import('./files.js');
    await writeTranscript(path, events, redactor, about);
    this.#saved = calls;
    return done(`wrote ${name}: ${counted(events.length, 'event')}`);
  }

  /** @throws ProtocolCliError `usage`, `unwritable-file` */
  async saveFixture(key: string, volume: number, typed: string): Promise<Said> {
    const { book, redactor } = this.volume(volume) ?? {};
    const exchange = book?.history.exchanges.get(key);
    if (!book || !redactor || !exchange) return failed('there is no such call');
    if (!exchange.settled) return failed('the call has no result yet that a mock could serve');
    const { path, name } = await this.#newFile(typed, fixtureName(exchange.invocation.operation));
    const { writeFixture } = await import('./files.js');
    const { count, warnings } = await writeFixture(path, book, key, redactor);
    if (count === 0) return failed(warnings[0] ?? 'the call has no result that a mock could serve');
    const losses = warnings.length > 0 ? '; what it lacks is listed at its top' : '';
    return done(`wrote ${name}${losses}; serve it: protocol-cli mock-tool ${name}`);
  }

  /** The first of `run.ndjson`, `run-2.ndjson` … that does not exist in a folder. Never rejects. */
  async freeName(name: string, folder = this.#options.cwd): Promise<string> {
    const { name: stem, ext } = parse(name);
    for (let nth = 1; nth <= MOST.numbers; nth++) {
      const candidate = nth === 1 ? name : `${stem}-${nth}${ext}`;
      const exists = await lstat(join(folder, candidate)).then(
        () => true,
        () => false, // writing reports other errors
      );
      if (!exists) return candidate;
    }
    return name;
  }

  /** The paths that begin with a text, sorted: folders end in a slash; hidden names only where the dot is typed. Never rejects. */
  async paths(typed: string): Promise<readonly string[]> {
    if (typed === '~') return ['~/'];
    const slash = typed.lastIndexOf('/') + 1;
    const [folder, start] = [typed.slice(0, slash), typed.slice(slash)];
    const entries = await readdir(this.#pathOf(folder), { withFileTypes: true }).catch(() => []);
    const matching = entries
      .slice(0, MOST.names)
      .filter(({ name }) => name.startsWith(start) && name.startsWith('.') === start.startsWith('.'))
      .filter(({ name }) => !/\p{Cc}/u.test(name));
    const names = await Promise.all(
      matching.map(async entry => `${entry.name}${(await isFolder(entry)) ? '/' : ''}`),
    );
    return names.map(name => `${folder}${name}`).sort();
  }

  /** As in a shell, `~` before a slash is the home folder. */
  #pathOf(typed: string): string {
    const { cwd, home } = this.#options;
    return resolve(cwd, /^~(?:\/|$)/.test(typed) ? `${home}${typed.slice(1)}` : typed);
  }

  /** The file to write; where a folder was typed, a new file in it. @throws ProtocolCliError `usage` where the file exists */
  async #newFile(typed: string, offered: string): Promise<{ readonly path: string; readonly name: string }> {
    const name = typed.endsWith('/') ? await this.#newFileIn(typed, offered) : typed;
    const path = this.#pathOf(name);
    await refuseToReplace(path, 'this');
    return { path, name };
  }

  async #newFileIn(typed: string, offered: string): Promise<string> {
    const folder = this.#pathOf(typed);
    const there = await stat(folder).catch(() => null);
    if (!there?.isDirectory()) throw new ProtocolCliError('usage', `no folder ${typed}`);
    return `${typed}${await this.freeName(offered, folder)}`;
  }
}

async function isFolder(entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const target = await stat(join(entry.parentPath, entry.name)).catch(() => null);
  return target?.isDirectory() ?? false;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
