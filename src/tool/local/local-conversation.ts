import type { Outcome } from '../../outcome/outcome.js';
import { isRecord } from '../../text/is-record.js';
import type { Caller } from '../conversation/call.js';
import { Conversation, type Fields } from '../conversation/conversation.js';
import type { ChoiceQuestion, Consent, ConsentQuestion } from '../conversation/people.js';
import { textOfPayload } from '../conversation/text-of-payload.js';
import type { WaitsDesk } from '../conversation/waits.js';
import type { Asked, LocalAnswer, LocalMessage, LocalReply } from './local-call.js';

/** Why nothing is done any more for a call that has its answer. */
const OVER = 'the call has its answer';

/** Everything one call says to whoever waits for it in this process: one answer, and what came before it. */
export class LocalConversation extends Conversation {
  readonly #said: LocalMessage[] = [];
  #settle: (answer: LocalAnswer) => void = () => {};
  /** Resolves with the first answer; where there is to be none, it says so. */
  readonly answer = new Promise<LocalAnswer>(resolve => {
    this.#settle = resolve;
  });

  /** @param asked whoever answers questions; without anybody a choice is its default, and a consent is refused. */
  constructor(
    caller: Caller,
    private readonly desk: WaitsDesk,
    private readonly asked: Partial<Asked>,
  ) {
    super(caller, desk);
  }

  async payload(value: unknown): Promise<void> {
    const text = textOfPayload(value);
    this.#answerWith({
      kind: 'payload',
      text,
      payload: typeof value === 'string' ? value : JSON.parse(text),
    });
  }

  /** @throws TypeError for what is no JSON object. */
  async result(fields: Fields): Promise<void> {
    const result: unknown = JSON.parse(JSON.stringify(fields));
    if (!isRecord(result)) throw new TypeError('a result is a JSON object');
    this.#answerWith({ kind: 'verbatim', result });
  }

  async outcome(outcome: Outcome): Promise<void> {
    this.#answerWith({ kind: 'outcome', outcome });
  }

  override silence(): void {
    super.silence();
    this.#answerWith({ kind: 'silence' });
  }

  async event(fields: Fields): Promise<void> {
    const { group_id, id } = this.caller.addressee;
    this.begins(fields);
    this.#said.push({ type: 'subscription_event', group_id, tool_call_id: id, ...fields });
  }

  async view(fields: Fields): Promise<void> {
    this.#said.push({ type: 'view_update', group_id: this.caller.addressee.group_id, ...fields });
  }

  async choice(question: ChoiceQuestion, withinMs?: number): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    if (this.asked.choice) return this.#ask('choice', this.asked.choice(question), withinMs);
    this.warn(`nobody is there to answer "${prompt}": the default counts, "${choices[preset] ?? preset}"`);
    return this.#decided('choice', 'policy', preset);
  }

  async consent(question: ConsentQuestion, withinMs?: number): Promise<Consent | null> {
    if (this.asked.consent) return this.#ask('consent', this.asked.consent(question), withinMs);
    this.warn(`nobody is there to authorize ${question.operation}: it counts as refused`);
    return this.#decided('consent', 'policy', 'refused');
  }

  async #ask<A extends string | number>(
    what: 'choice' | 'consent',
    answering: Promise<A | null>,
    withinMs: number | undefined,
  ): Promise<A | null> {
    const { pauses, log } = this.desk;
    const since = pauses.now();
    const answer = await pauses.within(answering, withinMs, this.caller.callingOff);
    if (answer !== null) return this.#decided(what, 'person', answer);
    if (!this.isCancelled)
      log.emit({
        kind: 'expired',
        what: 'answer',
        afterMs: Math.round(pauses.now() - since),
        ...this.about(),
      });
    return null;
  }

  #decided<A extends string | number>(what: 'choice' | 'consent', by: 'person' | 'policy', value: A): A {
    this.desk.log.emit({ kind: 'decided', what, by, value, ...this.about() });
    return value;
  }

  /** The first answer counts; what a reply still has to say would reach nobody, so the rest of it is called off. */
  #answerWith(reply: LocalReply): void {
    this.answered();
    this.#settle({ ...reply, said: [...this.#said] });
    this.caller.callingOff.callOff(OVER);
  }
}
