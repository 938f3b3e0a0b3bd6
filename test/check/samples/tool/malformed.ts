import { at, eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const c = someCall('c');
const { operation: _, ...addressed } = a.invocation;
const nowhere = { operation: 'edit_file', arguments: {} };

/** Nobody is there after it, and it is not known who has stopped the tool. */
const goneAfter = (code: string) =>
  eventsOf(
    a.sent('['),
    a.answered({ status: null, code }),
    discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
  );

export const malformedSamples: Samples = [
  {
    story: '200, and an error result for whom it can reach',
    events: eventsOf(
      a.sent(addressed),
      a.answered(),
      a.result({ text: 'Error: no operation.' }),
      discovery(),
    ),
    status: 'pass',
  },
  {
    story: '200 to what is no JSON',
    events: eventsOf(a.sent('{"operation":'), a.answered()),
    status: 'pass',
  },
  {
    story: '400 to what is no text at all',
    events: eventsOf(a.sent(Buffer.from([0x22, 0xff, 0x22])), a.answered({ status: 400 })),
    status: 'pass',
  },
  {
    story: '400 to what is no JSON',
    events: eventsOf(a.sent('{"operation":'), a.answered({ status: 400 })),
    status: 'warn',
    says: /answered 400/,
  },
  { story: '500', events: eventsOf(a.sent(nowhere), a.answered({ status: 500 })), status: 'warn' },
  {
    story: '200, and nothing for whom it could reach',
    events: eventsOf(a.sent(addressed), a.answered(), at(5_000, a.waited())),
    status: 'warn',
    says: /nothing within 5s/,
  },
  {
    story: '200, and success',
    events: eventsOf(a.sent(addressed), a.answered(), a.result()),
    status: 'warn',
    says: /not an error/,
  },
  {
    story: 'a connection that breaks',
    events: eventsOf(a.sent('['), a.answered({ status: null }), discovery()),
    status: 'warn',
    says: /ECONNRESET/,
  },
  {
    story: 'a crash: nobody is there any more',
    events: eventsOf(
      a.sent('['),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ),
    status: 'warn',
    says: /stopped responding after a malformed payload/,
  },
  {
    story: 'a crash in a check, which asks for more at once',
    events: eventsOf(
      a.plannedFor(['TOOL-MALFORMED']),
      a.sent('['),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ),
    status: 'fail',
    says: /stopped responding after a malformed payload$/,
  },
  {
    story: 'a crash, while others were still answered',
    events: eventsOf(
      b.sent(),
      a.sent('['),
      a.answered({ status: null }),
      b.answered(),
      c.sent('null'),
      c.answered({ status: null, code: 'ECONNREFUSED', phase: 'connect' }),
      c.waited(),
    ),
    status: 'fail',
    says: /^the tool stopped responding after a malformed payload \(ECONNRESET\)$/,
  },
  ...['ECONNRESET', 'EPIPE'].map(code => ({
    story: `a tool that broke the connection, and was gone (${code})`,
    events: goneAfter(code),
    status: 'fail' as const,
    says: new RegExp(`stopped responding after a malformed payload \\(${code}\\)$`),
  })),
  ...['ABORTED', 'ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'TOO_LARGE', 'PARSE'].map(
    code => ({
      story: `a tool that was gone later, where we gave up ourselves (${code})`,
      events: goneAfter(code),
      status: 'warn' as const,
      says: /stopped responding/,
    }),
  ),
  ...['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].map(code => ({
    story: `no answer within our time limit, which ends no connection of theirs (${code})`,
    events: eventsOf(a.sent('['), a.answered({ status: null, code }), discovery()),
    status: 'warn' as const,
    says: /^a malformed payload was not answered$/,
  })),
  { story: 'no answer', events: eventsOf(a.sent('['), a.waited()), status: 'warn', says: /not answered/ },
  {
    story: 'no answer that is left',
    events: eventsOf(a.sent('['), a.waited()),
    isLossy: true,
    status: 'could-not-run',
    says: /recording is incomplete/,
  },
  {
    story: '200, and nothing that is left',
    events: eventsOf(a.sent(addressed), a.answered(), at(5_000, a.waited())),
    isLossy: true,
    status: 'could-not-run',
    says: /recording is incomplete/,
  },
  {
    story: 'a crash, unless what was answered was lost',
    events: eventsOf(
      a.sent('['),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ),
    isLossy: true,
    status: 'could-not-run',
    says: /recording is incomplete/,
  },
  {
    story: 'a crash of which one payload was the last, and others were answered before',
    events: eventsOf(
      a.sent('['),
      a.answered(),
      b.sent('null'),
      b.answered({ status: null, code: 'ECONNRESET' }),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ),
    status: 'fail',
    says: /stopped responding after a malformed payload \(ECONNRESET\); 1 more had been sent by then$/,
  },
  {
    story: 'a crash while several were on their way',
    events: eventsOf(
      a.sent('['),
      b.sent('null'),
      b.answered({ status: null, code: 'ECONNRESET' }),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ),
    status: 'fail',
    says: /payload \(ECONNRESET\); 1 more had been sent by then$/,
  },
  { story: 'no answer so far', events: eventsOf(a.sent('[')), status: 'could-not-run' },
  {
    story: 'a call that is well-formed',
    events: eventsOf(a.sent(), a.answered()),
    status: 'not-applicable',
  },
];
