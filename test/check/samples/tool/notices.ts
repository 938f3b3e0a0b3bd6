import { eventsOf } from '../../../events/build.js';
import { discovery, notice } from '../parts.js';
import type { Samples } from '../sample.js';

/** What is alike for everything that is answered with 200 always. */
function noticeSamples(purpose: 'cancel' | 'close'): Samples {
  return [
    { story: '200', events: eventsOf(notice(purpose), notice(purpose)), status: 'pass' },
    {
      story: '404 for what it does not know',
      events: eventsOf(notice(purpose), notice(purpose, { status: 404 })),
      status: 'warn',
      says: /answered 404/,
    },
    { story: '204', events: eventsOf(notice(purpose, { status: 204 })), status: 'warn' },
    {
      story: 'no answer',
      events: eventsOf(notice(purpose, { status: null, code: 'TIMEOUT' })),
      status: 'warn',
      says: /TIMEOUT/,
    },
    {
      story: 'no answer until we gave up',
      events: eventsOf(notice(purpose, { status: null, code: 'ETIMEDOUT' })),
      status: 'warn',
      says: /did not answer within \d/,
    },
    {
      story: 'nobody there',
      events: eventsOf(notice(purpose, { status: null, phase: 'connect', code: 'ECONNREFUSED' })),
      status: 'could-not-run',
    },
    {
      story: 'OK',
      events: eventsOf(notice(purpose, { body: 'OK' })),
      status: 'warn',
      says: /answered 200 with a body/,
    },
    {
      story: 'a connection that breaks, and nobody there any more',
      events: eventsOf(
        notice(purpose, { status: null, code: 'ECONNRESET' }),
        discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
      ),
      status: 'fail',
      says: /^the tool stopped responding after \/\w+ \(ECONNRESET\)$/,
    },
    { story: 'no notice', events: eventsOf(), status: 'not-applicable' },
  ];
}

export const cancelSamples: Samples = noticeSamples('cancel');

export const closeSamples: Samples = [
  ...noticeSamples('close'),
  {
    story: 'a body that says how long it is',
    events: eventsOf(notice('close', { headers: { 'content-length': '11' } })),
    status: 'warn',
    says: /11 bytes/,
  },
  { story: 'a body', events: eventsOf(notice('close', { body: '{' })), status: 'warn', says: /a body/ },
];
