import { basename } from 'node:path';
import type { Book } from '../../exchange/book.js';
import type { EventRedactor } from '../../exchange/callback-secrets.js';
import { savedBook } from '../../exchange/saved-book.js';
import type { TranscriptAbout } from '../../exchange/transcript-writer.js';
import type { Redactor } from '../../text/redact.js';
import type { Said } from '../../ui/workbench/controls.js';
import { fixtureName, TRANSCRIPT_NAME } from '../../ui/workbench/offered.js';
import type { Volume } from '../../ui/workbench/world.js';
import { newFile } from './new-file.js';
import { pathOf, type Whereabouts } from './paths.js';
import { done, failed } from './said.js';

/** Where files are, and what is said in them. */
export interface Study extends Whereabouts {
  /** Of this session; it learns nothing from files, or they would censor what it saves. */
  readonly redactor: Redactor;
  /** For a file: nobody has named the secrets in that. */
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
