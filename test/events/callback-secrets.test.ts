import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callbackRedactor, questionRedactor, urlRedactor } from '../../src/events/shareable.js';
import { createRedactor } from '../../src/util/redact.js';
import { redactJson } from '../../src/util/redact-json.js';
import { expectCpuBelow } from '../support/cpu-ms.js';
import {
  arrives,
  CHOICE,
  call,
  eventsOf,
  INVOCATION,
  KEY,
  type Moment,
  OAUTH,
  RESULT,
  resultArrives,
  THREAD,
} from './build.js';

const token = 'canary-_aB3.~canary-canary-canary-canary-1';
const callback_url = `http://runtime:3000/callback/${token}/back?more=${token}2`;

describe('row 25: redaction of callback URLs', () => {
  test.each([
    ['the URL of an invocation', call({ invocation: { ...INVOCATION, callback_url } })],
    ['the URL of a choice', arrives({ ...CHOICE, response_url: callback_url })],
    ['the URL of a consent', arrives({ ...OAUTH, auth_url: callback_url })],
    ['the URL of a callback', resultArrives().map(moment => ({ ...moment, url: callback_url }))],
  ])('%s', (_, moments) => {
    const redactor = callbackRedactor(eventsOf(moments));
    expect(redactor.text(`POST ${callback_url}, ${token}.`)).toBe(
      'POST http://runtime:3000/callback/[redacted]/back?more=[redacted], [redacted].',
    );
  });

  test.each(['base64', 'base64url', 'hex'] as const)('redacts a token within %s', encoding => {
    const redactor = callbackRedactor(eventsOf(call({ invocation: { ...INVOCATION, callback_url } })));
    for (const before of ['', 'a', 'ab']) {
      const clean = redactor.text(Buffer.from(`${before}${token} and more`).toString(encoding));
      expect(clean).toContain('[redacted]');
      expect(Buffer.from(clean.replace('[redacted]', ''), encoding).toString()).not.toContain('canary');
    }
  });

  test('redacts the URLs of events that arrive later', () => {
    const redactor = callbackRedactor();
    expect(redactor.text(token)).toBe(token);
    for (const event of eventsOf(call({ invocation: { ...INVOCATION, callback_url } })))
      redactor.learn(event);
    expect(redactor.text(token)).toBe('[redacted]');
  });

  test('does not redact the ids of the event, even if the path contains them', () => {
    const { id, group_id } = INVOCATION;
    const url = `http://runtime:3000/threads/${group_id}/calls/${id}?token=${token}`;
    const redactor = callbackRedactor(eventsOf(call({ invocation: { ...INVOCATION, callback_url: url } })));
    expect(redactor.text(url)).toBe(url.replace(token, '[redacted]'));
  });

  test.each([
    ['after a JSON escape', JSON.stringify(`see\n${token}`), '"see\\n[redacted]"'],
    ['after another JSON escape', `"\\u0041${token}"`, '"\\u0041[redacted]"'],
    ['in quotes', JSON.stringify({ token }), '{"token":"[redacted]"}'],
  ])('finds the secret %s', (_, text, clean) => {
    expect(urlRedactor([callback_url]).text(text)).toBe(clean);
  });

  test('row 25: redacts the normalized form of a URL too', () => {
    const redactor = urlRedactor(['http://127.0.0.1/?token=AAAAAAAAAAAAAAAA%2DBBBB%C3%A9']);
    expect(redactor.text('AAAAAAAAAAAAAAAA-BBBB')).toBe('[redacted]');
    expect(redactor.text('http://127.0.0.1/?token=AAAAAAAAAAAAAAAA%2DBBBB')).not.toContain('AAAA');
  });

  test.each([
    ['a base64 token', 'ab+/cd+/ef1234=='],
    ['an encoded token', 'ab%2B%2Fcd1234%3D%3D'],
    ['a token of eight characters', 'tok-1234'],
    ['a token that ends like a sentence', 'tok-1234567890..'],
    ['a token of digits', '0123456789'],
    ['a token that begins with a slash', '/tok-1234'],
  ])('row 25: redacts %s anywhere and in any encoding', (_, secret) => {
    const meant = decodeURIComponent(secret);
    const redactor = urlRedactor([`http://h/callback?token=${secret}&a=b`]);
    const texts = [secret, meant, encodeURIComponent(meant), meant.replaceAll('/', '\\/')];
    for (const each of texts)
      for (const text of [each, `say ${each}.`, `"\\n${each}"`, `http://h/callback?token=${each}&a=b`])
        expect(redactor.text(text), text).not.toMatch(/1234/);
  });

  test('row 15: hundreds of URLs that share a start cost no more than a few', async () => {
    const urls = Array.from({ length: 240 }, (_, n) => `http://h/${'aaaa-'.repeat(50).slice(0, n + 8)}b`);
    await expectCpuBelow(1_000, () => urlRedactor(urls).text('aaaa-'.repeat(40_000))); // 2 s or more if each length were tried everywhere
  });

  test('row 25: redacts a short secret within URLs', () => {
    const redactor = urlRedactor(['http://h/v1/callback/a7?k=9']);
    expect(redactor.text('a7 9 http://h/v1/callback/a7?k=9 https:\\/\\/h\\/a7')).toBe(
      'a7 9 http://h/v1/callback/[redacted]?k=[redacted] https:\\/\\/h\\/[redacted]',
    );
  });

  test('does not redact hosts, common words and public values', () => {
    const text = 'http://a-very-long-host-name-indeed.example/callback/v2 and call_0123456789abcdef';
    const redactor = urlRedactor(
      [text.split(' ')[0] ?? '', 'http://h/call_0123456789abcdef'],
      ['call_0123456789abcdef'],
    );
    expect(redactor.text(text)).toBe(text);
  });

  test('keeps JSON valid, and keeps values that are not secret', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, text) => {
        const source = JSON.stringify({ value, text: `${text}\n${token}` });
        const clean = urlRedactor([callback_url]).text(source);
        expect(clean).toBe(urlRedactor([callback_url]).text(clean));
        expect(JSON.parse(clean).value).toEqual(JSON.parse(source).value);
      }),
    );
  });
});

describe('row 25: the end of a callback URL of a probe', () => {
  const secret = 'a1B2'.repeat(11).slice(0, 43);
  const ending = '/%c3%a9%2fb?next=%2Fa%3Fb%3Dcanary';
  const given = `http://127.0.0.1:4000/callback/${secret}${ending}`;
  const probe: Moment = { kind: 'planned', by: 'probe', plan: 'callback-urls', checks: [], calls: [KEY] };
  const posted = (url: string) => resultArrives().map(moment => ({ ...moment, url }));
  const sent = call({ invocation: { ...INVOCATION, callback_url: given } });

  test('is shown, as it was given and as the tool used it', () => {
    const used = `/callback/${secret}/%C3%A9/b?next=/a?b=canary`;
    const redactor = callbackRedactor(eventsOf([probe], sent, posted(used)));
    expect(redactor.text(`${given} ${used}`)).toBe(`${given} ${used}`.replaceAll(secret, '[redacted]'));
  });

  test('is redacted where the tool adds something', () => {
    const redactor = callbackRedactor(eventsOf([probe], sent, posted(`${given}&key=sk-0123456789`)));
    expect(redactor.text('sk-0123456789')).toBe('[redacted]');
  });

  test('is redacted in a call that no probe made', () => {
    const redactor = callbackRedactor(eventsOf(sent, posted(given)));
    expect(redactor.text(given)).not.toMatch(/canary/);
  });
});

describe('redaction of response_url', () => {
  function having(message: object, ...secrets: string[]) {
    const redactor = questionRedactor(createRedactor(secrets));
    for (const event of eventsOf(call(), arrives(message))) redactor.learn(event);
    return redactor;
  }
  const asked = (path: string) => having({ ...CHOICE, response_url: `http://127.0.0.1:3001${path}` });

  test('row 25: redacts its token everywhere', () => {
    const redactor = asked(`/choices/${KEY}/${token}?code=0123456789abcdef`);
    expect(redactor.text(`${token} of ${KEY}, "0123456789abcdef"`)).toBe(
      `[redacted] of ${KEY}, "[redacted]"`,
    );
  });

  test.each([
    ['words of the protocol', '/user_choice/edit_file/group_id/subscription_event/thread_ancestors'],
    ['ids', `/${KEY}/${THREAD}`],
    ['parts of ids', `/a?${THREAD.slice(0, 8)}=${KEY.slice(1)}`],
    ['escapes', '/u001b/u000a/n'],
  ])('a tool with %s in the URL causes no other redaction', (_, path) => {
    const message = { ...RESULT, text: 'user_choice edit_file\u001b\n', thread_ancestors: [] };
    const text = JSON.stringify({ ...message, event: 'subscription_event' });
    expect(redactJson(text, asked(path))).toBe(text);
  });

  test('keeps the names of JSON members, and keeps JSON valid', () => {
    const word = 'u001b0123456789abcdef';
    const value = { [word]: `\u001b0123456789abcdef ${word}` };
    expect(JSON.parse(redactJson(JSON.stringify(value), asked(`/${word}`)))).toEqual({
      [word]: '\u001b0123456789abcdef [redacted]',
    });
  });

  test('still redacts other secrets, also in names', () => {
    const redactor = having(RESULT, 's3cret');
    redactor.add('another');
    expect(redactJson('{"s3cret":"another"}', redactor)).toBe('{"[redacted]":"[redacted]"}');
  });

  test.each([
    ['a result', { ...RESULT, response_url: callback_url }],
    ['a choice without a token', { ...CHOICE, response_url: 7 }],
  ])('%s has no secret', (_, message) => {
    expect(having(message).text(callback_url)).toBe(callback_url);
  });
});
