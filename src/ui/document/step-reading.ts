import { goesOnBeyond } from '../../dress/slide-line.js';
import type { Theme } from '../../dress/theme.js';
import { lastUpTo } from '../../text/sorted.js';
import type { Document, Landmark } from './document.js';
import { atTop } from './go-to.js';
import { isSplit } from './look.js';
import { above, below, last, settled } from './place.js';
import type { Reading, ReadingCommand, Stepped, Viewport } from './reading.js';
import { type Scene, sceneOf } from './rows.js';
import { screenOf } from './screen.js';
import { hereIn, stepMatch } from './search.js';

/** Headers cover as many rows of a page: they are seen at the end of the page before. */
const OVERLAP = 2;
/** Cells. */
const SIDEWAYS = 8;

type Step = (reading: Reading, scene: Scene) => Stepped | Reading;

const STEPS: Readonly<Record<ReadingCommand, Step>> = {
  lineUp: (reading, scene) => scrolled(reading, -1, scene),
  lineDown: (reading, scene) => scrolled(reading, 1, scene),
  pageUp: (reading, scene) => scrolled(reading, -pageOf(scene), scene),
  pageDown: (reading, scene) => scrolled(reading, pageOf(scene), scene),
  top: reading => ({ ...reading, line: 0, row: 0, spot: null }),
  bottom: (reading, scene) => ({ ...reading, ...last(reading, scene), spot: null }),
  left: reading => ({ ...reading, left: Math.max(0, reading.left - SIDEWAYS) }),
  right: toTheRight,
  nextHunk: (reading, scene) => landmark(reading, 'hunk', 1, scene),
  previousHunk: (reading, scene) => landmark(reading, 'hunk', -1, scene),
  nextFile: (reading, scene) => landmark(reading, 'file', 1, scene),
  previousFile: (reading, scene) => landmark(reading, 'file', -1, scene),
  nextMatch: (reading, scene) => stepMatch(reading, 1, scene),
  previousMatch: (reading, scene) => stepMatch(reading, -1, scene),
  wrap: reading => ({ ...reading, isWrapped: !reading.isWrapped, row: 0, left: 0 }),
  split,
  fold,
};

/** What a command does to a reading of a document; what that alone does not show is said. */
export function stepReading(
  reading: Reading,
  command: ReadingCommand,
  document: Document,
  viewport: Viewport,
  theme: Theme,
): Stepped {
  const scene = sceneOf(document, viewport, theme);
  const stepped = STEPS[command](settled(reading, scene), scene);
  const { reading: next, said } = 'reading' in stepped ? stepped : { reading: stepped, said: null };
  return { reading: settled(next, scene), said };
}

function split(reading: Reading, { document, viewport }: Scene): Stepped {
  if (!hasDiff(document)) return { reading, said: NO_DIFF };
  return {
    reading: { ...reading, layout: isSplit(reading, viewport) ? 'unified' : 'split' },
    said: null,
  };
}

function fold(reading: Reading, { document }: Scene): Stepped {
  if (document.isFoldable()) return { reading: { ...reading, isUnfolded: !reading.isUnfolded }, said: null };
  return { reading, said: hasDiff(document) ? 'nothing to unfold: the patch holds no more' : NO_DIFF };
}

const NO_DIFF = 'there is no diff here';

function hasDiff(document: Document): boolean {
  return document.landmarks('hunk').length > 0;
}

function scrolled(reading: Reading, rows: number, scene: Scene): Reading {
  const place = rows > 0 ? below(reading, rows, scene) : above(reading, -rows, scene);
  return { ...reading, ...place, spot: null };
}

function pageOf({ viewport }: Scene): number {
  return Math.max(1, viewport.height - OVERLAP);
}

/** Only where something is further to the right. */
function toTheRight(reading: Reading, scene: Scene): Reading {
  const { document, viewport } = scene;
  const { left, isWrapped } = reading;
  const goesOn = screenOf(reading, scene).lines.some(line =>
    goesOnBeyond(document.line(line), left, viewport.width),
  );
  return goesOn && !isWrapped ? { ...reading, left: left + SIDEWAYS } : reading;
}

function landmark(reading: Reading, kind: Landmark, step: 1 | -1, scene: Scene): Stepped {
  const landmarks = scene.document.landmarks(kind);
  const here = hereIn(reading, scene);
  const at = step > 0 ? lastUpTo(landmarks, here) + 1 : lastUpTo(landmarks, here - 1);
  const line = landmarks[at];
  if (line === undefined) return { reading, said: `no ${kind} further ${step > 0 ? 'down' : 'up'}` };
  return { reading: atTop(reading, line, scene), said: null };
}
