import type { Event } from '../../../src/events/events.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  CHOICE,
  call,
  EVENT,
  eventsOf,
  type Moment,
  resultArrives,
} from '../../events/build.js';
import { discovery, notice, someCall, stray, TOOLSET } from './parts.js';
import type { Sample, SampleSet } from './sample.js';

const a = someCall('a');
const begun = [...call(), ...acknowledged()];
const misnamed = { ...TOOLSET, tools: [{ ...TOOLSET.tools[0], name: 'no good' }] };

/** Violations in a complete transcript. */
function lossy(title: string, events: readonly Event[], more: Partial<Sample> = {}): Sample {
  return { title, events, isLossy: true, status: 'could-not-run', says: /recording is incomplete/, ...more };
}

const connectionRefused: Moment[] = resultArrives().map(moment =>
  moment.kind === 'response'
    ? { kind: 'broken', leg: moment.leg, phase: 'connect', code: 'ECONNREFUSED', calls: ['call_abc123'] }
    : moment,
);

const again = (moments: Moment[]) => moments.map(each => ({ ...each, leg: 'again' }) as Moment);
const unkept = (moments: Moment[]) => moments.map(each => ({ ...each, body: undefined }) as Moment);

/** Missing events are no violations in an incomplete transcript, since they may be in the missing part. */
const cancelled = (status = 200) =>
  notice('cancel', { status }, { body: { thread_id: 'a', tool_call_id: 'a' } });

export const LOSSY: SampleSet = {
  'TOOL-DISCOVER': [
    lossy('404 at the base, and whatever came at the origin', eventsOf(discovery('', { status: 404 }))),
  ],
  'TOOL-OPAQUE': [
    lossy(
      'a post to a wrong address, and a call of which nothing is left',
      eventsOf(a.begun(), stray(), a.waited()),
    ),
  ],
  'RT-FIELDS': [
    lossy('a callback_url that no one could reach, as far as is left', eventsOf(begun, connectionRefused), {
      observer: 'tool',
    }),
  ],
  'RT-NON200': [lossy('a result after a 201', eventsOf(call(), answered(201), at(50, resultArrives())))],
  'RT-CHOICE': [
    lossy(
      'a selection whose body was not kept',
      eventsOf(
        begun,
        arrives(CHOICE),
        unkept(a.selected().map(each => ({ ...each, calls: ['call_abc123'] }))),
      ),
      { says: /not recorded/ },
    ),
  ],
  'RT-SUB': [
    lossy(
      'an event refused, after what may have been the last one',
      eventsOf(begun, resultArrives({ subscription: true }), arrives(EVENT, { leg: 'event', status: 404 })),
    ),
  ],
  'RT-NOTIFY': [
    lossy(
      'a notice whose answer is not there, and the same again',
      eventsOf(cancelled().slice(0, 1), again(cancelled())),
    ),
    lossy('a notice that failed, and the same again', eventsOf(cancelled(500), cancelled()), {
      status: 'fail',
      says: /sent again$/,
    }),
  ],
  'RT-TOOLSET': [
    lossy('a call after an invalid toolset', eventsOf(discovery(misnamed), begun, resultArrives())),
  ],
};
