import type { Event } from '../../events/events.js';
import type { Exchange } from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { roundTripsIn } from '../../events/round-trips.js';
import { failureOf } from '../../render/failure.js';
import { type Line, say, timedLine } from '../../render/line.js';
import { missingSteps } from '../../render/open-steps.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { stepLine } from '../../render/step.js';
import { StepLog } from '../../render/step-log.js';

/** A part of a transcript, with its own history; if there are several, the first one holds what belongs to no call. */
export class CallPart {
  readonly history: History;
  readonly timeline: readonly Line[];
  /** How many attempts are not shown. */
  readonly hidden: readonly Line[];
  /** The events of the messages to show. */
  readonly messages: readonly Event[];

  constructor(
    readonly events: readonly Event[],
    isWhole: boolean,
  ) {
    this.history = new History(isWhole);
    const log = new StepLog(this.history);
    for (const event of events) {
      this.history.apply(event);
      log.add(event);
    }
    const hidden = repeatedAttempts(events, this.exchange?.key);
    this.messages = events.filter(event => !('leg' in event && hidden.has(event.leg ?? '')));
    const steps = [...log.ended, ...missingSteps(this.history, events.at(-1)?.at ?? 0)];
    const shown = steps
      .toSorted((one, other) => one.at - other.at)
      .filter(({ leg }) => leg === undefined || !hidden.has(leg));
    this.timeline = shown.map(each => timedLine(each.at, stepLine(each)));
    const rest = `… ${hidden.size} attempts that ended like those around them are not shown`;
    this.hidden = hidden.size > 0 ? [[say(rest, 'dim')]] : [];
  }

  /** The call that the part is about, if any. */
  get exchange(): Exchange | undefined {
    return this.history.first;
  }

  /** Why the call has no result; null if it has one. */
  get failure(): Trouble | null {
    return this.exchange ? failureOf(this.exchange, this.history.untracked) : null;
  }
}

/** Up to this number, all attempts are shown. */
const MAX_ATTEMPTS = 10;

/** Returns the request ids of attempts that ended in the same way as those before and after them; empty for few attempts. */
function repeatedAttempts(events: readonly Event[], call: string | undefined): ReadonlySet<string> {
  const attempts = [...roundTripsIn(events).values()].filter(
    ({ request: { purpose, calls = [] } }) => purpose === 'invocation' && calls[0] === call,
  );
  if (call === undefined || attempts.length <= MAX_ATTEMPTS) return new Set();
  const ends = attempts.map(({ status, broken, request, response }) =>
    [status, broken?.code, request.body?.sha256, response?.body?.sha256].join(),
  );
  const isAlike = (at: number) => ends[at - 1] === ends[at] && ends[at + 1] === ends[at];
  return new Set(attempts.filter((_, at) => isAlike(at)).map(({ request }) => request.leg));
}
