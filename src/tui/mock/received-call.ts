import { type RecentCalls, unread } from '../../events/bounded-events.js';
import { Content } from '../../events/content.js';
import { callbackRedactor } from '../../events/shareable.js';
import { type View, withUpdate } from '../../events/threads.js';
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
import type { ProblemLines } from '../../render/problems-tab.js';
import { secretsOfCall, toolCallDetails } from '../../render/tool-calls.js';
import type { TimelineEntry } from '../../render/wire.js';
import { Memo } from '../../util/collections.js';
import { decodeUtf8 } from '../../util/text.js';
import type { ShownCall } from '../calls/tabs.js';
import { onePart, panePart, type Sheet } from '../reading/parts.js';

export type RecentCall = NonNullable<ReturnType<RecentCalls['get']>>;

const CALL = [say('CALL', 'title'), say(' the invocation and its callbacks', 'dim')];

const RESULT: Line = [say('RESULT', 'title')];

/** A call as its tool saw it. There are no steps: steps belong to a runtime. */
export class ReceivedCall implements ShownCall {
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
