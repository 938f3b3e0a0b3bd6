import type { Body } from '../../events/events.js';
import type { Incoming } from '../../http/route.js';
import { CallbackServer, type ListenerOptions } from '../../runtime/callback-server.js';
import type { Wire } from '../../runtime/wire.js';
import { type CheckOptions, LiveCheck } from './live-check.js';
import type { ProbeCall, ProbePlan } from './probe-call.js';
import { CALLBACK_LIMITS, quota } from './quota.js';
import { SentCall } from './sent-call.js';

/** Maximum number of probes, and of calls of one probe, at a time. Most only wait, but a tool on a small machine must answer in time. */
export const PROBE_CONCURRENCY = 6;

/** Makes the calls of a check, and receives their callbacks. Each call waits for its own. */
export class Prober {
  readonly check: LiveCheck;
  readonly calls: SentCall[] = [];
  #callbacks: CallbackServer | undefined;

  constructor(options: CheckOptions) {
    this.check = new LiveCheck(options);
  }

  /** Sends requests to the tool. */
  get wire(): Wire {
    return this.check.options.wire;
  }

  /** @throws ProtocolCliError `port-in-use`. */
  async listen(options: ListenerOptions): Promise<void> {
    const { log } = this.wire;
    const isWithinQuota = quota(log, CALLBACK_LIMITS.refused, 'that were refused, or to a wrong address');
    const isOpen = { isTold: isWithinQuota, findsChanged: true }; // TOOL-OPAQUE
    this.#callbacks = await CallbackServer.start(log, options, isOpen);
  }

  async close(): Promise<void> {
    this.check.close();
    await this.#callbacks?.server.close();
  }

  /** Makes the calls of one plan. They are named by the plan and counted, so that each run has the same names. */
  client(plan: ProbePlan): ProbeClient {
    const name = plan.newServer ? `${plan.id} alone` : plan.id;
    let count = 0;
    const send = (call: ProbeCall) => this.send(plan, `${name} ${++count}`, call);
    const call = async (each: ProbeCall) => {
      const sent = send(each);
      await sent.finish();
      return sent;
    };
    return { send, call };
  }

  /** Sends an invocation once, unless nothing more can be found out. */
  send(plan: ProbePlan, key: string, call: ProbeCall): SentCall {
    const sent = new SentCall(this.check, key, call, plan);
    if (this.check.isAborted) return sent;
    this.check.recordPlan(plan, [key]);
    sent.post(this.#urlOf(sent));
    this.calls.push(sent);
    return sent;
  }

  /** Returns the callback URL of a call. */
  #urlOf(call: SentCall): string {
    const receive = (incoming: Incoming, body: Body) => call.receive(incoming, body);
    return this.#callbacks?.issue({ calls: [call.key], receive }).url ?? '';
  }

  /** Returns the status of the response; null without one. @param wire has the headers of the user whose thread it is */
  async closeThread(thread: string, wire = this.wire): Promise<number | null> {
    if (this.check.isAborted) return null;
    return (await wire.closeThread(thread, this.check.requestLimits)).status;
  }

  /** Whether the tool still answers a discovery. */
  isToolAlive(): Promise<boolean> {
    return this.wire.findDocument().then(
      () => true,
      () => false,
    );
  }
}

/** Makes the calls of one plan. */
export interface ProbeClient {
  /** Sends an invocation once, and answers the tool's questions. */
  readonly send: (call: ProbeCall) => SentCall;
  /** The same, and waits for its end. */
  readonly call: (call: ProbeCall) => Promise<SentCall>;
}
