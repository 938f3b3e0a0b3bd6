import { at, eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const c = someCall('c');
const { operation: _, ...addressed } = a.invocation;
const nowhere = { operation: 'edit_file', arguments: {} };

/** The tool is unreachable afterwards, for an unknown reason. */
const goneAfter = (code: string) =>
  eventsOf(
    a.sent('['),
    a.answered({ status: null, code }),
    discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
  );

export const malformedSamples: Samples = [
  passes('200, and an error result if the callback URL is readable', [
    a.sent(addressed),
    a.answered(),
    a.result({ text: 'Error: no operation.' }),
    discovery(),
  ]),
  passes('200 to invalid JSON', [a.sent('{"operation":'), a.answered()]),
  passes('400 to a body that is not UTF-8', [
    a.sent(Buffer.from([0x22, 0xff, 0x22])),
    a.answered({ status: 400 }),
  ]),
  warns('400 to invalid JSON', [a.sent('{"operation":'), a.answered({ status: 400 })], /answered 400/),
  warns('500', [a.sent(nowhere), a.answered({ status: 500 })]),
  warns(
    '200, and no result although the callback URL is readable',
    [a.sent(addressed), a.answered(), at(5_000, a.waited())],
    /nothing within 5s/,
  ),
  warns('200, and success', [a.sent(addressed), a.answered(), a.result()], /not an error/),
  warns('a connection that breaks', [a.sent('['), a.answered({ status: null }), discovery()], /ECONNRESET/),
  warns(
    'a crash: the next request cannot connect',
    [a.sent('['), a.answered(), discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' })],
    /stopped responding after a malformed payload/,
  ),
  fails(
    'a crash in a check, which sends several requests at once',
    [
      a.plannedFor(['TOOL-MALFORMED']),
      a.sent('['),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ],
    /stopped responding after a malformed payload$/,
  ),
  fails(
    'a crash while other requests were still answered',
    [
      b.sent(),
      a.sent('['),
      a.answered({ status: null }),
      b.answered(),
      c.sent('null'),
      c.answered({ status: null, code: 'ECONNREFUSED', phase: 'connect' }),
      c.waited(),
    ],
    /^the tool stopped responding after a malformed payload \(ECONNRESET\)$/,
  ),
  ...['ECONNRESET', 'EPIPE'].map(code => ({
    story: `a tool that broke the connection and was then unreachable (${code})`,
    events: goneAfter(code),
    status: 'fail' as const,
    says: new RegExp(`stopped responding after a malformed payload \\(${code}\\)$`),
  })),
  ...['ABORTED', 'ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'TOO_LARGE', 'PARSE'].map(
    code => ({
      story: `a tool that was unreachable later, after a timeout of ours (${code})`,
      events: goneAfter(code),
      status: 'warn' as const,
      says: /stopped responding/,
    }),
  ),
  ...['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].map(code => ({
    story: `no response within our time limit, and no connection closed by the tool (${code})`,
    events: eventsOf(a.sent('['), a.answered({ status: null, code }), discovery()),
    status: 'warn' as const,
    says: /^a malformed payload was not answered$/,
  })),
  warns('no response', [a.sent('['), a.waited()], /not answered/),
  unclear('a response that may be missing', [a.sent('['), a.waited()], /recording is incomplete/, {
    isLossy: true,
  }),
  unclear(
    '200, and a result that may be missing',
    [a.sent(addressed), a.answered(), at(5_000, a.waited())],
    /recording is incomplete/,
    { isLossy: true },
  ),
  unclear(
    'a crash, unless the response is missing',
    [a.sent('['), a.answered(), discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' })],
    /recording is incomplete/,
    { isLossy: true },
  ),
  fails(
    'a crash after one payload; others were answered before',
    [
      a.sent('['),
      a.answered(),
      b.sent('null'),
      b.answered({ status: null, code: 'ECONNRESET' }),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ],
    /stopped responding after a malformed payload \(ECONNRESET\); 1 more had been sent by then$/,
  ),
  fails(
    'a crash with several requests in progress',
    [
      a.sent('['),
      b.sent('null'),
      b.answered({ status: null, code: 'ECONNRESET' }),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ],
    /payload \(ECONNRESET\); 1 more had been sent by then$/,
  ),
  unclear('no response so far', [a.sent('[')]),
  skips('a call that is well-formed', [a.sent(), a.answered()]),
];
