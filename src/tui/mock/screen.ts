import { RecentCalls, unread } from '../../events/bounded-events.js';
import { Content } from '../../events/content.js';
import type { Event } from '../../events/events.js';
import { type View, withUpdate } from '../../events/history.js';
import { callbackRedactor } from '../../events/shareable.js';
import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  toolCallState,
  typeOfDelivery,
} from '../../events/tool-call.js';
import { type CallbackReading, readCallback } from '../../protocol/callbacks.js';
import { type Line, line, lineText, pluralize, quote, say } from '../../render/line.js';
import { panesOfResult } from '../../render/panes.js';
import type { ProblemLines } from '../../render/problems-tab.js';
import { cutLine } from '../../render/terminal/fit.js';
import { callName, secretsOfCall, toolCallDetails, toolCallRow } from '../../render/tool-calls.js';
import { newsOf } from '../../render/tool-news.js';
import type { TimelineEntry } from '../../render/wire.js';
import { Memo } from '../../util/collections.js';
import { decodeUtf8 } from '../../util/text.js';
import { type ListDetail, tableOf, WITH_PANES } from '../calls/list-detail.js';
import { CALL_TABS, callSheets, recentSheets, type ShownCall } from '../calls/tabs.js';
import { onePart, panePart, type Sheet } from '../document/documents.js';
import { type FullScreenOptions, fullScreen } from '../full-screen.js';
import { bind, Keys } from '../keys.js';
import { CALL_COLUMNS } from '../layout.js';
import {
  LIST_KEYS,
  ListScreen,
  READING_KEYS,
  type ScreenOptions,
  tabKeys,
  unlessEmpty,
} from '../list-screen.js';

interface MockControls {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Sends the last callback of a call again; false if absent. */
  readonly redeliver: (key: string) => boolean;
  /** Sends the callbacks that the calls with this id in this thread wait for; returns the number of those calls. */
  readonly fire: (id: string, groupId: string) => number;
  /** Reloads the fixture files, and reports the result as a notice. */
  readonly reload: () => void;
  /** Called for `q` or Ctrl-C, each time. The caller stops the mock, then closes the screen. */
  readonly quit: () => void;
}

interface MockOptions extends ScreenOptions {
  readonly tool: Readonly<Record<'name' | 'url' | 'seed', string>> & { readonly fixtures: number };
  readonly controls: MockControls;
  /** The supported types of display segments (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
}

const TABS = [{ name: 'call', title: 'Call' }, ...CALL_TABS] as const;

type Tab = (typeof TABS)[number]['name'];

const TABLE = {
  columns: [
    CALL_COLUMNS.time,
    CALL_COLUMNS.operation,
    CALL_COLUMNS.args,
    CALL_COLUMNS.id,
    CALL_COLUMNS.thread,
    { name: 'answeredBy', title: 'ANSWERED BY', max: 22 },
  ],
  dispensable: ['thread', 'id', 'args', 'answeredBy', 'time', 'args'],
} as const;

/** Maximum width of the name: a longer one would leave no room for the URL. */
const MAX_NAME = 16;
const MISSING = 'The selected call is no longer remembered: ↑ and ↓ select another, G the newest.';

export const MOCK_KEYS = new Keys<MockView>([
  bind('everywhere', 'p', 'pause or resume deliveries', mock => mock.pause(), 'pause/resume'),
  bind('everywhere', 'R', 'reload the fixture files', mock => mock.controls.reload(), 'reload'),
  bind('everywhere', '?', 'show or hide the keys', mock => mock.toggleHelp()),
  bind('everywhere', 'q ctrl+c', 'quit: pending deliveries are sent first', mock => mock.quit()),
  ...LIST_KEYS,
  ...tabKeys('calls', TABS),
  bind<MockView>('calls', 'r', 'send the last callback again', mock => mock.replay(), unlessEmpty('replay')),
  bind<MockView>(
    'calls',
    'f',
    'send what the call waits for: an event, a consent, the default choice',
    mock => mock.fire(),
    unlessEmpty('fire'),
  ),
  ...READING_KEYS,
]);

export class MockView extends ListScreen {
  readonly list: ListDetail<ToolCall, Tab>;
  readonly controls: MockControls;
  protected readonly keys: Keys<MockView> = MOCK_KEYS;
  readonly #options: MockOptions;
  readonly #calls = new RecentCalls();
  /** Reset to null by each event. */
  #keys: readonly string[] | null = null;
  readonly #sheets = recentSheets<Tab>();
  /** Counts of all calls so far, including those that are no longer remembered. */
  readonly #counts = { calls: 0, unmatched: 0, undelivered: 0 };
  #isPaused = false;

  constructor(options: MockOptions, onChange: () => void) {
    super(options, onChange);
    this.#options = options;
    this.controls = options.controls;
    this.list = this.listDetail({
      title: 'Calls',
      tabs: TABS,
      ...WITH_PANES,
      entries: () => {
        this.#keys ??= this.#calls.keys;
        return { keys: this.#keys, get: key => this.#calls.get(key)?.call };
      },
      missing: MISSING,
      titleOf: ({ invocation, addressee }) => `${invocation?.operation ?? 'a call'} ${addressee?.id ?? ''}`,
      textOf: ({ invocation, addressee, answeredBy, deliveries }) => [
        invocation?.operation,
        invocation?.arguments,
        addressee?.id,
        addressee?.group_id,
        answeredBy,
        ...deliveries.map(({ body }) => body?.text),
      ],
      ...tableOf(
        () => TABLE,
        (call: ToolCall, isSelected) => toolCallRow(call, this.now, isSelected),
      ),
      sheetOf: ({ key }, tab) => {
        const recent = this.#calls.get(key);
        return recent ? this.#sheets.of(recent.events, () => this.#sheetsOf(recent))[tab]() : [];
      },
      empty: () => [
        line`No calls yet.`,
        [say('Give a runtime this URL, or try it from another terminal, by hand:', 'dim')],
        [say('  protocol-cli invoke -i ', 'dim'), say(options.tool.url, 'running')],
      ],
    });
  }

  override event(event: Event): void {
    super.event(event);
    this.#calls.apply(event);
    this.#keys = null;
    if (event.kind === 'request' && event.purpose === 'invocation' && event.attempt === 1)
      this.#counts.calls++;
    if (event.kind === 'matched' && event.fixture === null) this.#counts.unmatched++;
    if (event.kind === 'dropped' && event.what === 'callback') this.#counts.undelivered += event.count;
    const news = event.calls?.length ? null : newsOf(event, {});
    if (news) this.note('event', [news]);
  }

  get summary(): string {
    return lineText(this.#tally);
  }

  /** `12 calls · 1 unmatched · 2 undelivered` */
  get #tally(): Line {
    const { calls, unmatched, undelivered } = this.#counts;
    const found = (count: number, what: string, tone: 'warn' | 'bad') =>
      count > 0 && line`${say(' · ', 'dim')}${say(`${count} ${what}`, tone)}`;
    const [odd, lost] = [found(unmatched, 'unmatched', 'warn'), found(undelivered, 'undelivered', 'bad')];
    return line`${say(pluralize(calls, 'call'), 'dim')}${odd}${lost}`;
  }

  pause(): void {
    this.#isPaused = !this.#isPaused;
    if (this.#isPaused) this.controls.pause();
    else this.controls.resume();
    this.say(this.#isPaused ? 'Deliveries are held back until p is pressed again.' : 'Deliveries go on.');
  }

  replay(): void {
    const call = this.#selected('replay');
    if (!call) return;
    const isSent = this.controls.redeliver(call.key);
    this.say(
      isSent
        ? 'The last callback of the call is sent once more.'
        : 'The call has no callback that could be sent again.',
    );
  }

  fire(): void {
    const { addressee } = this.#selected('fire') ?? {};
    if (!addressee) return;
    const count = this.controls.fire(addressee.id, addressee.group_id);
    this.say(count > 0 ? 'Sent.' : 'The call waits for nothing that could be sent.');
  }

  quit(): void {
    this.controls.quit();
    this.say('Ending: pending deliveries are sent first.');
  }

  /** A small screen hides the list while the details have the focus, so the head names the call. */
  protected head(): readonly Line[] {
    const { name, url, seed, fixtures } = this.#options.tool;
    const call = this.list.isReading ? this.list.entry : undefined;
    const paused = this.#isPaused && [say('‖ deliveries are held back', 'warn'), say(' · ', 'dim')];
    const about = [say(` · ${pluralize(fixtures, 'fixture')} · seed `, 'dim'), ...quote(seed, 'dim')];
    return [
      line`${cutLine(quote(name, 'title'), MAX_NAME)}  ${say(url, 'running')}${call && line`  ${callName(call)}`}`,
      line`${paused}${this.#tally}${about}`,
    ];
  }

  #selected(action: string): ToolCall | undefined {
    const { entry, isEmpty } = this.list;
    if (!entry) this.say(isEmpty ? `No call to ${action}.` : MISSING);
    return entry;
  }

  #sheetsOf(recent: RecentCall): Record<Tab, () => Sheet> {
    const callNow = () => this.#calls.get(recent.call.key)?.call ?? recent.call;
    const call = new ReceivedCall(recent, callNow, this.#options.supports);
    return { call: () => call.details, ...callSheets(call, this.onChange) };
  }
}

type RecentCall = NonNullable<ReturnType<RecentCalls['get']>>;

const CALL = [say('CALL', 'title'), say(' the invocation and its callbacks', 'dim')];

const RESULT: Line = [say('RESULT', 'title')];

/** A call as its tool saw it. There are no steps: steps belong to a runtime. */
class ReceivedCall implements ShownCall {
  /** Contains the secrets of all events. */
  readonly redactor = callbackRedactor();
  readonly running = [];
  readonly emptyViewsText = 'this call shows no views';
  readonly checkedSide = 'of the runtime, ';
  readonly #entries: TimelineEntry[] = [];
  readonly #details = new Memo<Sheet>();
  readonly #result = new Memo<Sheet>();
  readonly #views = new Memo<readonly View[]>();

  constructor(
    private readonly recent: RecentCall,
    private readonly callNow: () => ToolCall,
    private readonly supports: ReadonlySet<string>,
  ) {}

  get entries(): readonly TimelineEntry[] {
    for (const event of this.recent.events.slice(this.#entries.length)) {
      const own = unread(event);
      this.redactor.learn(own);
      this.#entries.push({ event: own, steps: [] });
    }
    return this.#entries;
  }

  get forgotten(): number {
    return this.recent.forgotten;
  }

  get revision(): number {
    return this.entries.length;
  }

  get details(): Sheet {
    const call = this.callNow();
    return this.#details.of([call], () => onePart(CALL, toolCallDetails(call)));
  }

  /** The human's and the LLM's pane in a runtime that accepts the result (RT-DISPLAY, RT-TEXT). */
  get result(): Sheet {
    const call = this.callNow();
    const result = call.deliveries.find(each => typeOfDelivery(each) === 'tool_result');
    const isExpected = ['waiting', 'asking'].includes(toolCallState(call));
    if (!result) return onePart(RESULT, [[say(`none was sent${isExpected ? ' yet' : ''}`, 'dim')]]);
    const parts = this.#result.of([result.body], () => this.#resultOf(result, call));
    return parts.map(part => ({ ...part, title: [...part.title, ...deliveryState(result)] }));
  }

  #resultOf(result: CallbackDelivery, call: ToolCall): Sheet {
    const reading = messageIn(result, call);
    if (reading.ok && reading.message.type === 'tool_result') {
      const { human, llm } = panesOfResult(reading.message, this.supports);
      return [panePart(human), panePart(llm)];
    }
    const faults = reading.ok ? [] : reading.faults;
    return onePart(RESULT, [
      [say('a runtime rejects this result:', 'warn')],
      ...faults.map(fault => quote(fault)),
    ]);
  }

  /** The views of the thread that this call set, if the runtime accepted them. */
  get views(): readonly View[] {
    const call = this.callNow();
    return this.#views.of([call.deliveries], () => viewsOf(call));
  }

  /** Checks the runtime that made the call by the events that its tool saw. */
  async judge(): Promise<ProblemLines> {
    const { judgedRuntimeLines } = await import('../../render/problems-tab.js');
    const { discovery, forgotten } = this.recent;
    const events = [...discovery.map(unread), ...this.entries.map(({ event }) => event)];
    const gone = `checked without ${forgotten} events that are no longer remembered`;
    const { warnings } = this.callNow();
    return judgedRuntimeLines(events, forgotten === 0 ? warnings : [gone, ...warnings], this.redactor);
  }
}

/** A callback as a runtime reads it, without the secrets of callback URLs that it may quote. */
function messageIn({ body }: CallbackDelivery, call: ToolCall): CallbackReading {
  const text = body && decodeUtf8(body.bytes);
  return readCallback(new Content(Buffer.from(secretsOfCall(call).text(text ?? ''))).json);
}

function deliveryState(result: CallbackDelivery): Line {
  if (isDelivered(result)) return [];
  const isSending = result.attempts.some(({ endedAt }) => endedAt === undefined);
  return isSending ? [say(' · being sent', 'running')] : [say(' · not accepted by the runtime', 'bad')];
}

function viewsOf(call: ToolCall): readonly View[] {
  let views: ReadonlyMap<string, View> = new Map();
  for (const delivery of call.deliveries.filter(isDelivered)) {
    if (typeOfDelivery(delivery) !== 'view_update') continue;
    const reading = messageIn(delivery, call);
    if (!reading.ok || reading.message.type !== 'view_update') continue;
    const at = delivery.attempts[0]?.at ?? 0;
    views = withUpdate(views, reading.message, { at, call: call.key, size: delivery.body?.size ?? 0 });
  }
  return [...views.values()];
}

/** Shows the calls of a mock full screen. It only listens, and never blocks the mock. Needs a terminal on stdin and stdout. */
export function mockScreen(options: MockOptions & FullScreenOptions) {
  return fullScreen(onChange => new MockView(options, onChange), options);
}
