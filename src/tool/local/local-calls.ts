import { Content } from '../../exchange/content.js';
import { type InvocationReading, readInvocation } from '../../protocol/read-invocation.js';
import type { Clock } from '../../system/clock.js';
import type { Answers } from '../answers/answers.js';
import { type Plan, plain, refusal } from '../answers/plan.js';
import type { Caller } from '../conversation/call.js';
import { CANCELLED } from '../conversation/calling-off.js';
import type { WaitsDesk } from '../conversation/waits.js';
import { CallsUnderWay } from '../intake/calls-under-way.js';
import { Repeats } from '../intake/repeats.js';
import { carryOut } from '../intake/work.js';
import type { Asked, LocalCall, SentAnswer } from './local-call.js';
import { LocalConversation } from './local-conversation.js';
import { ToldCall } from './told-call.js';
import type { Wire } from './wire.js';

export interface LocalCallsParts {
  readonly desk: WaitsDesk;
  readonly ask: Partial<Asked>;
  readonly wire: Wire;
  /** Whether there is such an operation at all. */
  readonly offers: (operation: string) => boolean;
  /** Whoever answers at the moment: fixtures may be replaced. */
  readonly answers: () => Answers;
}

/** In the place of an address to call back: the answer is returned. */
const NO_CALLBACK = 'local:';
const ONE_THREAD = 'local';

/** Takes calls of this process, and answers each once. */
export class LocalCalls {
  readonly #underWay = new CallsUnderWay();
  readonly #names = new Repeats();
  #count = 0;

  constructor(private readonly parts: LocalCallsParts) {}

  /** Never rejects. */
  async answer(call: LocalCall): Promise<SentAnswer> {
    const { desk, ask, wire, offers } = this.parts;
    const { addressee, key, written } = this.#named(call);
    const { group_id: thread } = addressee;
    const body = Content.ofJson(written);
    const isOffered = () => offers(call.operation);
    const told = new ToldCall(desk.log, wire, { key, thread, isOffered, headers: call.headers ?? {}, body });
    const overflow = this.#underWay.problem(body.size);
    const callingOff = this.#underWay.begin(key, thread, body.size);
    const stopListening = heed(call.signal, () => {
      told.cancelled();
      callingOff.callOff(CANCELLED);
    });
    const caller = { key, addressee, base: NO_CALLBACK, callingOff };
    const reading = readInvocation({ ok: true, value: written, notes: [] });
    const plan = overflow === null ? await this.#plan(reading, caller, call) : refusal(overflow);
    for (const fact of plan.facts) desk.log.emit(Object.assign(fact, { calls: [key], thread }));
    const conversation = new LocalConversation(caller, desk, ask);
    void carryOut(plan, conversation, this.#underWay);
    const answer = await conversation.answer;
    if (answer.kind !== 'silence') stopListening(); // who waits in vain may still say that it does so no more
    return { ...answer, sent: told.ended(answer) };
  }

  /** Everything is due at once. Resolves when nothing is worked on; what still is after `ms` is called off. */
  async drain(ms: number, clock: Clock): Promise<void> {
    this.parts.desk.pauses.hurry();
    await new Promise<void>(resolve => {
      const cancel = clock.after(ms, resolve);
      void this.#underWay.idle().then(cancel).then(resolve);
    });
    this.#underWay.stop();
  }

  #named({ operation, arguments: args, id, groupId, key }: LocalCall) {
    const number = String(++this.#count);
    const addressee = {
      callback_url: NO_CALLBACK,
      group_id: groupId || ONE_THREAD,
      id: id || `call-${number}`,
    };
    const written = { operation, arguments: args, ...addressee };
    const made = this.#names.arrive(addressee.group_id, addressee.id, number).key; // each call is one of its own
    return { addressee, written, key: key ?? made };
  }

  async #plan(reading: InvocationReading, caller: Caller, { headers = {} }: LocalCall): Promise<Plan> {
    if (!reading.ok)
      return refusal(`the call is malformed: ${reading.faults.join('; ')}. Correct it and call again.`);
    try {
      return await this.parts.answers().plan({ caller, invocation: reading.invocation, headers }, 1);
    } catch (error) {
      return plain([], () => Promise.reject(error)); // said as any other failure of its work is
    }
  }
}

/** Returns how to heed the signal no longer. */
function heed(signal: AbortSignal | undefined, callOff: () => void): () => void {
  if (signal?.aborted) callOff();
  signal?.addEventListener('abort', callOff, { once: true });
  return () => signal?.removeEventListener('abort', callOff);
}
