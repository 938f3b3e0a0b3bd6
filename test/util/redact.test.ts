import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanWords, createRedactor, REDACTED, redactHeaders } from '../../src/util/redact.js';
import { bareUrl, tokenlessUrl } from '../../src/util/url.js';
import { visibleLine } from '../../src/util/visible.js';

describe('row 25: a secret goes out in no form it is written in', () => {
  const SECRET = 'tö"k/en\\?>~ 1';
  const json = JSON.stringify(SECRET).slice(1, -1);
  const percent = encodeURIComponent(SECRET);
  const lowered = percent.replaceAll(/%../g, code => code.toLowerCase());
  const base64 = Buffer.from(SECRET).toString('base64');

  test.each([
    ['as it is', SECRET],
    ['in JSON', json],
    ['in JSON with escaped slashes', json.replaceAll('/', '\\/')],
    ['percent-encoded', percent],
    ['percent-encoded, in lower case', lowered],
    ['in base64', base64],
    ['in base64 without padding', base64.replace(/=+$/, '')],
    ['in base64url', Buffer.from(SECRET).toString('base64url')],
  ])('%s', (_, form) => {
    expect(createRedactor([SECRET]).text(`<${form}>`)).toMatch(/^<\[redacted\]=*>$/);
  });

  test('every occurrence', () => {
    expect(createRedactor(['s3cret']).text('s3cret, s3crets3cret')).toBe(
      `${REDACTED}, ${REDACTED}${REDACTED}`,
    );
  });

  test('a secret that begins like another does not save the rest of it', () => {
    expect(createRedactor(['abcd', 'abcd1234']).text('abcd1234')).toBe(REDACTED);
  });

  test('what overlaps another goes with it', () => {
    expect(createRedactor(['abcdef', 'efghij']).text('<abcdefghij>')).toBe(`<${REDACTED}>`);
  });

  test.each([
    ['as it is', SECRET],
    ['in JSON', json],
    ['percent-encoded', percent],
    ['on one line', visibleLine('BEGIN\nMIIEvQIBADANBg')],
  ])('what a cut has left of it, too: %s', (_, form) => {
    const redactor = createRedactor([SECRET, 'BEGIN\nMIIEvQIBADANBg']);
    for (let length = 8; length < form.length; length++)
      expect(cleanWords(redactor, `<${form.slice(0, length)}…>`)).toBe(`<${REDACTED}…>`);
  });

  test('but what others write before an ellipsis of their own is as they wrote it', () => {
    const redactor = createRedactor(['running-token-1']);
    expect(redactor.text('running-… done')).toBe('running-… done');
    expect(redactor.text('running-token-1… done')).toBe(`${REDACTED}… done`);
  });

  test('thousands cost no more than a few', { timeout: 10_000 }, () => {
    const secrets = Array.from({ length: 4_000 }, (_, n) => `token-${n}-${'x'.repeat(30)}`);
    const redactor = createRedactor(secrets);
    let clean = '';
    for (const secret of secrets) clean = redactor.text(`{"callback_url":"http://h/${secret}"}`);
    expect(clean).toBe(`{"callback_url":"http://h/${REDACTED}"}`);
  });

  test('none is left, whatever the secrets are', () => {
    const secret = fc.string({ unit: fc.constantFrom(...'XYZ'), minLength: 4, maxLength: 9 });
    fc.assert(
      fc.property(fc.array(secret), fc.array(secret), (secrets, words) => {
        const redactor = createRedactor(secrets);
        const clean = redactor.text([...secrets, ...words].join('-'));
        for (const each of secrets) expect(clean).not.toContain(each);
      }),
    );
  });

  test('one that comes later counts from then on', () => {
    const redactor = createRedactor();
    expect(redactor.text('later')).toBe('later');
    redactor.add('later');
    expect(redactor.text('later')).toBe(REDACTED);
  });

  test('three characters are too little to be reported from the rest', () => {
    expect(createRedactor(['abc']).text('abc')).toBe('abc');
  });
});

test('without secrets a text stays as it is', () => {
  fc.assert(fc.property(fc.string(), text => createRedactor().text(text) === text));
});

test('row 25: headers pass by an allow-list, whatever their case', () => {
  expect(
    redactHeaders({
      'Content-Type': 'application/json',
      authorization: 'Bearer x',
      'x-api-key': '1',
      Cookie: 'a',
    }),
  ).toEqual({
    'Content-Type': 'application/json',
    authorization: REDACTED,
    'x-api-key': REDACTED,
    Cookie: REDACTED,
  });
});

test('row 25: a secret stands in none of them', () => {
  const headers = redactHeaders({ 'content-type': 'text/s3cret' }, createRedactor(['s3cret']));
  expect(headers).toEqual({ 'content-type': `text/${REDACTED}` });
});

test.each([
  ['https://auth.example/consent?state=secret', 'https://auth.example/consent'],
  ['https://user:pass@auth.example:8443/a/b#code=secret', 'https://auth.example:8443/a/b'],
  ['no url at all', REDACTED],
])('bareUrl %s', (text, bare) => {
  expect(bareUrl(text)).toBe(bare);
});

test.each([
  ['http://tool:3001/choices/7', 'http://tool:3001/choices/7'],
  ['http://tool/choices/0123456789abcdef?token=1#2', `http://tool/choices/${REDACTED}`],
  ['http://a-very-long-host-name.example/v1', 'http://a-very-long-host-name.example/v1'],
  ['http://user:pass@tool/%61%62%63%64%65%66%67%68%69%6a%6b%6c%6d%6e%6f%70', `http://tool/${REDACTED}`],
  ['http://tool/u001b/n', 'http://tool/u001b/n'],
  ['/choices/0123456789abcdef?token=1', `/choices/${REDACTED}`],
  ['no url at all', REDACTED],
])('tokenlessUrl %s', (text, clean) => {
  expect(tokenlessUrl(text)).toBe(clean);
});
