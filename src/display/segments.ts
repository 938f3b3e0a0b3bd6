import * as z from 'zod/mini';
import type { View } from '../events/history.js';
import { itemText } from '../protocol/outcome.js';
import type { Warning } from '../protocol/requirements.js';
import { validate } from '../protocol/validate.js';
import { excerpt } from '../util/excerpt.js';
import { patchOf } from '../util/patch-of.js';
import { visibleLine } from '../util/visible.js';
import { hiddenIn, parsePatch } from './diff.js';
import type { Diff, DiffFile, FileKind } from './diff-model.js';

/** A display segment as it came: its type is open, its content not yet looked at (seed 000, "Display Segments"). */
interface Segment {
  readonly type: string;
  readonly content?: unknown;
}

/** What a terminal is to draw. `raw` is the patch as it came. */
export type Drawing =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'diff'; readonly path: string; readonly diff: Diff; readonly raw: string };

/** What became of one segment's content. `complaint`: it is drawn, but not as the tool wrote it. */
type Reading =
  | { readonly ok: true; readonly drawing: Drawing; readonly complaint?: string }
  | { readonly ok: false; readonly reason: string };

/** A segment type of the protocol: what its content must be, and how that becomes something to draw. */
interface SegmentKind {
  readonly type: string;
  read(content: unknown): Reading;
}

interface ReadSegment extends Segment {
  readonly reading: Reading;
}

/** What the author of a `display_as` should know, whichever of its segments is shown. */
function lint(segments: readonly ReadSegment[]): Warning[] {
  return [...segments.flatMap(diffFault), ...shadowedDiff(segments), ...missingFallback(segments)];
}

function diffFault({ type, reading }: ReadSegment, index: number): Warning[] {
  const fault = reading.ok ? reading.complaint : reading.reason;
  if (type !== 'diff' || fault === undefined) return [];
  return [{ id: 'TOOL-DIFF', message: `display_as[${index}]: ${fault}` }];
}

function shadowedDiff(segments: readonly Segment[]): Warning[] {
  const text = segments.findIndex(({ type }) => type === 'text');
  const diff = segments.findLastIndex(({ type }) => type === 'diff');
  if (text < 0 || diff < text) return [];
  return [
    {
      message: `display_as[${text}] is a "text" before the "diff" at [${diff}]; the first segment that can be shown is used, so the diff is never shown`,
    },
  ];
}

function missingFallback(segments: readonly Segment[]): Warning[] {
  const last = segments.at(-1);
  const fault = last && fallbackFault(last);
  return fault
    ? [{ id: 'TOOL-FALLBACK', message: `display_as should end with a one-line "text"; its last ${fault}` }]
    : [];
}

function fallbackFault({ type, content }: Segment): string | undefined {
  if (type !== 'text') return `is ${excerpt(type)}`;
  if (typeof content !== 'string') return undefined;
  return content.trimEnd().includes('\n') ? 'has several lines' : undefined;
}

/** Content that is not what its type promises; paths are those inside `content`. */
function malformed(type: string, ...faults: readonly string[]): Reading {
  return { ok: false, reason: `malformed ${type}: ${faults.join('; ')}` };
}

const Content = z.object({ path: z.string(), patch: z.string() });

/** More wrong headers than this are only counted. */
const NAMED = 3;

/** A unified diff (seed 000, "Segment Type: diff"). */
export const diffKind: SegmentKind = {
  type: 'diff',
  read(content) {
    const checked = validate(Content, content);
    if (!checked.ok) return malformed('diff', ...checked.faults);
    const { path, patch } = checked.value;
    const parsed = parsePatch(patch, path);
    if (!parsed.ok) return malformed('diff', parsed.reason);
    const drawing = { kind: 'diff', path, diff: parsed.diff, raw: patch } as const;
    if (parsed.recounted.length === 0) return { ok: true, drawing };
    return { ok: true, drawing, complaint: `wrong line counts (corrected): ${shortList(parsed.recounted)}` };
  },
};

function shortList(items: readonly string[]): string {
  const rest = items.length - NAMED;
  return [...items.slice(0, NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}

const ImageContent = z.object({ data: z.string(), mediaType: z.string() });

/** An image. A terminal shows a placeholder, and only where the client that is emulated draws images. */
const imageKind: SegmentKind = {
  type: 'image',
  read(content) {
    const checked = validate(ImageContent, content);
    if (!checked.ok) return malformed('image', ...checked.faults);
    return { ok: true, drawing: { kind: 'text', text: itemText({ type: 'image', ...checked.value }) } };
  },
};

const TextContent = z.string();

/** Plain text (seed 000, "Segment Type: text"). */
const textKind: SegmentKind = {
  type: 'text',
  read(content) {
    const checked = validate(TextContent, content);
    if (!checked.ok) return malformed('text', ...checked.faults);
    return { ok: true, drawing: { kind: 'text', text: checked.value } };
  },
};

/** Every segment type known here. A new one is a file beside this one and its line in this list. */
const segmentKinds: readonly SegmentKind[] = [textKind, diffKind, imageKind];

/** What a client supports unless `--supports` names other types: a terminal draws no images. */
export const knownTypes: ReadonlySet<string> = new Set(['text', 'diff']);

/** A segment that stood before the shown one. */
interface Skipped {
  readonly index: number;
  readonly type: string;
  readonly reason: string;
}

interface Chosen {
  readonly index: number;
  readonly type: string;
  readonly drawing: Drawing;
  /** Why this one. */
  readonly reason: string;
}

interface Seen {
  readonly skipped: readonly Skipped[];
  readonly warnings: readonly Warning[];
}

/** What the human sees; with `chosen: null` that is the result's `text`, and `reason` says why. */
export type Choice = Seen &
  ({ readonly chosen: Chosen } | { readonly chosen: null; readonly reason: string });

/**
 * Chooses the first segment whose type is supported and whose content is well formed; array order alone decides (RT-DISPLAY).
 * @param supports the segment types that this client claims to draw
 */
export function chooseSegment(
  segments: readonly Segment[] | undefined,
  supports: ReadonlySet<string>,
): Choice {
  if (!segments) return { chosen: null, reason: 'no display_as', skipped: [], warnings: [] };
  if (segments.length === 0)
    return { chosen: null, reason: 'display_as is empty', skipped: [], warnings: [] };
  const read = segments.map(readSegment);
  const skipped: Skipped[] = [];
  const seen = { skipped, warnings: lint(read) };
  for (const [index, { type, reading }] of read.entries()) {
    const offer = supports.has(type) ? reading : unsupported(type, reading, supports);
    if (offer.ok) return { chosen: { index, type, drawing: offer.drawing, reason: why(index) }, ...seen };
    skipped.push({ index, type, reason: offer.reason });
  }
  return { chosen: null, reason: 'no segment of display_as can be shown', ...seen };
}

function readSegment(segment: Segment): ReadSegment {
  const kind = segmentKinds.find(({ type }) => type === segment.type);
  return { ...segment, reading: kind?.read(segment.content) ?? unknown(segment.type) };
}

function unsupported(type: string, reading: Reading, supports: ReadonlySet<string>): Reading {
  if (!segmentKinds.some(kind => kind.type === type)) return unknown(type);
  if (type === 'image') return reading.ok ? NO_IMAGES : reading;
  const list = [...supports].join(',');
  return { ok: false, reason: `not supported by this client (--supports ${list})` };
}

const NO_IMAGES: Reading = { ok: false, reason: 'a terminal cannot show images' };

function unknown(type: string): Reading {
  return { ok: false, reason: `the type ${excerpt(type)} is not supported` };
}

function why(index: number): string {
  return index === 0 ? 'the first segment' : 'the first that can be displayed';
}

/** What is drawn of a view of a thread (RT-VIEW). The content of a `diff` is `{patch}`, or `{files}` with both contents of each file. */
export function readView({ type, content }: Pick<View, 'type' | 'content'>): Reading {
  if (type !== 'diff') return { ok: false, reason: `unknown view type ${excerpt(type)}, shown as JSON` };
  if (Array.isArray(content['files']) && content['patch'] === undefined) return readFiles(content);
  return diffKind.read({ path: '', ...content });
}

const Files = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      status: z.nullish(z.string()),
      oldContents: z.nullish(z.string()),
      newContents: z.nullish(z.string()),
    }),
  ),
});

type ChangedFile = z.infer<typeof Files>['files'][number];

/** The work of a diff grows with the square of its edits: this is for all files of a view together. */
const MAX_EDITS = 2_000;

function readFiles(content: View['content']): Reading {
  const checked = validate(Files, content);
  if (!checked.ok) return malformed('diff', ...checked.faults);
  const { files: changed } = checked.value;
  const maxEdits = Math.ceil(MAX_EDITS / Math.sqrt(changed.length));
  const files: DiffFile[] = [];
  const patches: string[] = [];
  for (const each of changed) {
    const hunks = hunksOf(each, maxEdits);
    const file = fileOf(each, hunks);
    if (typeof file === 'string') return malformed('diff', `${visibleLine(each.path)}: ${file}`);
    files.push(file);
    patches.push(headersOf(each) + hunks);
  }
  const sum = (of: 'added' | 'removed') => files.reduce((total, file) => total + file[of], 0);
  const diff = { files, added: sum('added'), removed: sum('removed') };
  return { ok: true, drawing: { kind: 'diff', path: '', diff, raw: patches.join('') } };
}

/** The hunks alone: a path can hold anything, line feeds too, and must not be read as part of the patch. */
function hunksOf({ oldContents, newContents }: ChangedFile, maxEdits: number): string {
  const patch = patchOf('file', oldContents ?? '', newContents ?? '', maxEdits);
  const start = patch.indexOf('@@');
  return start < 0 ? '' : patch.slice(start);
}

/** @returns the reason where the diff cannot be drawn */
function fileOf({ path, status }: ChangedFile, hunks: string): DiffFile | string {
  const names = { oldPath: path, newPath: path, kind: kindOf(status) };
  if (hunks === '') return { ...names, hunks: [], added: 0, removed: 0, hidden: hiddenIn('', path, '') };
  const parsed = parsePatch(hunks, path);
  if (!parsed.ok) return parsed.reason;
  const [file] = parsed.diff.files;
  return file ? { ...file, ...names } : 'it has no hunks';
}

function kindOf(status: ChangedFile['status']): FileKind {
  if (status === 'added') return 'created';
  return status === 'deleted' ? 'deleted' : 'changed';
}

function headersOf({ path, status }: ChangedFile): string {
  const name = visibleLine(path);
  const [from, to] = [
    status === 'added' ? '/dev/null' : `a/${name}`,
    status === 'deleted' ? '/dev/null' : `b/${name}`,
  ];
  return `--- ${from}\n+++ ${to}\n`;
}
