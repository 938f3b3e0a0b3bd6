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
import { detailLines } from '../../render/call-details.js';
import { secretsOf } from '../../render/calls.js';
import { type Line, quote, say } from '../../render/line.js';
import { panesOfResult } from '../../render/panes.js';
import type { ToldEvent } from '../../render/wire.js';
import type { Clock } from '../../system/drafts.js';
import { Memo } from '../../util/bounded.js';
import { decodeUtf8 } from '../../util/json.js';
import { RecentMap } from '../../util/json-diagnosis.js';
import {
  isLightToJudge,
  type Judged,
  NO_SHEET,
  type Part,
  type ProblemCount,
  panePart,
  problemsTab,
  type Sheet,
  type SheetLook,
  type Story,
  type Tabbed,
  timelineTab,
  viewsSheet,
  wireTab,
} from '../calls/tabs.js';
import { type Look, linesDocument } from '../document/documents.js';

/** What came, who answers it, and each callback with what became of it. */
function callTab(): (call: ToolCall) => Sheet {
  const sheets = new Memo<Sheet>();
  return call =>
    sheets.of([call], () => ({
      parts: [{ title: TITLE, document: linesDocument(detailLines(call)), pane: null }],
    }));
}

const TITLE: Line = [say('CALL', 'title'), say(' what came, and what was answered', 'dim')];

/** A call as its tool tells of it. What its events mean is told by the tool itself: the steps of a runtime are not its own. */
class ToolStory implements Story {
  /** Knows the secrets of all that is told. */
  readonly redactor = callbackSecrets();
  readonly running = [];
  readonly #told: ToldEvent[] = [];

  constructor(readonly file: CallFile) {}

  /** What is read of the bodies goes with the story: it is remembered for few calls only. */
  get told(): readonly ToldEvent[] {
    const { events } = this.file;
    for (let event = events[this.#told.length]; event; event = events[this.#told.length]) {
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

/**
 * The runtime that made a call, to be judged by what its tool saw.
 * @param warnings of the call, by now
 * @param note told each time how many requirements were broken, of how many events
 */
function judgedRuntime(
  story: ToolStory,
  warnings: () => readonly string[],
  note: (broken: number, events: number) => void,
): Judged {
  return {
    get age() {
      return story.told.length;
    },
    async judge() {
      const { judgedRuntimeLines } = await import('../../render/problems.js');
      const { file, told, forgotten, redactor } = story;
      const events = [...file.discovery.map(unread), ...told.map(({ event }) => event)];
      const count = told.length + forgotten;
      const { lines, broken } = await judgedRuntimeLines(events, warnings(), redactor);
      note(broken, count);
      return [...partLines(forgotten), ...lines];
    },
  };
}

function partLines(forgotten: number): readonly Line[] {
  if (forgotten === 0) return [];
  return [[say(`judged by what is remembered: ${forgotten} events of the call are forgotten`, 'warn')], []];
}

/** What a callback says to a runtime, without the secrets of callback URLs, which it may name. */
function messageIn({ body }: CallbackDelivery, call: ToolCall): CallbackReading {
  const text = body && decodeUtf8(body.bytes);
  return readCallback(new Content(Buffer.from(secretsOf(call).text(text ?? ''))).json);
}

interface ToolSheetsOptions {
  readonly clock: Clock;
  readonly calls: RecentCalls;
  readonly events: RecentEvents;
  /** Types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly highlighter: () => Highlighter | null;
  /** A sheet is another one now, though no event came. */
  readonly onChange: () => void;
}

type Draw = (look: Look) => Part;

/** What a runtime that takes the result would show to the human beside what it gives to the LLM (RT-DISPLAY, RT-TEXT). */
function resultTab(options: ToolSheetsOptions): (call: ToolCall, look: SheetLook) => Sheet {
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

/** Somebody has looked at the same call for so long. */
const PAUSE_MS = 200;
const REMEMBERED = 1_000;

interface Known {
  readonly broken: number;
  /** Of how many events. */
  readonly events: number;
}

/** How many requirements the runtime broke in the call that is looked at: judged in the background, one call at a time. */
export class RuntimeVerdicts {
  readonly #known = new RecentMap<string, Known>(REMEMBERED);
  #waiting: string | null = null;
  #stop = () => {};

  /**
   * @param judge the call with this key; what came of it is {@link note}d
   * @param onChange a verdict is another one now, though no event came
   */
  constructor(
    private readonly clock: Clock,
    private readonly judge: (key: string) => Promise<unknown>,
    private readonly onChange: () => void,
  ) {}

  /** What is known by now. */
  glance(key: string, file: CallFile | undefined): ProblemCount {
    const { broken = 0, events = 0 } = this.#known.get(key) ?? {};
    const isJudged = !file || file.events.length + file.forgotten === events;
    const isLeft = !isJudged && !isLightToJudge(file.events);
    if (!isJudged && !isLeft) this.#ask(key);
    return { broken, isLeft };
  }

  note(key: string, known: Known): void {
    this.#known.set(key, known);
  }

  /** Nobody looks any more. */
  close(): void {
    this.#stop();
  }

  /** Whoever goes through a list is not kept waiting for it. */
  #ask(key: string): void {
    if (this.#waiting === key) return;
    this.#waiting = key;
    this.#stop();
    this.#stop = this.clock.after(PAUSE_MS, () => void this.#judge(key));
  }

  async #judge(key: string): Promise<void> {
    const before = this.#known.get(key)?.broken ?? 0;
    await this.judge(key).catch(() => {}); // whoever reads of it is told
    if (this.#waiting === key) this.#waiting = null;
    if ((this.#known.get(key)?.broken ?? 0) !== before) this.onChange();
  }
}

/** What there is to read about a call of a tool, in the order of its tabs. */
export const TABS = ['call', 'result', 'timeline', 'wire', 'views', 'problems'] as const;
export type Tab = (typeof TABS)[number];

/** Above the sheet. */
export const TITLES: readonly string[] = ['Call', 'Human / LLM', 'Timeline', 'Wire', 'Views', 'Problems'];

type Views = ReadonlyMap<string, View>;

/** What the call made its thread show, as far as the runtime took it: another call may have shown something else since. */
function viewsTab({
  highlighter,
}: Pick<ToolSheetsOptions, 'highlighter'>): (call: ToolCall, look: SheetLook) => Sheet {
  const views = new Memo<Views>();
  const sheetOf = viewsSheet(highlighter, 'this call shows no views');
  return (call, look) => sheetOf(views.of([call.deliveries], () => viewsOf(call)).values(), look);
}

function viewsOf(call: ToolCall): Views {
  return call.deliveries.filter(isDelivered).reduce<Views>((views, delivery) => {
    if (typeOfDelivery(delivery) !== 'view_update') return views;
    const reading = messageIn(delivery, call);
    if (!reading.ok || reading.message.type !== 'view_update') return views;
    return withUpdate(views, reading.message, {
      at: delivery.attempts[0]?.at ?? 0,
      call: call.key,
      size: delivery.body?.size ?? 0,
    });
  }, new Map());
}

type Tabs = Readonly<Record<Tab, (call: ToolCall, look: SheetLook) => Sheet>>;

interface KnownCall {
  readonly file: CallFile | undefined;
  readonly tabs: Tabs;
  /** Null where its events are forgotten. */
  readonly judged: Judged | null;
}

/** Calls whose sheets are remembered, at least: a person goes to and fro between few. */
const SHEETS_REMEMBERED = 4;

/** What there is to read about each call of a tool. A sheet is made when it is looked at, and kept while nothing of its call changes. */
export class ToolSheets {
  readonly #calls = new RecentMap<string, KnownCall>(SHEETS_REMEMBERED);

  readonly #verdicts: RuntimeVerdicts;

  constructor(private readonly options: ToolSheetsOptions) {
    const { clock, onChange } = options;
    const judge = async (key: string) => this.#callOf(key).judged?.judge();
    this.#verdicts = new RuntimeVerdicts(clock, judge, onChange);
  }

  /** How many requirements the runtime broke, as far as it is known by now. */
  problemsOf(key: string): ProblemCount {
    return this.#verdicts.glance(key, this.options.events.of(key));
  }

  /** Nobody looks any more. */
  close(): void {
    this.#verdicts.close();
  }

  /** @param key of a call; of one that is forgotten, the sheet is empty */
  sheetOf(tab: Tab, key: string, look: SheetLook): Sheet {
    const call = this.options.calls.get(key);
    return call ? this.#callOf(key).tabs[tab](call, look) : NO_SHEET;
  }

  /** Once some of its events are forgotten, a call is told anew. */
  #callOf(key: string): KnownCall {
    const file = this.options.events.of(key);
    const known = this.#calls.get(key);
    const call = known && known.file === file ? known : this.#callFor(key, file);
    this.#calls.set(key, call);
    return call;
  }

  #callFor(key: string, file: CallFile | undefined): KnownCall {
    const own = { call: callTab(), result: resultTab(this.options), views: viewsTab(this.options) };
    if (!file) return { file, judged: null, tabs: { ...own, timeline: gone, wire: gone, problems: gone } };
    const story = new ToolStory(file);
    const { redactor } = story;
    const { calls, onChange } = this.options;
    const note = (broken: number, events: number) => this.#verdicts.note(key, { broken, events });
    const judged = judgedRuntime(story, () => calls.get(key)?.warnings ?? [], note);
    const tabs = {
      ...own,
      timeline: told(timelineTab(story, redactor)),
      wire: told(wireTab(story, redactor)),
      problems: told(problemsTab(judged, { redactor, onChange })),
    };
    return { file, judged, tabs };
  }
}

function told(tab: Tabbed): Tabs['wire'] {
  return (_, look) => tab(look);
}

const GONE: Sheet = {
  parts: [
    {
      title: [say('FORGOTTEN', 'title')],
      document: linesDocument([[say('what went over the wire is not remembered any more', 'dim')]]),
      pane: null,
    },
  ],
};

function gone(): Sheet {
  return GONE;
}
