import { at, eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const c = someCall('c');
const { operation: _, ...addressed } = a.invocation;
const nowhere = { operation: 'edit_file', arguments: {} };

/** No one is there after it, and it is not known who has stopped the tool. */
const goneAfter = (code: string) =>
  eventsOf(
    a.sent('['),
    a.answered({ status: null, code }),
    discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
  );

export const malformedSamples: Samples = [
  passes('200, and an error result for whom it can reach', [
    a.sent(addressed),
    a.answered(),
    a.result({ text: 'Error: no operation.' }),
    discovery(),
  ]),
  passes('200 to what is not JSON', [a.sent('{"operation":'), a.answered()]),
  passes('400 to what is not text at all', [
    a.sent(Buffer.from([0x22, 0xff, 0x22])),
    a.answered({ status: 400 }),
  ]),
  warns('400 to what is not JSON', [a.sent('{"operation":'), a.answered({ status: 400 })], /answered 400/),
  warns('500', [a.sent(nowhere), a.answered({ status: 500 })]),
  warns(
    '200, and nothing for whom it could reach',
    [a.sent(addressed), a.answered(), at(5_000, a.waited())],
    /nothing within 5s/,
  ),
  warns('200, and success', [a.sent(addressed), a.answered(), a.result()], /not an error/),
  warns('a connection that breaks', [a.sent('['), a.answered({ status: null }), discovery()], /ECONNRESET/),
  warns(
    'a crash: no one is there any more',
    [a.sent('['), a.answered(), discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' })],
    /stopped responding after a malformed payload/,
  ),
  fails(
    'a crash in a check, which asks for more at once',
    [
      a.plannedFor(['TOOL-MALFORMED']),
      a.sent('['),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ],
    /stopped responding after a malformed payload$/,
  ),
  fails(
    'a crash, while others were still answered',
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
  warns('no answer', [a.sent('['), a.waited()], /not answered/),
  unclear('no answer that is left', [a.sent('['), a.waited()], /recording is incomplete/, { isLossy: true }),
  unclear(
    '200, and nothing that is left',
    [a.sent(addressed), a.answered(), at(5_000, a.waited())],
    /recording is incomplete/,
    { isLossy: true },
  ),
  unclear(
    'a crash, unless what was answered was lost',
    [a.sent('['), a.answered(), discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' })],
    /recording is incomplete/,
    { isLossy: true },
  ),
  fails(
    'a crash of which one payload was the last, and others were answered before',
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
    'a crash while several were on their way',
    [
      a.sent('['),
      b.sent('null'),
      b.answered({ status: null, code: 'ECONNRESET' }),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ],
    /payload \(ECONNRESET\); 1 more had been sent by then$/,
  ),
  unclear('no answer so far', [a.sent('[')]),
  skips('a call that is well-formed', [a.sent(), a.answered()]),
];
