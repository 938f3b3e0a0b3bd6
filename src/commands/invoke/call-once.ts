import type { Exchange } from '../../exchange/exchange.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { Trouble } from '../../reporters/reporter.js';
import { subscriptionEnd } from '../../runtime/following.js';
import { failureOf } from '../../story/failure.js';
import { answeringWith, isLeftOpen, unfitting } from './choices.js';
import { converse } from './converse.js';
import { type Finish, statusOfCall } from './finish.js';
import { notesOf } from './notes.js';
import { address, asideOf, cancelWhenInterrupted, type Opened, type Setting } from './opening.js';
import { linger, readerGone, waiting } from './stay.js';
import { takeLeave } from './take-leave.js';

/** After a cancel: what is on its way already is told. */
const FAREWELL_MS = 300;
/** Whoever has pressed Ctrl-C does not wait for a `--linger` of minutes. */
const LONGEST_FAREWELL_MS = 2_000;

/** Calls, tells the result as soon as it is here, stays as long as was asked for, and takes leave of the tool. */
export async function callOnce(setting: Setting, opened: Opened): Promise<Finish> {
  const invocation = address(setting, opened, setting.plan.identity);
  const { denial, runtime } = opened;
  if (denial) await tell(setting, opened, runtime.deny(invocation, denial));
  else await call(setting, opened, invocation);
  const exchange = setting.observation.history.exchanges.get(invocation.id);
  if (!exchange) throw new Error('a call that was made or denied has an exchange');
  await takeLeave(exchange, farewell(setting, opened));
  const trouble = troubleOf(setting, exchange);
  return { exchange, trouble, status: statusOfCall(exchange, trouble) };
}

async function call(setting: Setting, opened: Opened, invocation: Invocation): Promise<void> {
  const { plan, observation } = setting;
  const chooser = { choose: plan.options.choose, pick: observation.reporter.choose, ...asideOf(setting) };
  const stopCancelling = cancelWhenInterrupted(setting, invocation.id);
  const exchange = await converse(setting, opened, invocation, {
    answering: answeringWith(chooser),
    leave: pending => isLeftOpen(pending, chooser),
  });
  await tell(setting, opened, exchange);
  await stay(setting, exchange);
  stopCancelling();
}

async function tell(setting: Setting, { prepared }: Opened, exchange: Exchange): Promise<void> {
  const { history, reporter } = setting.observation;
  const notes = notesOf(setting.plan, prepared);
  await reporter.settled?.({ history, exchange, notes, trouble: troubleOf(setting, exchange) });
}

async function stay(
  { plan, observation, clock, interrupted, terminal }: Setting,
  { key, settled }: Exchange,
): Promise<void> {
  const { follow: isFollowing, linger: lingerMs = 0 } = plan.options;
  const { log, history } = observation;
  if (isFollowing) await Promise.race([subscriptionEnd(log, history, key), readerGone(terminal.stdout)]);
  if (lingerMs > 0 && (settled?.by === 'result' || settled?.by === 'timeout'))
    await linger({ log, clock, signal: interrupted.signal }, lingerMs);
}

function farewell({ plan, clock }: Setting, { prepared: { wire, base } }: Opened) {
  const ms = Math.min(plan.options.linger ?? FAREWELL_MS, LONGEST_FAREWELL_MS);
  return {
    wire,
    base,
    isOurThread: plan.identity.isOurThread,
    closes: plan.options.close !== false,
    listenOn: () => waiting(clock, ms),
  };
}

function troubleOf({ observation, plan, servers }: Setting, exchange: Exchange): Trouble | null {
  const failure = servers.explain(failureOf(exchange, observation.history.errands));
  const { choose } = plan.options;
  if (failure?.code !== 'decision-needed' || choose === undefined) return failure;
  return {
    ...failure,
    message: `--choose ${unfitting(exchange, choose)} is none of the choices that the tool offers`,
  };
}
