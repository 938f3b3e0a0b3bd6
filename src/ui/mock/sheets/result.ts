import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  toolCallState,
  typeOfDelivery,
} from '../../../exchange/tool-call.js';
import type { Line } from '../../../story/line.js';
import { panesOfResult } from '../../../story/panes.js';
import { quote, say } from '../../../story/spans.js';
import { Memo } from '../../../text/memo.js';
import { panePart } from '../../calls/sheets/pane-part.js';
import type { Part, Sheet, SheetLook } from '../../calls/sheets/sheet.js';
import { type Look, linesDocument } from '../../document/index.js';
import { messageIn } from './message-in.js';
import type { ToolSheetsOptions } from './options.js';

type Draw = (look: Look) => Part;

/** What a runtime that takes the result would show to the human beside what it gives to the LLM (RT-DISPLAY, RT-TEXT). */
export function resultTab(options: ToolSheetsOptions): (call: ToolCall, look: SheetLook) => Sheet {
  const { supports, highlighter } = options;
  const draws = new Memo<readonly Draw[]>();
  const sheets = new Memo<Sheet>();
  return (call, look) => {
    const result = call.deliveries.find(each => typeOfDelivery(each) === 'tool_result');
    if (!result) return sheets.of([toolCallState(call)], () => ({ parts: [nothingPart(call)] }));
    const parts = draws
      .of([result.body], () => drawsOf(result, call, supports))
      .map(draw => draw({ ...look, highlighter: highlighter() }));
    const standing = standingOf(result);
    return sheets.of([...parts, standing], () => ({
      parts: parts.map(part => ({ ...part, title: [...part.title, ...standing] })),
    }));
  };
}

function drawsOf(result: CallbackDelivery, call: ToolCall, supports: ReadonlySet<string>): readonly Draw[] {
  const reading = messageIn(result, call);
  if (reading.ok && reading.message.type === 'tool_result') {
    const { human, llm } = panesOfResult(reading.message, supports);
    return [panePart(human), panePart(llm)];
  }
  const faults = reading.ok ? [] : reading.faults;
  const lines = [[say('no runtime takes this as a result:', 'warn')], ...faults.map(fault => quote(fault))];
  return [() => ({ title: RESULT, document: linesDocument(lines), pane: null })];
}

const RESULT: Line = [say('RESULT', 'title')];
const TAKEN: Line = [];
const UNDER_WAY: Line = [say(' · on its way', 'running')];
const NOT_TAKEN: Line = [say(' · not taken by the runtime', 'bad')];

function standingOf(result: CallbackDelivery): Line {
  if (isDelivered(result)) return TAKEN;
  return result.attempts.some(({ endedAt }) => endedAt === undefined) ? UNDER_WAY : NOT_TAKEN;
}

const STILL_TO_COME: ReadonlySet<string> = new Set(['waiting', 'asking']);

function nothingPart(call: ToolCall): Part {
  const yet = STILL_TO_COME.has(toolCallState(call)) ? ' yet' : '';
  return { title: RESULT, document: linesDocument([[say(`none was sent${yet}`, 'dim')]]), pane: null };
}
