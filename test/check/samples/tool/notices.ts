import { discovery, notice } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

/** Samples for all notices that must be answered 200. */
function noticeSamples(purpose: 'cancel' | 'close'): Samples {
  return [
    passes('200', [notice(purpose), notice(purpose)]),
    warns('404 for an unknown id', [notice(purpose), notice(purpose, { status: 404 })], /answered 404/),
    warns('204', [notice(purpose, { status: 204 })]),
    warns('no response', [notice(purpose, { status: null, code: 'TIMEOUT' })], /TIMEOUT/),
    warns(
      'no response within our time limit',
      [notice(purpose, { status: null, code: 'ETIMEDOUT' })],
      /did not answer within \d/,
    ),
    unclear('a refused connection', [
      notice(purpose, { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
    ]),
    warns('the body OK', [notice(purpose, { body: 'OK' })], /answered 200 with a body/),
    fails(
      'a broken connection, and then a refused one',
      [
        notice(purpose, { status: null, code: 'ECONNRESET' }),
        discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
      ],
      /^the tool stopped responding after \/\w+ \(ECONNRESET\)$/,
    ),
    skips('no notice', []),
  ];
}

export const cancelSamples: Samples = noticeSamples('cancel');

export const closeSamples: Samples = [
  ...noticeSamples('close'),
  warns(
    'a body with a Content-Length',
    [notice('close', { headers: { 'content-length': '11' } })],
    /11 bytes/,
  ),
  warns('a body', [notice('close', { body: '{' })], /a body/),
];
