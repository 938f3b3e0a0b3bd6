import { answered, at, call, eventsOf, lost, resultArrives, timedOut } from '../../../events/build.js';
import { discovery, notice, someCall, stray, TOOLSET } from '../parts.js';
import type { SampleSet } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const extra = someCall('extra', { x_trace: 1 });
const begun = () => [...a.sent(), ...a.answered()];
const unreadable = () => a.sent(Buffer.from([0x22, 0xff, 0x22]));
const picture = { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' };

/** A callback that a listener turned away before its body counted. */
const turnedAway = (status: number) => a.posts(null, { status, refusal: 'a reason', type: 'text/plain' });

/** What is nearly a breach of a tool's rules and is none, or nearly none and is one. */
export const NEAR_TOOL: SampleSet = {
  'TOOL-ACK': [
    {
      story: 'no answer until the end',
      events: eventsOf(call()),
      status: 'could-not-run',
      says: /never answered/,
    },
    {
      story: 'a wait in vain, and then a connection that breaks by itself',
      events: eventsOf(call(), at(60_000, timedOut()), lost('ECONNRESET', { phase: 'answer' })),
      status: 'fail',
      says: /ECONNRESET/,
    },
    {
      story: 'no answer for as long as we wait for one',
      events: eventsOf(call(), at(5_000, timedOut(5_000)), lost('ETIMEDOUT', { phase: 'answer' })),
      status: 'fail',
      says: /no answer within 5s/,
    },
    ...(
      [
        [5_000, 'ETIMEDOUT', 'fail', /^no answer within 5s$/],
        [2_400, 'ECONNRESET', 'fail', /ECONNRESET/],
      ] as const
    ).map(([waited, code, status, says]) => ({
      story: `${code} after ${waited} ms, and in time at another time`,
      events: eventsOf(
        call(),
        at(waited, timedOut(waited)),
        at(waited, lost(code, { phase: 'answer' })),
        at(6_000, a.sent()),
        at(6_010, a.answered()),
      ),
      status,
      says,
    })),
    {
      story: 'a connection that breaks while it is sent',
      events: eventsOf(call(), lost('EPIPE', { phase: 'send' })),
      status: 'fail',
    },
    { story: 'a 403', events: eventsOf(call(), answered(403)), status: 'could-not-run' },
    {
      story: 'a 500, and then a 200',
      events: eventsOf(call(), answered(500), call({ attempt: 2 }), answered(200, { attempt: 2 })),
      status: 'warn',
    },
    {
      story: 'a 404, and then a 200',
      events: eventsOf(call(), answered(404), call({ attempt: 2 }), answered(200, { attempt: 2 })),
      status: 'fail',
    },
    {
      story: 'a 200 after just as long as it may take',
      events: eventsOf(call(), at(250, answered(200))),
      status: 'pass',
    },
    {
      story: 'a 200 after just a second',
      events: eventsOf(call(), at(1_000, answered(200)), at(2_000, resultArrives())),
      status: 'warn',
    },
  ],
  'TOOL-EXTRA': [
    {
      story: 'what nobody can read',
      events: eventsOf(extra.sent(), extra.answered(), extra.posts('{', { status: 400 })),
      status: 'could-not-run',
      says: /no outcome that can be judged/,
    },
    {
      story: 'a 503, as without them',
      events: eventsOf(a.sent(), a.answered({ status: 503 }), extra.sent(), extra.answered({ status: 503 })),
      status: 'pass',
      says: /answered 503, as without the extra fields/,
    },
    {
      story: 'a 400, and a 503 without them',
      events: eventsOf(a.sent(), a.answered({ status: 503 }), extra.sent(), extra.answered({ status: 400 })),
      status: 'warn',
    },
  ],
  'TOOL-IMAGE': [
    {
      story: 'a picture that a text describes',
      events: eventsOf(begun(), a.result({ content: [{ type: 'text', text: 'a dot' }, picture] })),
      status: 'pass',
    },
    {
      story: 'a picture that is shown, and then a text',
      events: eventsOf(
        begun(),
        a.result({
          display_as: [
            { type: 'image', content: { data: picture.data, mediaType: picture.mediaType } },
            { type: 'text', content: 'a dot' },
          ],
        }),
      ),
      status: 'pass',
    },
  ],
  'TOOL-MALFORMED': [
    {
      story: 'what could not be sent',
      events: eventsOf(
        a.sent('{'),
        a.answered({ status: null, code: 'ECONNREFUSED', phase: 'connect' }),
        discovery(),
      ),
      status: 'could-not-run',
      says: /could not be sent/,
    },
    ...[302, 500].map(status => ({
      story: `${status} to what is no text at all`,
      events: eventsOf(unreadable(), a.answered({ status })),
      status: 'warn' as const,
    })),
  ],
  'TOOL-DISCOVER': [
    {
      story: '403',
      events: eventsOf(discovery('', { status: 403 })),
      status: 'could-not-run',
      says: /credentials/,
    },
    {
      story: 'called off',
      events: eventsOf(discovery('', { status: null, code: 'ABORTED' })),
      status: 'could-not-run',
      says: /was canceled/,
    },
    {
      story: 'lost',
      events: eventsOf(discovery('', { status: null })),
      status: 'could-not-run',
      says: /could not be reached/,
    },
  ],
  'TOOL-CHOICE': [
    {
      story: 'a selection that was not answered when it ended',
      events: eventsOf(begun(), a.asks(), a.selected().slice(0, 1)),
      status: 'could-not-run',
      says: /had not answered/,
    },
    {
      story: 'a result before the selection, and none after it',
      events: eventsOf(begun(), a.asks(), a.result(), at(50, a.selected()), at(5_050, a.waited())),
      status: 'fail',
      says: /of the selection: raise --probe-timeout/,
    },
  ],
  'TOOL-NORETRY': [
    ...[408, 429].map(status => ({
      story: `sent again after a ${status}`,
      events: eventsOf(begun(), at(100, a.result({}, { status })), at(400, a.result())),
      status: 'not-applicable' as const,
    })),
    {
      story: 'a result for another call, once the first was refused',
      events: eventsOf(
        begun(),
        at(100, a.result({}, { status: 400 })),
        at(2_000, a.result({ id: 'b', text: 'x' })),
      ),
      status: 'pass',
    },
    {
      story: 'another result before that which was refused',
      events: eventsOf(
        begun(),
        at(90, a.result({ text: 'first' })),
        at(100, a.result({}, { status: 400 })),
        at(2_000, a.waited()),
      ),
      status: 'pass',
    },
  ],
  'TOOL-POST': [
    {
      story: 'no body',
      events: eventsOf(begun(), a.posts(null)),
      status: 'fail',
      says: /has no body/,
    },
    ...[400, 415].map(status => ({
      story: `turned away with ${status}`,
      events: eventsOf(begun(), turnedAway(status)),
      status: 'fail' as const,
      says: /was refused with/,
    })),
    {
      story: 'turned away with 403',
      events: eventsOf(begun(), turnedAway(403)),
      status: 'warn',
    },
    ...[399, 408, 500, 503].map(status => ({
      story: `turned away with ${status}`,
      events: eventsOf(begun(), turnedAway(status)),
      status: 'not-applicable' as const,
    })),
  ],
  'TOOL-OPAQUE': [
    {
      story: 'a visit to a wrong address that is no post',
      events: eventsOf(begun(), a.result(), stray(undefined, { method: 'GET' })),
      status: 'pass',
    },
    {
      story: 'a post to a wrong address, and another call that is answered',
      events: eventsOf(begun(), b.sent(), b.answered(), b.result(), stray(), a.result(), a.waited()),
      status: 'warn',
      says: /^1 post to a wrong callback address$/,
    },
    {
      story: 'a post that was turned away for another reason',
      events: eventsOf(
        begun(),
        a.result(),
        stray().map(each =>
          each.kind === 'response' ? { ...each, status: 403, refusal: 'foreign-host' } : each,
        ),
      ),
      status: 'pass',
    },
    {
      story: 'a post to a wrong address, and a call that may still be answered',
      events: eventsOf(begun(), stray()),
      status: 'warn',
    },
  ],
  'TOOL-MIGRATE': [
    {
      story: 'a page that takes no POST',
      events: eventsOf(
        discovery({ ...TOOLSET, needsMigration: true }),
        notice('migrate', { status: 405, body: 'no session here' }),
      ),
      status: 'fail',
      says: /\/migrate is missing/,
    },
  ],
  'TOOL-RETRY': [
    {
      story: 'once again without a pause',
      events: eventsOf(begun(), at(100, a.result({}, { status: 503 })), at(101, a.result())),
      status: 'pass',
    },
  ],
  'TOOL-SUB': [
    {
      story: 'nothing for too short a time after a cancel',
      events: eventsOf(
        begun(),
        a.result({ subscription: true }),
        at(100, a.cancelled()),
        at(300, a.waited()),
      ),
      status: 'not-applicable',
    },
    {
      story: 'a call that should start one, and has no result yet',
      events: eventsOf(a.plannedFor(['TOOL-SUB']), begun()),
      status: 'could-not-run',
    },
  ],
};
