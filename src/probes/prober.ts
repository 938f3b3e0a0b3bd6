import { type Probed, type Stimulus, startCall } from './call.js';
import { type Desk, type Plan, recordPlan } from './desk.js';
import { came, type Letter } from './mailbox.js';
import { cameBy } from './patience.js';

/** Makes the calls of one plan. */
export interface Prober {
  send(stimulus: Stimulus): Probed;
  /** Waits for a call's result, and the end of its conversation; that none came in time is told. */
  finish(call: Probed): Promise<void>;
  /** Sends, and waits until that is finished. */
  call(stimulus: Stimulus): Promise<Probed>;
  /** Waits for what is to come for a call, `ms` at most, the window unless told. False where it did not, which is told. */
  sees(call: Probed, isEnough: (letters: readonly Letter[]) => boolean, ms?: number): Promise<boolean>;
}

/** Calls are named by their plan, and counted: the same in each run. */
export function proberFor(desk: Desk, plan: Plan): Prober {
  let count = 0;
  const { wire, signal } = desk;
  const prober: Prober = {
    send(stimulus) {
      const key = `${plan.id} ${++count}`;
      recordPlan(wire, plan, [key]);
      return startCall(desk, key, stimulus);
    },
    async finish(call) {
      await prober.sees(call, came('tool_result'));
      await Promise.all([call.acknowledged, call.converse()]);
    },
    async call(stimulus) {
      const call = prober.send(stimulus);
      await prober.finish(call);
      return call;
    },
    async sees({ key, mailbox }, isEnough, ms = desk.windowMs) {
      const isSeen = await cameBy(desk, ms, mailbox.until(isEnough));
      if (!isSeen && !signal.aborted)
        wire.log.emit({ kind: 'expired', what: 'observation', afterMs: ms, calls: [key] });
      return isSeen;
    },
  };
  return prober;
}
