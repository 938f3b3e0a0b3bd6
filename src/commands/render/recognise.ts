import type { DialectName } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { parsePatch } from '../../display/diff.js';
import type { Diff } from '../../display/diff-model.js';
import { type McpAnswer, readMcpAnswer } from '../../events/mcp-answer.js';
import { isTranscript, readTranscripts, withoutReadyLines } from '../../events/transcript-reader.js';
import { type Invocation, readInvocation } from '../../protocol/read-invocation.js';
import { readToolset } from '../../protocol/read-toolset.js';
import type { Warning } from '../../protocol/requirements.js';
import { type Line, quote, say } from '../../render/line.js';
import { panesOfMcp } from '../../render/panes.js';
import {
  invocationLines,
  invocationSecrets,
  outcomeLines,
  problemLines,
} from '../../render/saved-answers.js';
import { toolsetLines } from '../../render/toolset.js';
import { ProtocolCliError } from '../../util/errors.js';
import { decodeUtf8, parseJson } from '../../util/json.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { readJsonOnce } from '../../util/json-once.js';
import { jsonParts } from '../../util/json-text.js';
import { redactJson } from '../../util/redact-json.js';
import { byteLines } from '../../util/strings.js';
import { jsonTrouble } from '../target.js';
import {
  batchKind,
  callbackKind,
  changesKind,
  noted,
  savedAnswer,
  sessionReportKind,
  settledCallKind,
} from './answers.js';
import {
  type Kind,
  linesSection,
  type Recognition,
  repeatsKind,
  reportKind,
  type Saved,
  type SavedAnswer,
  type Section,
  type SoundJson,
  savedTranscript,
  type View,
} from './transcripts.js';

/** With its article, for a person. */
const DIFF_NAME = 'a unified diff';

/** Where the first file of a diff begins; what stands before, as the message of `git show`, is prose. */
const START = /^(?:diff --git |Index: |--- .*\n\+\+\+ |@@ -\d)/m;

/** What `color.ui = always` puts into a diff, the escape character before it included. */
const COLOURS = /\p{Cc}\[[\d;]*[mK]/gu;

/** The text, where it has something of a diff; without its colours, where it is one only without them. Null for any other. */
function diffIn(text: string): string | null {
  const isDiff = (each: string) => START.test(each);
  if (isDiff(text)) return text;
  const plain = text.replace(COLOURS, '');
  return isDiff(plain) ? plain : null;
}

/** A bare unified diff, as `git diff` and `git show` print it. */
function readDiff(text: string): Recognition {
  const start = text.search(START);
  const parsed = parsePatch(text.slice(start));
  if (!parsed.ok) return { ok: false, faults: [moved(parsed.reason, text.slice(0, start))] };
  const { diff, recounted } = parsed;
  const warnings = recounted.map(message => ({ id: 'TOOL-DIFF', message }) as const);
  return { ok: true, saved: savedDiff(text.slice(0, start), { text: text.slice(start), diff, warnings }) };
}

interface Parsed {
  readonly text: string;
  readonly diff: Diff;
  readonly warnings: readonly Warning[];
}

function savedDiff(prose: string, { text, diff, warnings }: Parsed): Saved {
  const said = prose.trim() === '' ? [] : prose.trim().split('\n');
  return {
    sections: () => [
      linesSection(said.map((line): Line => quote(line))),
      { kind: 'drawing', drawing: { kind: 'diff', path: '', diff, raw: text } },
      linesSection(problemLines(warnings)),
    ],
    report: () => ({ kind: 'diff', ...summary(diff), warnings }),
    faults: [],
  };
}

function summary({ files, added, removed }: Diff): object {
  return {
    files: files.map(({ hunks, oldPath, newPath, kind, added: plus, removed: minus }) => ({
      oldPath,
      newPath,
      kind,
      hunks: hunks.length,
      added: plus,
      removed: minus,
    })),
    added,
    removed,
  };
}

/** The line that a reason names, counted from the start of the file. */
function moved(reason: string, before: string): string {
  const lines = before.split('\n').length - 1;
  return reason.replace(/^line (\d+)/, (_, number: string) => `line ${Number(number) + lines}`);
}

/** What a runtime POSTs to a tool's endpoint. */
const invocationKind: Kind = {
  name: 'an invocation',
  dialect: 'rap',
  keys: [
    'operation',
    'arguments',
    'id',
    'call_id',
    'callback_url',
    'group_id',
    'thread_ancestors',
    'user_id',
  ],
  isMeant: value => 'operation' in value,
  async read(json) {
    const reading = readInvocation(json);
    if (!reading.ok) return reading;
    return { ok: true, saved: savedInvocation(reading.invocation, reading.notes) };
  },
};

function savedInvocation(invocation: Invocation, notes: readonly string[]): Saved {
  const warnings = notes.map(message => ({ message }));
  return {
    sections: ({ isPrivate }) => [
      linesSection(invocationLines(invocation, isPrivate)),
      linesSection(problemLines(warnings)),
    ],
    report: () => {
      const shareable = redactJson(JSON.stringify(invocation), invocationSecrets(invocation));
      return { kind: 'invocation', invocation: JSON.parse(shareable), warnings };
    },
    faults: [],
  };
}

/** What `tools/call` gives on an MCP wire. */
const mcpKind: Kind = {
  name: 'a CallToolResult of MCP',
  dialect: 'mcp',
  keys: ['content', 'isError', 'structuredContent', '_meta'],
  isMeant: ({ content, isError, structuredContent }) =>
    Array.isArray(content) || isError !== undefined || structuredContent !== undefined,
  async read({ value, notes }) {
    const reading = readAs('mcp', value);
    if (!reading.ok) return reading;
    const { human, llm } = panesOfMcp({ ...reading, reading, outcome: reading.answer.outcome });
    const panes = { kind: 'panes', human, llm } as const;
    return { ok: true, saved: savedAnswer('CallToolResult', noted(reading, notes), panes) };
  },
};

/** A part of a JSON value, seen from the whole: its answers stand below that place. */
function movedInto(place: readonly PropertyKey[], saved: Saved): Saved {
  return withAnswers(saved, ({ at, ...answer }) => (at ? { ...answer, at: [...place, ...at] } : answer));
}

/** The same, whose answers are something else. */
function withAnswers(saved: Saved, change: (answer: SavedAnswer) => SavedAnswer): Saved {
  return {
    sections: view => saved.sections(view),
    report: view => saved.report(view),
    answers: to => (saved.answers?.(to) ?? []).map(change),
    faults: saved.faults,
  };
}

/** The response to `tools/call` as it is on the wire: a CallToolResult, or an error, in the envelope of JSON-RPC. */
const jsonRpcKind: Kind = {
  name: 'a response of JSON-RPC to tools/call',
  dialect: 'mcp',
  keys: ['jsonrpc', 'id', 'result', 'error'],
  isMeant: value => 'jsonrpc' in value && ('result' in value || 'error' in value),
  async read({ value, notes }) {
    const { result, error } = isRecord(value) ? value : {};
    if (error !== undefined) return readError(error);
    const reading = await mcpKind.read({ ok: true, value: result, notes });
    if (reading.ok) return { ok: true, saved: movedInto(['result'], reading.saved) };
    return { ok: false, faults: reading.faults.map(fault => fault.replace(/^\$/, '$.result')) };
  },
};

function readError(error: unknown): ReturnType<Kind['read']> {
  const answer = readMcpAnswer({ ok: true, value: { error }, notes: [] });
  const faults = ['$.error: must have a code, which is a number, and a message'];
  return Promise.resolve(
    answer.outcome.basis === 'declared' ? { ok: true, saved: savedError(answer) } : { ok: false, faults },
  );
}

/** No answer of a tool; but what the model gets is one. */
function savedError(answer: McpAnswer): Saved {
  const { native, outcome, text, notes } = answer;
  const { human, llm } = panesOfMcp(answer);
  const warnings = notes.map(message => ({ message }));
  return {
    sections: () => [
      linesSection([[say('response of JSON-RPC', 'title')], ...outcomeLines(outcome)]),
      { kind: 'panes', human, llm },
      linesSection(problemLines(warnings)),
    ],
    report: () => ({ kind: 'JSON-RPC error', message: native, outcome, llm: { text }, warnings }),
    answers: () => [{ answer: { call: { id: null }, outcome } }],
    faults: [],
  };
}

/** What LM-Kit knows of a call that ended. */
const lmkitKind: Kind = {
  name: 'a ToolCallResult of LM-Kit',
  dialect: 'lmkit',
  keys: ['Type', 'ResultJson', 'ToolCallId', 'ToolName'],
  isMeant: value => 'ResultJson' in value,
  async read({ value, notes }) {
    const reading = readAs('lmkit', value);
    return reading.ok ? { ok: true, saved: savedAnswer('ToolCallResult', noted(reading, notes)) } : reading;
  },
};

/** What discovery gives. */
const toolsetKind: Kind = {
  name: 'a toolset',
  dialect: 'rap',
  keys: ['name', 'description', 'endpoint', 'tools', 'needsMigration'],
  isMeant: ({ tools }) => Array.isArray(tools),
  async read(json) {
    const reading = await readToolset(json);
    if (!reading.ok) return reading;
    const { toolset } = reading;
    const warnings = reading.notes.map(message => ({ message }));
    const sections = () => [linesSection(toolsetLines(toolset)), linesSection(problemLines(warnings))];
    return {
      ok: true,
      saved: { sections, report: () => ({ kind: 'toolset', toolset, warnings }), faults: [] },
    };
  },
};

/** Every kind of JSON object that is known here. A new one is a file beside this one and its line in this list. */
const KINDS: readonly Kind[] = [
  callbackKind,
  reportKind,
  sessionReportKind,
  repeatsKind,
  invocationKind,
  toolsetKind,
  settledCallKind,
  batchKind,
  changesKind,
  lmkitKind,
  mcpKind,
  jsonRpcKind,
];

/** Several things in one file, one after the other. @param notes what is odd about the file @param noun what each of them is */
function savedSeveral(all: readonly Saved[], notes: readonly string[], noun = 'message'): Saved {
  const warnings = notes.map(message => ({ message }));
  return {
    sections: view => [
      ...all.flatMap((each, index) =>
        numbered(each, `${noun.toUpperCase()} ${index + 1} of ${all.length}`, view),
      ),
      linesSection(problemLines(warnings)),
    ],
    report: view => ({ kind: `${noun}s`, [`${noun}s`]: all.map(each => each.report(view)), warnings }),
    answers: to => all.flatMap(each => each.answers?.(to) ?? []),
    faults: all.flatMap(({ faults }) => faults),
    losses: all.flatMap(({ losses = [] }) => losses),
  };
}

function numbered(saved: Saved, title: string, view: View): Section[] {
  return [linesSection([[say(title, 'title')]]), ...saved.sections(view)];
}

/** With its article, for a person. */
const TRANSCRIPT_NAME = 'a transcript (--save, -o ndjson)';

/** What `--save` and `-o ndjson` write. What could be read of a broken one is shown; of several that were joined, each by itself. */
export function recogniseTranscript(lines: Iterable<string>): Recognition {
  const transcripts = readTranscripts(withoutReadyLines(lines));
  const faults = transcripts.flatMap(each => each.faults);
  if (faults.length > 0 && transcripts.every(({ events }) => events.length === 0))
    return { ok: false, faults };
  const all = transcripts.map(savedTranscript);
  const [only] = all;
  return { ok: true, saved: only && all.length === 1 ? only : savedSeveral(all, [], 'transcript') };
}

/** With its article, for a person. */
const SEVERAL_NAME = 'several of these: a list, or a line for each';

/** The kind that an object looks like; null if unknown. */
function kindOf(value: unknown, kinds: readonly Kind[]): Kind | null {
  return isRecord(value) ? (kinds.find(each => each.isMeant(value)) ?? null) : null;
}

/** A list of objects that are known here; null where none of its items is. */
async function recogniseList({ value, notes }: SoundJson, kinds: readonly Kind[]) {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (!items.some(item => kindOf(item, kinds))) return null;
  const all: Part[] = [];
  for (const [index, item] of items.entries()) {
    const recognition = await recogniseItem({ ok: true, value: item, notes: [] }, kinds);
    all.push({ place: `$[${index}]`, recognition, change: saved => movedInto([index], saved) });
  }
  return together(all, notes);
}

/** A line of JSON for each object, as `--as` writes several; null where the first line is none that is known here. */
async function recogniseLines(lines: Iterable<string>, kinds: readonly Kind[]) {
  const all: Part[] = [];
  let number = 0;
  for (const line of lines) {
    number++;
    if (line.trim() === '') continue;
    const json = parseJson(line);
    if (all.length === 0 && !(json.ok && kindOf(json.value, kinds))) return null;
    const recognition = json.ok
      ? await recogniseItem(json, kinds)
      : { ok: false as const, faults: [json.reason] };
    all.push({ place: `line ${number}: `, recognition, change: saved => inLine(line, saved) });
  }
  return all.length === 0 ? null : together(all, []);
}

interface Part {
  /** Before each fault. */
  readonly place: string;
  readonly recognition: Recognition;
  /** As it stands in the whole. */
  change(saved: Saved): Saved;
}

async function recogniseItem(json: SoundJson, kinds: readonly Kind[]): Promise<Recognition> {
  return (
    (await kindOf(json.value, kinds)?.read(json)) ?? {
      ok: false,
      faults: ['$: unrecognized format'],
    }
  );
}

function together(parts: readonly Part[], notes: readonly string[]): Recognition {
  const faults = parts.flatMap(({ place, recognition }) =>
    recognition.ok ? [] : recognition.faults.map(fault => placed(place, fault)),
  );
  if (faults.length > 0) return { ok: false, faults };
  const all = parts.flatMap(({ recognition, change }) => (recognition.ok ? [change(recognition.saved)] : []));
  return { ok: true, saved: savedSeveral(all, notes) };
}

/** Of a list the paths are one with its own. */
function placed(place: string, fault: string): string {
  return place.startsWith('$') ? fault.replace(/^\$/, () => place) : place + fault;
}

/** Reads each line as a separate source. */
function inLine(line: string, saved: Saved): Saved {
  const part = jsonParts(line.trim());
  return withAnswers(saved, ({ at, ...answer }) => {
    const source = at ? part(at) : null;
    return source === null ? answer : { ...answer, source };
  });
}

/** Bytes that are enough to see what a file is. */
const HEAD = 256 * 1024;
/** Errors that are shown; the rest follow when these are fixed. */
const MOST_FAULTS = 8;

/** What to show. */
interface Source {
  /** For messages. */
  readonly name: string;
  /** Used up: they may not be looked at afterwards. */
  readonly bytes: Uint8Array;
  /** Null: whatever it is. */
  readonly dialect: DialectName | null;
}

/**
 * Sees what bytes are, by themselves alone.
 * @throws ProtocolCliError `unreadable-file` with what was looked for and what comes nearest, each fault with its place.
 */
export async function recognise(source: Source): Promise<Saved> {
  const { bytes } = source;
  const head = new TextDecoder().decode(bytes.subarray(0, HEAD));
  if (head.trim() === '' && bytes.length <= HEAD) throw unreadable(source, 'it is empty');
  if (isTranscript(head)) return accept(source, TRANSCRIPT_NAME, recogniseTranscript(byteLines(bytes)));
  return /^\s*[{[]/.test(head) ? recogniseJson(source) : recogniseText(source);
}

async function recogniseJson(source: Source): Promise<Saved> {
  const json = readJsonOnce(source.bytes);
  const kinds = kindsOf(source);
  const several = json.ok
    ? await recogniseList(json, kinds)
    : await recogniseLines(byteLines(source.bytes), kinds);
  if (several) return accept(source, SEVERAL_NAME, several);
  if (!json.ok) throw unreadable(source, 'invalid JSON', [jsonTrouble(source.bytes, json.reason)]);
  const kind = kindOf(json.value, kinds);
  if (kind) return accept(source, kind.name, await kind.read(json));
  throw unreadable(source, UNKNOWN, await nearestOf(json, kinds));
}

function recogniseText(source: Source): Saved {
  const text = decodeUtf8(source.bytes);
  if (text === null) throw unreadable(source, 'it is not valid UTF-8', [], encodingHint(source.bytes));
  const diff = source.dialect === null ? diffIn(text) : null;
  if (diff !== null) return accept(source, DIFF_NAME, readDiff(diff));
  const isPlainDiff = source.dialect === null && PLAIN_DIFF.test(text);
  throw unreadable(source, UNKNOWN, [], isPlainDiff ? 'Use a unified diff: diff -u.' : undefined);
}

/** As `diff` writes without `-u`. */
const PLAIN_DIFF = /^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] /m;

const UNKNOWN = 'unrecognized format';

function accept(source: Source, name: string, recognition: Recognition): Saved {
  if (recognition.ok) return recognition.saved;
  throw new ProtocolCliError(
    'unreadable-file',
    `cannot show ${source.name}: it looks like ${bare(name)} but is not valid`,
    {
      faults: fewOf(recognition.faults),
    },
  );
}

/** A name within a sentence: without its examples. */
function bare(name: string): string {
  return name.replace(/ \(.*\)$|:.*$/, '');
}

/** The kind whose keys the object has most of, and what keeps it from being one. */
async function nearestOf(json: SoundJson, kinds: readonly Kind[]): Promise<string[]> {
  const { value } = json;
  if (!isRecord(value)) return [`$: must be an object${Array.isArray(value) ? ', not a list' : ''}`];
  const shared = ({ keys }: Kind) => keys.filter(key => Object.hasOwn(value, key)).length;
  const nearest = [...kinds].sort((one, other) => shared(other) - shared(one))[0];
  if (!nearest || shared(nearest) === 0) return [];
  const reading = await nearest.read(json);
  return reading.ok ? [] : [`closest match: ${bare(nearest.name)}, but:`, ...fewOf(reading.faults)];
}

function fewOf(faults: readonly string[]): string[] {
  const more = faults.length - MOST_FAULTS;
  return more > 0 ? [...faults.slice(0, MOST_FAULTS), `and ${more} more`] : [...faults];
}

function kindsOf({ dialect }: Source): readonly Kind[] {
  return KINDS.filter(kind => dialect === null || kind.dialect === dialect);
}

function unreadable(source: Source, why: string, faults: readonly string[] = [], hint?: string) {
  const known = [...kindsOf(source).map(({ name }) => name), SEVERAL_NAME, TRANSCRIPT_NAME];
  const all = source.dialect === null ? [...known, DIFF_NAME] : known;
  return new ProtocolCliError('unreadable-file', `cannot show ${source.name}: ${why}`, {
    faults: [...faults],
    hint: hint ?? `Looked for: ${all.join('; ')}.`,
  });
}

/** What a redirection in PowerShell writes. */
function encodingHint([first, second]: Uint8Array): string {
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isUtf16 ? 'It looks like UTF-16: save it as UTF-8.' : 'Is it compressed, or a picture?';
}
