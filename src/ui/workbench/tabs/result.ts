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
import type { SheetsOptions } from './sheet.js';

type Draw = (look: Look) => Part;

/** What the human sees beside what the LLM gets (RT-DISPLAY, RT-TEXT); of a pending call, the steps so far. */
export function resultTab(story: CallStory, { supports, highlighter }: SheetsOptions): Tabbed {
  const pending = new Memo<Sheet>();
  const settled = new Memo<Sheet>();
  const panes = new Memo<readonly Draw[]>();
  return look => {
    const { exchange, told } = story;
    if (!exchange?.settled) return pending.of([told.length], () => ({ parts: [pendingPart(story)] }));
    const draws = panes.of([exchange.settled], () => drawsOf(exchange, supports));
    const parts = draws.map(draw => draw({ ...look, highlighter: highlighter() }));
    return settled.of(parts, () => ({ parts }));
  };
}

/** The panes are made once: the text in them may be 50 MiB. */
function drawsOf(exchange: Exchange, supports: ReadonlySet<string>): readonly Draw[] {
  const panes = panesOf(exchange, supports);
  return panes ? [panePart(panes.human), panePart(panes.llm)] : [];
}

function pendingPart({ told, running }: CallStory): Part {
  const steps = [...told.flatMap(each => each.steps), ...running];
  return { title: PENDING, document: linesDocument(steps.flatMap(stepLines)), pane: null };
}

const PENDING: Line = [say('PENDING', 'title'), say(' the steps so far', 'dim')];
