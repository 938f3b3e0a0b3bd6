import { answered, at, call, eventsOf, lost, resultArrives, timedOut } from '../../../events/build.js';
import { discovery, notice, someCall, stray, TOOLSET } from '../parts.js';
import { fails, passes, type SampleSet, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const extra = someCall('extra', { x_trace: 1 });
const begun = () => a.begun();
const unreadable = () => a.sent(Buffer.from([0x22, 0xff, 0x22]));

const traced = someCall('traced', { x_trace: 2 });
const user = someCall('user', { user_id: 'user_1' });
const noUser = someCall('no-user', { user_id: null });
const polluting = someCall('polluting', { ['__proto__']: { admin: true } });

/** A callback that a listener refused before reading its body. */
const turnedAway = (status: number) => a.posts(null, { status, refusal: 'a reason', type: 'text/plain' });

/** Edge cases of the tool's rules. */
export const NEAR_TOOL: SampleSet = {
  'TOOL-ACK': [
    fails(
      'a 500 with a member of the protocol',
      [a.begun(), user.begun({ status: 500 })],
      /^answered 500 to members that the protocol defines, and 200 without them: user_id$/,
    ),
    fails(
      'a 422 with an optional member that is null',
      [a.begun(), noUser.begun({ status: 422 })],
      /without them: user_id: null$/,
    ),
    unclear('no response until the end', [call()], /never answered/),
    fails(
      'a timeout, and then a broken connection',
      [call(), at(60_000, timedOut()), lost('ECONNRESET', { phase: 'answer' })],
      /ECONNRESET/,
    ),
    fails(
      'no response within our time limit',
      [call(), at(5_000, timedOut(5_000)), lost('ETIMEDOUT', { phase: 'answer' })],
      /no answer within 5s/,
    ),
    ...(
      [
        [5_000, 'ETIMEDOUT', 'fail', /^no answer within 5s$/],
        [2_400, 'ECONNRESET', 'fail', /ECONNRESET/],
      ] as const
    ).map(([waited, code, status, says]) => ({
      title: `${code} after ${waited} ms, and a fast response at another time`,
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
    fails('a connection that breaks while sending', [call(), lost('EPIPE', { phase: 'send' })]),
    fails(
      'a 403, which does not ask for credentials',
      [a.sent(), a.answered({ status: 403, body: 'CSRF verification failed' })],
      /^answered 403: CSRF verification failed$/,
    ),
    unclear(
      'a 403 that asks for credentials',
      [a.sent(), a.answered({ status: 403, headers: { 'www-authenticate': 'Bearer' } })],
      /credentials/,
    ),
    fails(
      'a redirect',
      [a.sent(), a.answered({ status: 307, headers: { location: '/invoke/' } })],
      /^answered 307: it redirects to \/invoke\/, with a slash at the end$/,
    ),
    warns('a 500, and then a 200', [
      call(),
      answered(500),
      call({ attempt: 2 }),
      answered(200, { attempt: 2 }),
    ]),
    fails('a 404, and then a 200', [
      call(),
      answered(404),
      call({ attempt: 2 }),
      answered(200, { attempt: 2 }),
    ]),
    passes('a 400 because of an unknown member', [a.begun(), extra.begun({ status: 400 })]),
    fails('a 400, and a 200 with the same members', [
      a.begun(),
      traced.begun(),
      traced.result(),
      extra.begun({ status: 400 }),
    ]),
    passes('a 200 exactly at the limit', [call(), at(250, answered(200))]),
    warns('a 200 after exactly a second', [call(), at(1_000, answered(200)), at(2_000, resultArrives())]),
  ],
  'TOOL-EXTRA': [
    unclear(
      'an unreadable body',
      [extra.begun(), extra.posts('{', { status: 400 })],
      /no outcome that can be judged/,
    ),
    skips('a 503, also without the extra fields', [a.begun({ status: 503 }), extra.begun({ status: 503 })]),
    skips('a 400, but a 503 without the extra fields', [
      a.begun({ status: 503 }),
      extra.begun({ status: 400 }),
    ]),
    unclear(
      'in a check, a 503, also without the extra fields',
      [a.begun({ status: 503 }), extra.plannedFor(['TOOL-EXTRA']), extra.begun({ status: 503 })],
      /answered 503, which its unknown members do not explain/,
    ),
    skips('a 400, and a 200 without the extra fields for other arguments', [
      a.sent({ ...a.invocation, arguments: { path: 'b' } }),
      a.answered(),
      extra.begun({ status: 400 }),
    ]),
    warns(
      'a 400, and a 200 without the extra fields',
      [a.begun(), extra.begun({ status: 400 })],
      /^answered 400 to unknown members, and 200 without them: x_trace$/,
    ),
    passes('a 400, and a 200 with the same extra fields', [
      a.begun(),
      traced.begun(),
      traced.result(),
      extra.begun({ status: 400 }),
    ]),
    warns(
      'a 201 and a result, and a 200 without the extra fields',
      [a.begun(), extra.begun({ status: 201 }), extra.result()],
      /^answered 201 to unknown members, and 200 without them: x_trace$/,
    ),
    passes(
      'a 400 with a key of prototypes',
      [a.begun(), b.begun(), polluting.begun({ status: 400 })],
      /^answered 400 to a member that can pollute a prototype, which is no fault: __proto__$/,
    ),
  ],
  'TOOL-MALFORMED': [
    unclear(
      'a request that could not be sent',
      [a.sent('{'), a.answered({ status: null, code: 'ECONNREFUSED', phase: 'connect' }), discovery()],
      /could not be sent/,
    ),
    warns('500 to a body that is not text', [unreadable(), a.answered({ status: 500 })]),
    unclear(
      '302 to a body that is not text',
      [unreadable(), a.answered({ status: 302 })],
      /redirects invocations/,
    ),
  ],
  'TOOL-DISCOVER': [
    warns(
      'null for a boolean, which the reference refuses',
      [discovery({ ...TOOLSET, needsMigration: null })],
      /^null counts as absent for an optional member; leave it out instead: \$\.needsMigration; strict runtimes, such as the reference, refuse it: the whole toolset is lost$/,
    ),
    unclear('403', [discovery('', { status: 403 })], /^discovery answered 403$/),
    unclear('canceled', [discovery('', { status: null, code: 'ABORTED' })], /was canceled/),
  ],
  'TOOL-CHOICE': [
    unclear(
      'a selection without a response at the end',
      [begun(), a.asks(), a.selected().slice(0, 1)],
      /had not answered/,
    ),
    fails(
      'a result before the selection, and none after it',
      [begun(), a.asks(), a.result(), at(50, a.selected()), at(5_050, a.waited())],
      /of the selection$/,
    ),
  ],
  'TOOL-NORETRY': [
    ...[408, 429].map(status => ({
      title: `retried after a ${status}`,
      events: eventsOf(begun(), at(100, a.result({}, { status })), at(400, a.result())),
      status: 'not-applicable' as const,
    })),
    passes('a result for another call, after the first was refused', [
      begun(),
      at(100, a.result({}, { status: 400 })),
      at(2_000, a.result({ id: 'b', text: 'x' })),
    ]),
    passes('another result before the refused one', [
      begun(),
      at(90, a.result({ text: 'first' })),
      at(100, a.result({}, { status: 400 })),
      at(2_000, a.waited()),
    ]),
  ],
  'TOOL-POST': [
    warns(
      'null for a boolean of an event, which the reference refuses',
      [begun(), a.result({ subscription: true }), a.news({ associative: null })],
      /\$\.associative; strict runtimes, such as the reference, refuse it: the whole message is lost$/,
    ),
    warns(
      'null for a string, which no runtime refuses',
      [begun(), a.result({ display_as: null })],
      /leave it out instead: \$\.display_as$/,
    ),
    fails('no body', [begun(), a.posts(null)], /has no body/),
    ...[400, 415].map(status => ({
      title: `refused with ${status}`,
      events: eventsOf(begun(), turnedAway(status)),
      status: 'fail' as const,
      says: /was refused with/,
    })),
    warns('refused with 403', [begun(), turnedAway(403)]),
    ...[399, 408, 500, 503].map(status => ({
      title: `refused with ${status}`,
      events: eventsOf(begun(), turnedAway(status)),
      status: 'not-applicable' as const,
    })),
  ],
  'TOOL-OPAQUE': [
    passes('a request to a wrong address that is not a POST', [
      begun(),
      a.result(),
      stray(undefined, { method: 'GET' }),
    ]),
    warns(
      'a POST to a wrong address, and an answered call',
      [begun(), b.begun(), b.result(), stray(), a.result(), a.waited()],
      /^a callback was posted to a wrong address: /,
    ),
    passes('a POST that was refused for another reason', [
      begun(),
      a.result(),
      stray().map(each =>
        each.kind === 'response' ? { ...each, status: 403, refusal: 'foreign-host' } : each,
      ),
    ]),
    warns('a POST to a wrong address, and a call that may still be answered', [begun(), stray()]),
  ],
  'TOOL-MIGRATE': [
    fails(
      'a page that accepts no POST',
      [
        discovery({ ...TOOLSET, needsMigration: true }),
        notice('migrate', { status: 405, body: 'no session here' }),
      ],
      /\/migrate is missing/,
    ),
  ],
  'TOOL-RETRY': [
    passes('retried without a pause', [begun(), at(100, a.result({}, { status: 503 })), at(101, a.result())]),
  ],
  'TOOL-SUB': [
    skips('silence for too short a time after a cancel', [
      begun(),
      a.result({ subscription: true }),
      at(100, a.cancelled()),
      at(300, a.waited()),
    ]),
    unclear('a call that should start a subscription, without a result so far', [
      a.plannedFor(['TOOL-SUB']),
      begun(),
    ]),
  ],
};
