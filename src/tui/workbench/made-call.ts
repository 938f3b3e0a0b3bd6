import type { CallLog } from '../../events/call-log.js';
import type { Exchange } from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { subscriptionEventIn } from '../../render/callbacks.js';
import { type Line, quote, redactLine, type Span, say } from '../../render/line.js';
import { missingSteps, runningSteps } from '../../render/open-steps.js';
import { panesOf } from '../../render/panes.js';
import type { ProblemLines } from '../../render/problems-tab.js';
import { type Step, stepLines } from '../../render/step.js';
import { answeredStep } from '../../render/step-log.js';
import { newStepsOf } from '../../render/steps.js';
import type { TimelineEntry } from '../../render/wire.js';
import { Memo } from '../../util/collections.js';
import type { Redactor } from '../../util/redact.js';
import type { ShownCall } from '../calls/tabs.js';
import { type Document, linesDocument } from '../reading/document.js';
import { growingDocument, joinedDocument } from '../reading/joined-document.js';
import { onePart, type Part, panePart, type Sheet } from '../reading/parts.js';
import { textDocument } from '../reading/text-document.js';
import { eventCount, NOT_ENDED, SO_FAR } from './call-state.js';
import type { Model, Source } from './model.js';

type News = NonNullable<ReturnType<typeof subscriptionEventIn>>;

/** A call that this program made. Its events are processed as they arrive: the cost does not depend on earlier events. */
export class MadeCall implements ShownCall {
  readonly forgotten = 0;
  readonly emptyViewsText = 'the thread of this call has no views';
  readonly checkedSide = '';
  readonly redactor: Redactor;
  readonly #callLog: CallLog;
  readonly #history = new History();
  readonly #entries: TimelineEntry[] = [];
  /** The events of its subscription. */
  readonly #news: News[] = [];
  /** A recording shows the requests of both sides. */
  readonly #both: MadeCall | null;
  readonly #pending = new Memo<Sheet>();
  readonly #panes = new Memo<readonly ReturnType<typeof withEvents>[]>();

  constructor(
    from: Pick<Source, 'callLog' | 'redactor'>,
    readonly key: string,
    private readonly supports: ReadonlySet<string>,
    private readonly model: Pick<Model, 'isUnvalidated'>,
  ) {
    const { callLog, redactor } = from;
    const { whole } = callLog;
    this.#callLog = callLog;
    this.redactor = redactor;
    this.#both = whole === callLog ? null : new MadeCall({ callLog: whole, redactor }, key, supports, model);
  }

  get entries(): readonly TimelineEntry[] {
    for (const event of this.#callLog.of(this.key).slice(this.#entries.length)) {
      this.#history.apply(event);
      this.#entries.push({ event, steps: this.#clean(newStepsOf(this.#history, event)) });
      const answered = answeredStep(this.#history, event);
      if (answered) this.#replace(answered);
      const news = subscriptionEventIn(this.#history, event);
      if (news) this.#news.push(news);
    }
    return this.#entries;
  }

  get wire(): readonly TimelineEntry[] {
    return (this.#both ?? this).entries;
  }

  get exchange(): Exchange | undefined {
    return this.#callLog.history.exchanges.get(this.key);
  }

  get running() {
    const { isSaved, whole } = this.#callLog;
    const at = whole.events.at(-1)?.at ?? 0;
    return this.#clean(isSaved ? missingSteps(this.#history, at) : runningSteps(this.#history));
  }

  get revision(): number {
    return this.#callLog.of(this.key).length + this.#callLog.of(null).length;
  }

  /** The human's and the LLM's pane (RT-DISPLAY, RT-TEXT, RT-SUB); for a pending call, the steps so far. */
  get result(): Sheet {
    const { exchange, entries, running } = this;
    if (!exchange?.settled) {
      const steps = () => [...entries.flatMap(each => each.steps), ...running].flatMap(stepLines);
      const title = this.#callLog.isSaved ? NO_RESULT : PENDING;
      return this.#pending.of([entries.length], () => onePart(title, steps()));
    }
    const panes = this.#panes.of([exchange.settled], () =>
      panesWithEvents(exchange, this.supports, this.redactor),
    );
    const open = this.#callLog.isSaved ? NOT_ENDED : SO_FAR;
    return panes.map(partOf => partOf(exchange, this.#news, open));
  }

  get views() {
    const { threads } = this.#callLog.history;
    return threads.get(this.exchange?.invocation.group_id ?? '')?.views.values() ?? [];
  }

  async judge(): Promise<ProblemLines> {
    const { exchange, redactor } = this;
    const callLog = this.#callLog;
    if (!exchange) return () => [];
    const { judgedLines } = await import('../../render/problems-tab.js');
    const isUnvalidated = !callLog.isSaved && this.model.isUnvalidated(this.key);
    return judgedLines(callLog.whole.concerning(exchange), exchange, redactor, callLog, isUnvalidated);
  }

  /** A recorded answer may differ from what this program would have answered. */
  #replace(step: Step): void {
    const index = this.#entries.findLastIndex(({ steps }) => steps.some(({ leg }) => leg === step.leg));
    const entry = this.#entries[index];
    if (!entry) return;
    const [clean = step] = this.#clean([step]);
    const steps = entry.steps.map(each => (each.leg === step.leg ? clean : each));
    this.#entries[index] = { ...entry, steps };
  }

  /** Redacts steps: they quote the tool, which may echo credentials (threats, row 25). */
  #clean(steps: readonly Step[]): readonly Step[] {
    const clean = (line: Line) => redactLine(line, this.redactor.text);
    return steps.map(step => ({ ...step, lines: step.lines.map(clean) }));
  }
}

const PENDING: Line = [say('PENDING', 'title'), say(' the steps so far', 'dim')];

const NO_RESULT: Line = [say('NO RESULT', 'title'), say(' in this recording', 'dim')];

function panesWithEvents(exchange: Exchange, supports: ReadonlySet<string>, redactor: Redactor) {
  const panes = panesOf(exchange, supports);
  if (!panes) return [];
  return [
    withEvents(withOutput(panePart(panes.human), exchange, redactor), ({ line }) => linesDocument([line])),
    withEvents(panePart(panes.llm), ({ heading, text }) =>
      joinedDocument([linesDocument([heading]), ...(text === null ? [] : [textDocument(text)])]),
    ),
  ];
}

/** A part with the last output of the server below it, if the server exited during the call. */
function withOutput(part: Part, { settled }: Exchange, redactor: Redactor): Part {
  const output = settled?.by === 'unreachable' ? (settled.output ?? []) : [];
  if (output.length === 0) return part;
  const documents = new Memo<Document>();
  const title = [say('its last output', 'dim')];
  const more = linesDocument([[], title, ...output.map(each => quote(redactor.text(each)))]);
  return {
    ...part,
    document(look) {
      const own = part.document(look);
      return documents.of([own], () => joinedDocument([own, more]));
    },
  };
}

/** A part with the events of the call's subscription below it, if there is one. */
function withEvents(part: Part, lay: (news: News) => Document) {
  const events = growingDocument();
  const documents = new Memo<Document>();
  return (exchange: Exchange, news: readonly News[], open: Span): Part => {
    if (!exchange.subscription) return part;
    for (const each of news.slice(events.count)) events.add(() => lay(each));
    return {
      title: [...part.title, ...eventCount(exchange, open)],
      isStream: true,
      document(look) {
        const own = part.document(look);
        const parts = events.count === 0 ? [own] : [own, linesDocument([[]]), events];
        return documents.of([own, events.count], () => joinedDocument(parts));
      },
    };
  };
}
