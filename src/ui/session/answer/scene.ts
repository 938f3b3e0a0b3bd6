import type { Exchange } from '../../../exchange/exchange.js';
import type { Session } from '../../../exchange/session/session.js';
import type { OAuth, UserChoice } from '../../../protocol/callbacks/index.js';
import type { KnownSession } from '../../../reporters/session/reporter.js';
import type { Line } from '../../../story/line.js';
import { llmPane, type Pane, type Panes, panesOf } from '../../../story/panes.js';
import { type Given, givenOf } from '../../../story/session/given.js';
import { type KnownCall, knownCalls } from '../../../story/session/known.js';
import { foreignWords } from '../../../text/foreign-words.js';
import { onceEach } from '../../../text/once-each.js';

/** Everything that there is to see while a session is answered, but for what tools ask and show besides. */
export interface AnswerScene {
  readonly id: string;
  readonly url: string;
  /** Undefined until the platform has told of it. */
  readonly session: Session | undefined;
  /** Oldest first. */
  readonly calls: readonly KnownCall[];
  /** The call that was answered last: what is shown of it. */
  readonly latest: KnownCall | undefined;
  /** What a person is asked now. */
  readonly asks: UserChoice | OAuth | null;
  /** The call whose tool asks it. */
  readonly asking: KnownCall | undefined;
  /** What is the matter, where nothing else says it. */
  readonly status: readonly Line[];
  /** Nothing more happens: the frame is the last one. */
  readonly isOver: boolean;
  /** Ms since the start. */
  readonly now: number;
}

/** The calls of a session, which of them was answered last, and which of them asks. */
export function callsOf(
  session: Session | undefined,
  { history }: KnownSession,
  asks: AnswerScene['asks'] = null,
): Pick<AnswerScene, 'calls' | 'latest' | 'asking'> {
  const calls = session ? knownCalls(session, history) : [];
  const answered = calls.filter(({ call }) => call.answer !== null);
  const latest = answered.reduce<KnownCall | undefined>(
    (last, each) => ((each.call.answer?.at ?? 0) >= (last?.call.answer?.at ?? 0) ? each : last),
    undefined,
  );
  const asking = calls.find(({ call }) => call.key === asks?.id); // an invocation has the key of its call as its id
  return { calls, latest, asking };
}

/** What the human sees beside what the LLM gets of a call for which a RAP tool was called; made once for each. */
export function panesOfCalls(supports: ReadonlySet<string>): (known: KnownCall | undefined) => Panes | null {
  const panesOnce = onceEach((exchange: Exchange) => panesOf(exchange, supports));
  return known => (known?.exchange ? panesOnce(known.exchange) : null);
}

/** What the model gets of a call that was answered here. */
export function givenPane(known: KnownCall | undefined): Pane | null {
  const given = known ? givenOf(known) : null;
  return given?.text ? paneOnce(given) : null;
}

const paneOnce = onceEach((given: Given) => llmPane(given.text ?? '', true));

/** What the agent says in the end; null until it does. */
export function answerPane({ answer }: Session): Pane | null {
  return answer && answerPaneOnce(answer);
}

const answerPaneOnce = onceEach(({ value }: NonNullable<Session['answer']>): Pane => {
  const pane = llmPane(foreignWords(value), true);
  return { ...pane, title: 'answer', about: 'of the agent' };
});
