import {
  acknowledged,
  answered,
  arrives,
  at,
  CHOICE,
  call,
  canceled,
  chose,
  closed,
  denied,
  EVENT,
  expected,
  gaveUp,
  KEY,
  lingered,
  loaded,
  lost,
  type Moment,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  untrackedRequest,
  VIEW,
} from '../events/build.js';

/*
 * The events of each flow of a call.
 */

const started = () => [at(0, loaded()), at(1, call()), at(4, acknowledged())];

/** An event of the call's subscription. */
export const event = (leg: string, fields: object = {}): Moment[] =>
  arrives({ ...EVENT, ...fields }, { leg });
/** The user's selection on its way to the tool; `null` where it cannot be reached. */
export const selected = (status: number | null = 200): Moment[] =>
  untrackedRequest('choice', status).map(moment => ({ ...moment, calls: [KEY] }));
export const view = (leg: string, patch: string): Moment[] =>
  arrives({ ...VIEW, content: patch === '' ? {} : { patch } }, { leg });

const subscribed = () => [...started(), at(9, resultArrives({ subscription: true }))];
const PATCH = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n';

export const FLOWS: Readonly<Record<string, readonly Moment[][]>> = {
  nothing: [],
  'a discovery that failed': [untrackedRequest('discovery', 404)],
  'a result': [...started(), at(1_213, resultArrives()), at(1_220, closed())],
  'a result of images': [...started(), resultArrives({ text: undefined, content: [] })],
  'a failure by convention': [...started(), resultArrives({ text: '{"denied":{"tool":"x"}}' })],
  'a display': [...started(), resultArrives({ display_as: [{ type: 'hologram', content: 1, more: 2 }] })],
  pending: started(),
  'a refusal': [at(0, call()), at(3, answered(400, { body: 'no' })), at(4, gaveUp())],
  unreachable: [at(0, call()), lost(), call({ attempt: 2 }), lost('ECONNRESET', { attempt: 2 }), gaveUp()],
  'a timeout, and a late result': [...started(), at(5_000, timedOut(5_000)), at(5_100, resultArrives())],
  'an interruption': [...started(), at(9, canceled()), at(10, untrackedRequest('cancel'))],
  'a result twice, and another': [
    ...started(),
    resultArrives(),
    resultArrives({}, { leg: 'b2' }),
    resultArrives({ text: 'other' }, { leg: 'b3' }),
    lingered(),
  ],
  strangers: [
    ...started(),
    arrives({ ...RESULT, id: 'x' }, { leg: 'b1', status: 404 }),
    arrives(7, { leg: 'b2', status: 400 }),
    refused('an Origin header', 403, { to: KEY }),
    refused('wrong-address', 404, { leg: 's2' }),
    refused('wrong-address', 404, { leg: 's3' }),
    refused('too large', 413, { leg: 's4' }),
  ],
  'a choice': [...started(), arrives(CHOICE), chose(1), selected(), resultArrives({}, { leg: 'b2' })],
  'an unanswered choice': [...started(), arrives(CHOICE)],
  'a choice that does not arrive': [
    ...started(),
    at(9, arrives(CHOICE)),
    at(10, chose(0)),
    at(12, selected(null)),
    at(900, timedOut(900)),
  ],
  'two choices': [
    ...started(),
    arrives(CHOICE),
    arrives({ ...CHOICE, prompt: 'Sure?', choices: ['no', 'yes'] }, { leg: 'b2' }),
    chose(1),
    selected(),
    chose(0),
    resultArrives({}, { leg: 'b3' }),
  ],
  'consent given': [...started(), at(9, arrives(OAUTH)), at(2_000, resultArrives({}, { leg: 'b2' }))],
  'consent refused': [
    ...started(),
    arrives({ ...OAUTH, auth_url: 'http://127.0.0.1/?code=1' }),
    resultArrives({ text: 'Error: access was refused.' }, { leg: 'b2' }),
  ],
  'a subscription': [
    ...subscribed(),
    at(10, event('e1')),
    at(11, event('e2', { associative: true, text: 'joined' })),
    at(12, event('e3', { final: true, text: 'closed' })),
    at(13, event('e3b', { final: true, text: 'closed' })),
    at(14, event('e4')),
  ],
  'a subscription that is cancelled': [
    ...subscribed(),
    event('e1'),
    canceled(),
    untrackedRequest('cancel'),
    event('e2'),
    closed(),
  ],
  'a subscription that no one follows': [...subscribed(), closed(), event('e1')],
  'an event out of nowhere': [...started(), event('e1'), resultArrives()],
  views: [
    ...started(),
    view('v1', PATCH),
    resultArrives(),
    view('v2', PATCH.replace('+new', '+newer')),
    arrives({ ...VIEW, view_type: 'hologram' }, { leg: 'v3' }),
    arrives({ ...VIEW, content: { patch: 'no diff' } }, { leg: 'v4' }),
    view('v5', ''),
  ],
  'a view that stays': [...started(), view('v1', PATCH), resultArrives()],
  'denied by a policy': [denied()],
  'denied by a person': [denied('person', 'the user said no')],
  'a call that others make': [expected(), arrives(OAUTH), resultArrives({}, { leg: 'b2' })],
};
