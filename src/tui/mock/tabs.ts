import type { Highlighter } from '../../display/syntax.js';
import { type CallFile, type RecentCalls, type RecentEvents, unread } from '../../events/bounded-events.js';
import { Content } from '../../events/content.js';
import { type View, withUpdate } from '../../events/history.js';
import { callbackSecrets } from '../../events/shareable.js';
import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  toolCallState,
  typeOfDelivery,
} from '../../events/tool-call.js';
import { type CallbackReading, readCallback } from '../../protocol/callbacks.js';
import { type Line, quote, say } from '../../render/line.js';
import { panesOfResult } from '../../render/panes.js';
import { detailLines, secretsOf } from '../../render/tool-calls.js';
import type { ToldEvent } from '../../render/wire.js';
import { Memo, RecentMap } from '../../util/collections.js';
import { decodeUtf8 } from '../../util/text.js';
import {
  NO_SHEET,
  onePart,
  type Part,
  panePart,
  problemsTab,
  type Sheet,
  type SheetLook,
  type Story,
  timelineTab,
  viewsSheet,
  wireTab,
} from '../calls/tabs.js';
import type { Look } from '../document/documents.js';

/** The tabs of a tool call, in order. */
export const TABS = [
  { name: 'call', title: 'Call' },
  { name: 'result', title: 'Human / LLM' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'wire', title: 'Wire' },
  { name: 'views', title: 'Views' },
  { name: 'problems', title: 'Problems' },
] as const;

export type Tab = (typeof TABS)[number]['name'];

/** The events of a call as its tool saw them. They have no steps: steps belong to a runtime. */
class ToolStory implements Story {
  /** Knows the secrets of all events. */
  readonly redactor = callbackSecrets();
  readonly running = [];
  readonly #told: ToldEvent[] = [];

  constructor(readonly file: CallFile) {}

  get told(): readonly ToldEvent[] {
    for (const event of this.file.events.slice(this.#told.length)) {
      const own = unread(event);
      this.redactor.learn(own);
      this.#told.push({ event: own, steps: [] });
    }
    return this.#told;
  }

  get forgotten(): number {
    return this.file.forgotten;
  }
}

/** A callback as a runtime reads it, without the secrets of callback URLs, which may be quoted in it. */
function messageIn({ body }: CallbackDelivery, call: ToolCall): CallbackReading {
  const text = body && decodeUtf8(body.bytes);
  return readCallback(new Content(Buffer.from(secretsOf(call).text(text ?? ''))).json);
}

interface SheetsOptions {
  readonly calls: RecentCalls;
  readonly events: RecentEvents;
  /** The types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly highlighter: () => Highlighter | null;
  /** Called when a sheet has changed without an event. */
  readonly onChange: () => void;
}

type SheetOfCall = (call: ToolCall, look: SheetLook) => Sheet;

/** The received call, its answer, and each callback with its deliveries. */
function callTab(): SheetOfCall {
  const sheets = new Memo<Sheet>();
  const title = [say('CALL', 'title'), say(' what came, and what was answered', 'dim')];
  return call => sheets.of([call], () => onePart(title, detailLines(call)));
}

/** What a runtime that accepts the result shows to the human beside what it gives to the LLM (RT-DISPLAY, RT-TEXT). */
function resultTab({ supports, highlighter }: SheetsOptions): SheetOfCall {
  const draws = new Memo<readonly ((look: Look) => Part)[]>();
  const sheets = new Memo<Sheet>();
  return (call, look) => {
    const result = call.deliveries.find(each => typeOfDelivery(each) === 'tool_result');
    if (!result) return sheets.of([toolCallState(call)], () => noResult(call));
    const parts = draws
      .of([result.body], () => drawsOf(result, call, supports))
      .map(draw => draw({ ...look, highlighter: highlighter() }));
    const delivery = deliveryState(result);
    return sheets.of([...parts, delivery], () => ({
      parts: parts.map(part => ({ ...part, title: [...part.title, ...delivery] })),
    }));
  };
}

function drawsOf(
  result: CallbackDelivery,
  call: ToolCall,
  supports: ReadonlySet<string>,
): readonly ((look: Look) => Part)[] {
  const reading = messageIn(result, call);
  if (reading.ok && reading.message.type === 'tool_result') {
    const { human, llm } = panesOfResult(reading.message, supports);
    return [panePart(human), panePart(llm)];
  }
  const faults = reading.ok ? [] : reading.faults;
  const lines = [[say('a runtime rejects this result:', 'warn')], ...faults.map(fault => quote(fault))];
  return onePart(RESULT, lines).parts.map(part => () => part);
}

const RESULT: Line = [say('RESULT', 'title')];

const DELIVERED: Line = [];

const SENDING: Line = [say(' · being sent', 'running')];

const NOT_DELIVERED: Line = [say(' · not accepted by the runtime', 'bad')];

function deliveryState(result: CallbackDelivery): Line {
  if (isDelivered(result)) return DELIVERED;
  return result.attempts.some(({ endedAt }) => endedAt === undefined) ? SENDING : NOT_DELIVERED;
}

function noResult(call: ToolCall): Sheet {
  const isExpected = ['waiting', 'asking'].includes(toolCallState(call));
  return onePart(RESULT, [[say(`none was sent${isExpected ? ' yet' : ''}`, 'dim')]]);
}

/** The views that the call made its thread show, as far as the runtime accepted them. */
function viewsTab({ highlighter }: SheetsOptions): SheetOfCall {
  const views = new Memo<ReadonlyMap<string, View>>();
  const sheetOf = viewsSheet(highlighter, 'this call shows no views');
  return (call, look) => sheetOf(views.of([call.deliveries], () => viewsOf(call)).values(), look);
}

function viewsOf(call: ToolCall): ReadonlyMap<string, View> {
  let views: ReadonlyMap<string, View> = new Map();
  for (const delivery of call.deliveries.filter(isDelivered)) {
    if (typeOfDelivery(delivery) !== 'view_update') continue;
    const reading = messageIn(delivery, call);
    if (!reading.ok || reading.message.type !== 'view_update') continue;
    const at = delivery.attempts[0]?.at ?? 0;
    views = withUpdate(views, reading.message, { at, call: call.key, size: delivery.body?.size ?? 0 });
  }
  return views;
}

const FORGOTTEN = onePart(
  [say('FORGOTTEN', 'title')],
  [[say('the messages of this call are no longer remembered', 'dim')]],
);

interface KeptCall {
  /** Undefined where the events are no longer remembered. */
  readonly file: CallFile | undefined;
  readonly sheets: Readonly<Record<Tab, SheetOfCall>>;
}

/** Calls whose sheets are kept, at least: users go back and forth between a few. */
const KEPT = 4;

/** The sheets of tool calls. A sheet is made when it is looked at, and kept while nothing of its call changes. */
export class ToolSheets {
  readonly #kept = new RecentMap<string, KeptCall>(KEPT);

  constructor(private readonly options: SheetsOptions) {}

  sheetOf(tab: Tab, key: string, look: SheetLook): Sheet {
    const call = this.options.calls.get(key);
    if (!call) return NO_SHEET;
    const file = this.options.events.of(key);
    const known = this.#kept.get(key);
    const kept = known && known.file === file ? known : { file, sheets: this.#sheetsOf(key, file) };
    this.#kept.set(key, kept);
    return kept.sheets[tab](call, look);
  }

  #sheetsOf(key: string, file: CallFile | undefined): KeptCall['sheets'] {
    const own = { call: callTab(), result: resultTab(this.options), views: viewsTab(this.options) };
    const gone = () => FORGOTTEN;
    if (!file) return { ...own, timeline: gone, wire: gone, problems: gone };
    const story = new ToolStory(file);
    const { redactor } = story;
    const timeline = timelineTab(story, redactor);
    const wire = wireTab(story, redactor);
    const problems = problemsTab({
      age: () => story.told.length,
      judge: () => judgeRuntime(story, this.options.calls.get(key)?.warnings ?? []),
      redactor,
      onChange: this.options.onChange,
    });
    return {
      ...own,
      timeline: (_, look) => timeline(look),
      wire: (_, look) => wire(look),
      problems: (_, look) => problems(look),
    };
  }
}

/** Judges the runtime that made a call by what its tool saw. */
async function judgeRuntime(story: ToolStory, warnings: readonly string[]): Promise<readonly Line[]> {
  const { judgedRuntimeLines } = await import('../../render/check-report.js');
  const { file, told, forgotten, redactor } = story;
  const events = [...file.discovery.map(unread), ...told.map(({ event }) => event)];
  const lines = await judgedRuntimeLines(events, warnings, redactor);
  if (forgotten === 0) return lines;
  return [[say(`checked without ${forgotten} events that are no longer remembered`, 'warn')], [], ...lines];
}
