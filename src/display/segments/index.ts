import { diffKind } from './diff.js';
import { imageKind } from './image.js';
import type { SegmentKind } from './kind.js';
import { textKind } from './text.js';

/** Every segment type known here. A new one is a file beside this one and its line in this list. */
export const segmentKinds: readonly SegmentKind[] = [textKind, diffKind, imageKind];

/** What a client supports unless `--supports` names other types: a terminal draws no images. */
export const knownTypes: ReadonlySet<string> = new Set(['text', 'diff']);
