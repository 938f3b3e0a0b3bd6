import type { Exchange } from '../../../exchange/exchange.js';
import type { Line } from '../../../story/line.js';
import { panesOf } from '../../../story/panes.js';
import { say } from '../../../story/spans.js';
import { stepLines } from '../../../story/step-line.js';
import { Memo } from '../../../text/memo.js';
import { panePart } from '../../calls/sheets/pane-part.js';
import type { Part, Sheet, Tabbed } from '../../calls/sheets/sheet.js';
import { type Look, linesDocument } from '../../document/index.js';
import type { CallStory } from './call-story.js';
import { type Below, textsBelow, toldBelow } from './news-below.js';
import type { SheetsOptions } from './options.js';

interface Drawing {
  readonly draw: (look: Look) => Part;
  readonly below: Below;
}

/** What the human sees beside what the LLM gets (RT-DISPLAY, RT-TEXT, RT-SUB); of a pending call, the steps so far. */
export function resultTab(story: CallStory, { supports, highlighter }: SheetsOptions): Tabbed {
  const pending = new Memo<Sheet>();
  const settled = new Memo<Sheet>();
  const panes = new Memo<readonly Drawing[]>();
  return look => {
    const { exchange, told } = story;
    if (!exchange?.settled) return pending.of([told.length], () => ({ parts: [pendingPart(story)] }));
    const drawings = panes.of([exchange.settled], () => drawingsOf(exchange, supports));
    const parts = drawings.map(({ draw, below }) =>
      below(draw({ ...look, highlighter: highlighter() }), exchange, story.news),
    );
    return settled.of(parts, () => ({ parts }));
  };
}

/** The panes are made once: the text in them may be 50 MiB. */
function drawingsOf(exchange: Exchange, supports: ReadonlySet<string>): readonly Drawing[] {
  const panes = panesOf(exchange, supports);
  if (!panes) return [];
  return [
    { draw: panePart(panes.human), below: toldBelow() },
    { draw: panePart(panes.llm), below: textsBelow() },
  ];
}

function pendingPart({ told, running }: CallStory): Part {
  const steps = [...told.flatMap(each => each.steps), ...running];
  return { title: PENDING, document: linesDocument(steps.flatMap(stepLines)), pane: null };
}

const PENDING: Line = [say('PENDING', 'title'), say(' the steps so far', 'dim')];
