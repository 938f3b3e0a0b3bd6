import type { Dirent } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import { type Book, savedBook } from '../../events/call-log.js';
import type { EventRedactor } from '../../events/shareable.js';
import type { TranscriptAbout } from '../../events/transcript-writer.js';
import { fixtureName, type Said, TRANSCRIPT_NAME, type Volume } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { Redactor } from '../../util/redact.js';
import { refuseToReplace } from '../save-files.js';
import { done, failed } from './calls.js';

/** Where a path that is typed begins. */
export interface Whereabouts {
  readonly cwd: string;
  readonly home: string;
}

/** Names of a folder that are looked at. */
const PATHS_MOST = 10_000;

/** The path that is meant: `~` before a slash is the home folder, as in a shell. */
export function pathOf(typed: string, { cwd, home }: Whereabouts): string {
  return resolve(cwd, /^~(?:\/|$)/.test(typed) ? `${home}${typed.slice(1)}` : typed);
}

/**
 * What a path that begins so may be, in order: folders end in a slash, and a hidden name is meant only where its dot is typed.
 * None where nothing can be read.
 */
export async function pathsFrom(typed: string, where: Whereabouts): Promise<readonly string[]> {
  if (typed === '~') return ['~/'];
  const slash = typed.lastIndexOf('/') + 1;
  const folder = typed.slice(0, slash);
  const start = typed.slice(slash);
  const entries = await readdir(pathOf(folder, where), { withFileTypes: true }).catch(() => []);
  const meant = entries.slice(0, PATHS_MOST).filter(({ name }) => isMeant(name, start));
  const names = await Promise.all(meant.map(pathsNameIn));
  return names.map(name => `${folder}${name}`).sort();
}

/** Control characters are not part of a path. */
function isMeant(name: string, start: string): boolean {
  return name.startsWith(start) && name.startsWith('.') === start.startsWith('.') && !/\p{Cc}/u.test(name);
}

async function pathsNameIn(entry: Dirent): Promise<string> {
  const isFolder = entry.isSymbolicLink() ? await leadsToFolder(entry) : entry.isDirectory();
  return isFolder ? `${entry.name}/` : entry.name;
}

async function leadsToFolder({ parentPath, name }: Dirent): Promise<boolean> {
  const there = await stat(join(parentPath, name)).catch(() => null);
  return there?.isDirectory() ?? false;
}

/** Names that are tried. */
const MOST = 1_000;

/** A file that is to be written. */
interface NewFile {
  readonly path: string;
  /** As a person names it. */
  readonly name: string;
}

/**
 * The file that is meant. What ends in a slash is a folder: in it the file has the first free name like the one that is offered.
 * @throws ProtocolCliError `usage` where a file is there, or the folder is not.
 */
async function newFile(typed: string, offered: string, where: Whereabouts): Promise<NewFile> {
  const name = typed.endsWith('/') ? await nameIn(typed, offered, where) : typed;
  const path = pathOf(name, where);
  await refuseToReplace(path, 'this');
  return { path, name };
}

async function nameIn(typed: string, offered: string, where: Whereabouts): Promise<string> {
  const folder = pathOf(typed, where);
  const there = await stat(folder).catch(() => null);
  if (!there?.isDirectory()) throw new ProtocolCliError('usage', `no folder ${typed}`);
  return `${typed}${await freeName(offered, folder)}`;
}

/** The first of `run.ndjson`, `run-2.ndjson` … that nothing in the folder has. Never rejects. */
export async function freeName(name: string, folder: string): Promise<string> {
  const { name: stem, ext } = parse(name);
  for (let nth = 1; nth <= MOST; nth++) {
    const candidate = nth === 1 ? name : `${stem}-${nth}${ext}`;
    const isFree = await lstat(join(folder, candidate)).then(
      () => false,
      () => true, // writing reports other errors
    );
    if (isFree) return candidate;
  }
  return name;
}

/** Where files are, and what is said in them. */
interface Study extends Whereabouts {
  /** Of this session; it learns nothing from files, or they would censor what it saves. */
  readonly redactor: Redactor;
  /** Null for a file: its secrets are unknown. */
  readonly foreign: () => EventRedactor;
  readonly about: TranscriptAbout;
  readonly onChange: () => void;
}

interface Shown {
  /** Of the file; null of this session. */
  readonly path: string | null;
  readonly volume: Volume;
}

/** What can be looked at: this session, and transcripts that were opened; and what becomes a file of it. */
export class Library {
  readonly #own: Book;
  #shown: readonly Shown[];
  /** What the next volume is called. */
  #next = 1;
  /** Calls of this session that are in a file. */
  #saved = 0;

  constructor(
    own: Book,
    private readonly study: Study,
  ) {
    this.#own = own;
    this.#shown = [
      {
        path: null,
        volume: { id: 0, name: 'this session', book: own, isLive: true, redactor: study.redactor },
      },
    ];
  }

  get volumes(): readonly Volume[] {
    return this.#shown.map(({ volume }) => volume);
  }

  volume(id: number): Volume | undefined {
    return this.volumes.find(each => each.id === id);
  }

  /** Calls of this session that are in no transcript. */
  get unsaved(): number {
    return this.#own.keys.length - this.#saved;
  }

  /** What is opened again takes the place of what it was before, at the end. @throws ProtocolCliError `unreadable-file`. */
  async open(name: string): Promise<Said> {
    const { readTranscriptFile } = await import('./transcript-file.js');
    const path = pathOf(name, this.study);
    const transcripts = await readTranscriptFile(path);
    if (transcripts === null) return failed(`${name} is no transcript`);
    const redactor = this.study.foreign();
    for (const { events } of transcripts) for (const event of events) redactor.learn(event);
    const books = transcripts.map(savedBook);
    const titled = (index: number) =>
      books.length === 1 ? basename(name) : `${basename(name)} (${index + 1} of ${books.length})`;
    const before = this.#shown.filter(each => each.path === path);
    const idOf = (index: number) => before[index]?.volume.id ?? this.#next++;
    const volumes = books.map((book, index) => ({
      id: idOf(index),
      name: titled(index),
      book,
      isLive: false,
      redactor,
    }));
    const others = this.#shown.filter(each => each.path !== path);
    this.#shown = [...others, ...volumes.map(volume => ({ path, volume }))];
    this.study.onChange();
    const calls = books.reduce((sum, { keys }) => sum + keys.length, 0);
    const unread = transcripts.reduce((sum, { faults }) => sum + faults.length, 0);
    const broken = unread > 0 ? `, ${counted(unread, 'line')} could not be read` : '';
    return { text: `opened ${name}: ${counted(calls, 'call')}${broken}`, isBad: unread > 0 };
  }

  /** @throws ProtocolCliError as {@link newFile}; `unwritable-file`. */
  async saveTranscript(typed: string): Promise<Said> {
    const { path, name } = await newFile(typed, TRANSCRIPT_NAME, this.study);
    const { redactor, about } = this.study;
    const events = [...this.#own.events];
    const { length: calls } = this.#own.keys;
    const { writeTranscript } = await import('./transcript-file.js');
    await writeTranscript(path, events, redactor, about);
    this.#saved = calls;
    return done(`wrote ${name}: ${counted(events.length, 'event')}`);
  }

  /** @throws ProtocolCliError as {@link newFile}; `unwritable-file`. */
  async saveFixture(key: string, volume: number, typed: string): Promise<Said> {
    const { book, redactor } = this.volume(volume) ?? {};
    const exchange = book?.history.exchanges.get(key);
    if (!book || !redactor || !exchange) return failed('there is no such call');
    if (!exchange.settled) return failed('nothing has come of it yet that a mock could serve');
    const { path, name } = await newFile(typed, fixtureName(exchange.invocation.operation), this.study);
    const { writeFixture } = await import('./fixture-file.js');
    const { count, warnings } = await writeFixture(path, book, key, redactor);
    if (count === 0) return failed(warnings[0] ?? 'nothing came of it that a mock could serve');
    const lost = warnings.length > 0 ? ', which says at its top what it lacks' : '';
    return done(`wrote ${name}${lost}; serve it: protocol-cli mock-tool ${name}`);
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
