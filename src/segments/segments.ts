import * as z from 'zod/mini';
import type { View } from '../events/threads.js';
import { itemText } from '../protocol/outcome.js';
import type { Warning } from '../protocol/requirements.js';
import { validate } from '../protocol/validate.js';
import { patchOf } from '../util/patch-of.js';
import { excerpt, firstWithRest } from '../util/text.js';
import { hiddenIn, visibleLine } from '../util/visible.js';
import { type Diff, parsePatch } from './diff.js';

/** A display segment: any type, content not yet parsed (seed 000, "Display Segments"). */
interface Segment {
  readonly type: string;
  readonly content?: unknown;
}

/** The content that a terminal draws. `raw` is the unchanged patch. */
export type Drawing =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'diff'; readonly path: string; readonly diff: Diff; readonly raw: string };

/** The parsed content of a segment. `complaint`: it is drawn, but with corrections. */
type Reading =
  | { readonly ok: true; readonly drawing: Drawing; readonly complaint?: string }
  | { readonly ok: false; readonly reason: string };

/** @param faults with paths relative to `content` */
function malformed(type: string, ...faults: readonly string[]): Reading {
  return { ok: false, reason: `malformed ${type}: ${faults.join('; ')}` };
}

function readerOf<Schema extends z.ZodMiniType>(
  type: string,
  schema: Schema,
  draw: (content: z.infer<Schema>) => Reading,
) {
  return (content: unknown): Reading => {
    const checked = validate(schema, content);
    return checked.ok ? draw(checked.value) : malformed(type, ...checked.faults);
  };
}

function textReading(text: string): Reading {
  return { ok: true, drawing: { kind: 'text', text } };
}

/** Maximum number of wrong hunk headers named. */
const NAMED = 3;

/** Reads a unified diff (seed 000, "Segment Type: diff"). */
export const readDiff = readerOf(
  'diff',
  z.object({ path: z.string(), patch: z.string() }),
  ({ path, patch }) => {
    const parsed = parsePatch(patch, path);
    if (!parsed.ok) return malformed('diff', parsed.reason);
    const drawing = { kind: 'diff', path, diff: parsed.diff, raw: patch } as const;
    if (parsed.recounted.length === 0) return { ok: true, drawing };
    const list = firstWithRest(parsed.recounted, NAMED).join('; ');
    return { ok: true, drawing, complaint: `wrong line counts (corrected): ${list}` };
  },
);

/** Parses the content of the known segment types. An image gets a placeholder, for emulated clients that draw images. */
const READERS: ReadonlyMap<string, (content: unknown) => Reading> = new Map([
  ['diff', readDiff],
  ['text', readerOf('text', z.string(), textReading)],
  [
    'image',
    readerOf('image', z.object({ data: z.string(), mediaType: z.string() }), image =>
      textReading(itemText({ type: 'image', ...image })),
    ),
  ],
]);

/** The types that a client supports without `--supports`: a terminal draws no images. */
export const knownTypes: ReadonlySet<string> = new Set(['text', 'diff']);

interface Chosen {
  readonly index: number;
  readonly type: string;
  readonly drawing: Drawing;
  /** Why this segment was chosen. */
  readonly reason: string;
}

interface Seen {
  /** The segments before the chosen one. */
  readonly skipped: readonly { readonly index: number; readonly type: string; readonly reason: string }[];
  readonly warnings: readonly Warning[];
}

/** What the human sees. With `chosen: null` it is the `text` of the result; `reason` explains why. */
export type Choice = Seen &
  ({ readonly chosen: Chosen } | { readonly chosen: null; readonly reason: string });

/**
 * Chooses the first segment with a supported type and valid content; only the order decides (RT-DISPLAY).
 * @param supports the segment types that this client claims to draw
 * @param llmText what the LLM gets, for the warning that the segments only repeat it
 */
export function chooseSegment(
  segments: readonly Segment[] | undefined,
  supports: ReadonlySet<string>,
  llmText = '',
): Choice {
  if (!segments?.length) {
    const reason = segments ? 'display_as is empty' : 'no display_as';
    return { chosen: null, reason, skipped: [], warnings: [] };
  }
  const readings = segments.map(({ type, content }) => READERS.get(type)?.(content) ?? unknownType(type));
  const skipped: Seen['skipped'][number][] = [];
  const repetition = isRepetition(segments, llmText) ? [REPETITION] : [];
  const seen = { skipped, warnings: [...warningsAbout(segments, readings), ...repetition] };
  for (const [index, { type }] of segments.entries()) {
    const reading = offered(type, readings[index] ?? unknownType(type), supports);
    const reason = index === 0 ? 'the first segment' : 'the first that can be displayed';
    if (reading.ok) return { chosen: { index, type, drawing: reading.drawing, reason }, ...seen };
    skipped.push({ index, type, reason: reading.reason });
  }
  return { chosen: null, reason: 'no segment of display_as can be shown', ...seen };
}

/** Rejects a segment whose type the client does not support. */
function offered(type: string, reading: Reading, supports: ReadonlySet<string>): Reading {
  if (supports.has(type) || !READERS.has(type)) return reading;
  if (type === 'image') return reading.ok ? { ok: false, reason: 'a terminal cannot show images' } : reading;
  return { ok: false, reason: `not supported by this client (--supports ${[...supports].join(',')})` };
}

function unknownType(type: string): Reading {
  return { ok: false, reason: `the type ${excerpt(type)} is not supported` };
}

/** Warnings about `display_as` for the tool's author, whichever segment is shown. */
function warningsAbout(segments: readonly Segment[], readings: readonly Reading[]): Warning[] {
  const malformed = readings.flatMap((reading, index): Warning[] => {
    const fault = reading.ok ? reading.complaint : reading.reason;
    const { type = '' } = segments[index] ?? {};
    if (!READERS.has(type) || fault === undefined) return [];
    return [{ id: type === 'diff' ? 'TOOL-DIFF' : 'TOOL-POST', message: `display_as[${index}]: ${fault}` }];
  });
  const text = segments.findIndex(({ type }) => type === 'text');
  const diff = segments.findLastIndex(({ type }) => type === 'diff');
  const hidden = `display_as[${text}] is a "text" before the "diff" at [${diff}]; the first segment that can be shown is used, so the diff is never shown`;
  const last = segments.at(-1);
  const fault = last && fallbackFault(last);
  const fallback = `display_as should end with a one-line "text"; its last ${fault}`;
  return [
    ...malformed,
    ...(text >= 0 && diff > text ? [{ message: hidden }] : []),
    ...(fault ? [{ id: 'TOOL-FALLBACK' as const, message: fallback }] : []),
  ];
}

/** Maximum length of a line that is short enough for a person who sees nothing else, in characters. */
const MAX_LINE = 500;

function fallbackFault({ type, content }: Segment): string | undefined {
  if (type !== 'text') return `is ${excerpt(type)}`;
  if (typeof content !== 'string') return undefined;
  const line = content.trim();
  if (line === '') return 'is empty';
  if (line.includes('\n')) return 'has several lines';
  return line.length > MAX_LINE ? `has ${line.length} characters` : undefined;
}

/** Maximum length of a text that is short enough for a person, in characters. */
const MAX_CONCISE = 120;

const REPETITION: Warning = {
  id: 'TOOL-FALLBACK',
  message: 'display_as only repeats the text, which is one short line',
};

/** Whether a person would see the same without `display_as` (seed 000: "If the result text is already concise enough for display"). */
function isRepetition(segments: readonly Segment[], llmText: string): boolean {
  const text = llmText.trim();
  const isConcise = text !== '' && text.length <= MAX_CONCISE && !/[\r\n]/.test(text);
  const repeats = ({ type, content }: Segment) =>
    type === 'text' && typeof content === 'string' && content.trim() === text;
  return isConcise && segments.every(repeats);
}

/** Parses the content of a view (RT-VIEW). The content of a `diff` is `{patch}`, or `{files}` with both contents of each file. */
export function readView({ type, content }: Pick<View, 'type' | 'content'>): Reading {
  if (type !== 'diff') return { ok: false, reason: `unknown view type ${excerpt(type)}, shown as JSON` };
  if (Array.isArray(content['files']) && content['patch'] === undefined) return readFiles(content);
  return readDiff({ path: '', ...content });
}

const changedFile = z.object({
  path: z.string(),
  status: z.nullish(z.string()),
  oldContents: z.nullish(z.string()),
  newContents: z.nullish(z.string()),
});

/** Maximum number of edits in all files: the cost of a diff grows with their square. */
const MAX_EDITS = 2_000;

const NO_CHANGES = { hunks: [], isCrlf: false, added: 0, removed: 0 };

/** Compares the old and new contents of each file. */
const readFiles = readerOf('diff', z.object({ files: z.array(changedFile) }), ({ files: changed }) => {
  const maxEdits = Math.ceil(MAX_EDITS / Math.sqrt(changed.length));
  const files: Diff['files'][number][] = [];
  let raw = '';
  for (const { path, status, oldContents, newContents } of changed) {
    const [hunks = ''] = /@@.*/s.exec(patchOf('', oldContents ?? '', newContents ?? '', maxEdits)) ?? [];
    const parsed = hunks === '' ? null : parsePatch(hunks, path); // the path may contain line feeds
    const name = visibleLine(path);
    if (parsed?.ok === false) return malformed('diff', `${name}: ${parsed.reason}`);
    const [file] = parsed?.diff.files ?? [{ ...NO_CHANGES, hidden: hiddenIn(path) }];
    if (file)
      files.push({
        ...file,
        oldPath: path,
        newPath: path,
        kind: KIND_OF_STATUS.get(status) ?? (file.hunks.length === 0 ? 'unchanged' : 'changed'),
      });
    raw += `${headersOf(name, status)}${hunks}`;
  }
  return { ok: true, drawing: { kind: 'diff', path: '', diff: { files }, raw } };
});

const KIND_OF_STATUS = new Map<unknown, 'created' | 'deleted'>([
  ['added', 'created'],
  ['deleted', 'deleted'],
]);

function headersOf(name: string, status: unknown): string {
  const from = status === 'added' ? '/dev/null' : `a/${name}`;
  const to = status === 'deleted' ? '/dev/null' : `b/${name}`;
  return `--- ${from}\n+++ ${to}\n`;
}
