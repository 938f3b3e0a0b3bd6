import type { Dirent } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, join, parse } from 'node:path';
import { Readable } from 'node:stream';
import { CallLog } from '../../events/call-log.js';
import { wireSecrets } from '../../events/shareable.js';
import { transcriptWriter } from '../../events/transcript-writer.js';
import { pluralize } from '../../render/line.js';
import type { ActionResult } from '../../tui/screen/effects.js';
import { fixtureName, type Source, TRANSCRIPT_NAME } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { visibleLine } from '../../util/visible.js';
import { readSource } from '../read-source.js';
import type { Run } from '../run.js';
import { done, failed } from './calls.js';
import { dividedPath, fullPath } from './typed-path.js';

/** Limits: how many names of a folder are read, and how many numbered names are tried. */
const MAX = { names: 10_000, numbers: 1_000 };

/** This session, the opened transcripts, and the files saved from them. */
export class Transcripts {
  /** By path; this session has none. */
  readonly #opened = new Map<string | null, Source>();
  #nextId = 1;
  #saved = 0;

  constructor(
    private readonly own: CallLog,
    private readonly run: Run,
    private readonly onChange: () => void,
  ) {
    const { redactor } = run;
    this.#opened.set(null, { id: 0, name: 'this session', callLog: own, isLive: true, redactor });
  }

  get sources(): readonly Source[] {
    return [...this.#opened.values()];
  }

  source(id: number): Source | undefined {
    return this.sources.find(each => each.id === id);
  }

  /** Number of calls of this session that are in no transcript. */
  get unsaved(): number {
    return this.own.keys.length - this.#saved;
  }

  /** A file that is opened again keeps its id and moves to the end. @throws ProtocolCliError `unreadable-file` */
  async open(name: string): Promise<ActionResult> {
    const { readRecording } = await import('../../events/transcript-reader.js');
    const path = this.#pathOf(name);
    const bytes = await readSource(path, Readable.from([]), LIMITS.fileBytes.value);
    const transcript = readRecording(basename(path), bytes);
    if (transcript === null) return failed(`${name} is not a transcript`);
    // Secrets of files are not added to the session: they would be redacted in what it saves.
    const redactor = wireSecrets(this.run.credentials);
    for (const event of transcript.events) redactor.learn(event);
    const callLog = CallLog.of(transcript);
    const id = this.#opened.get(path)?.id ?? this.#nextId++;
    this.#opened.delete(path);
    this.#opened.set(path, { id, name: basename(name), callLog, isLive: false, redactor });
    this.onChange();
    const unread = transcript.faults.length;
    const broken = unread > 0 ? `, ${pluralize(unread, 'line')} could not be read` : '';
    return { text: `opened ${name}: ${pluralize(callLog.keys.length, 'call')}${broken}`, isBad: unread > 0 };
  }

  /**
   * Writes all events without secrets to a file that only its owner may read; never replaces a file (threats, rows 25 to 27).
   * @throws ProtocolCliError `usage`, `unwritable-file`
   */
  async saveTranscript(typed: string): Promise<ActionResult> {
    const { createPrivateFile, isEmptyFile } = await import('../../system/atomic-file.js');
    const { path, name } = await this.#newFile(typed, TRANSCRIPT_NAME);
    const { redactor, about } = this.run;
    const events = [...this.own.events];
    const { length: calls } = this.own.keys;
    const file = await createPrivateFile(path, { replaces: isEmptyFile });
    const writer = transcriptWriter(redactor);
    try {
      await file.write(writer.header(about));
      for (const event of events) for (const line of writer.event(event)) await file.write(line);
      await file.write(writer.end('saved'));
      await file.commit();
    } catch (error) {
      await file.discard();
      throw error;
    }
    this.#saved = calls;
    return done(`wrote ${name}: ${pluralize(events.length, 'event')}`);
  }

  /**
   * Writes a call as a fixture file, with its operation as the toolset; never replaces a file.
   * @throws ProtocolCliError `usage`, `unwritable-file`
   */
  async saveFixture(key: string, source: number, typed: string): Promise<ActionResult> {
    const { callLog, redactor } = this.source(source) ?? {};
    const exchange = callLog?.history.exchanges.get(key);
    if (!callLog || !redactor || !exchange) return failed('there is no such call');
    if (!exchange.settled) return failed('the call has no result');
    const { operation } = exchange.invocation;
    const { path, name } = await this.#newFile(typed, fixtureName(operation));
    const { readTranscript } = await import('../../events/transcript-reader.js');
    const { fixturesOfTranscript } = await import('../../fixtures/recording/from-transcript.js');
    const { yamlOf } = await import('../../fixtures/yaml.js');
    const { isEmptyFile, writePublicFile } = await import('../../system/atomic-file.js');
    const writer = transcriptWriter(redactor);
    const lines = callLog.concerning(exchange).flatMap(event => writer.event(event));
    const { file, warnings } = await fixturesOfTranscript(readTranscript(lines));
    const lacks = warnings.map(visibleLine);
    if (file.fixtures.length === 0)
      return failed(lacks[0] ?? 'the call has no result that a mock could serve');
    const toolset = { ...file.toolset, tools: file.toolset.tools.filter(tool => tool.name === operation) };
    const text = yamlOf({ ...file, toolset }, [...lacks, 'Serve it: protocol-cli mock-tool <this file>']);
    await writePublicFile(path, text, { replaces: isEmptyFile });
    const losses = lacks.length > 0 ? '; omissions are listed at the top of the file' : '';
    return done(`wrote ${name}${losses}; serve it: protocol-cli mock-tool ${name}`);
  }

  /** Returns the first of `run.ndjson`, `run-2.ndjson` … that does not exist in a folder. Never rejects. */
  async freeName(name: string, folder = this.run.terminal.cwd): Promise<string> {
    const { name: stem, ext } = parse(name);
    for (let nth = 1; nth <= MAX.numbers; nth++) {
      const candidate = nth === 1 ? name : `${stem}-${nth}${ext}`;
      const found = await lstat(join(folder, candidate)).catch(() => null); // writing reports other errors
      if (!found) return candidate;
    }
    return name;
  }

  /** Returns the sorted paths that begin with a text: folders end in a slash; hidden names need a dot. Never rejects. */
  async paths(typed: string): Promise<readonly string[]> {
    if (typed === '~') return ['~/'];
    const { folder, name: start } = dividedPath(typed, process.platform);
    const entries = await readdir(this.#pathOf(folder), { withFileTypes: true }).catch(() => []);
    const matching = entries
      .slice(0, MAX.names)
      .filter(({ name }) => name.startsWith(start) && name.startsWith('.') === start.startsWith('.'))
      .filter(({ name }) => !/\p{Cc}/u.test(name));
    const names = await Promise.all(
      matching.map(async entry => `${folder}${entry.name}${(await isFolder(entry)) ? '/' : ''}`),
    );
    return names.sort();
  }

  #pathOf(typed: string): string {
    return fullPath(typed, this.run.terminal, process.platform);
  }

  /** Returns the file to write; in a folder, a new file. @throws ProtocolCliError `usage` without the folder */
  async #newFile(typed: string, offered: string): Promise<{ readonly path: string; readonly name: string }> {
    const isFolderName = typed !== '' && dividedPath(typed, process.platform).name === '';
    const folder = isFolderName ? this.#pathOf(typed) : null;
    if (folder !== null && !(await stat(folder).catch(() => null))?.isDirectory())
      throw new ProtocolCliError('usage', `no folder ${typed}`);
    const name = folder === null ? typed : `${typed}${await this.freeName(offered, folder)}`;
    return { path: this.#pathOf(name), name };
  }
}

async function isFolder(entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const target = await stat(join(entry.parentPath, entry.name)).catch(() => null);
  return target?.isDirectory() ?? false;
}
