import type { CheckStatus } from '../../../../src/check/report.js';
import { runnableSleep } from '../../../support/runnable-sleep.js';
import {
  type BrokenTool,
  type BrokenTools,
  type Delivery,
  type Fields,
  type Post,
  posted,
  startTwisted,
  type Twist,
} from './tool.js';

const IMAGE = { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' };
const LINE_ITEM = { type: 'text', text: 'a cat' };
const FAULTS = (...callback: unknown[]) => ({ reply: { payload: 'done' }, faults: { callback } });

/** What is wrong with how a callback is sent, and whom it names. */
export const callbacks: BrokenTools = {
  'TOOL-POST': [
    withFault('wrong-type', /not application\/json/),
    withFault('malformed', /invalid callback: /),
    ofResult('has a result without a text', { text: undefined }, /invalid callback: /),
    ofResult(
      'names the media type of a shown image as another API does',
      {
        display_as: [
          { type: 'image', content: { data: 'iVBORw0KGgo=', media_type: 'image/png' } },
          { type: 'text', content: 'a cat' },
        ],
      },
      /invalid callback: display_as\[0\]: malformed image: \$\.mediaType: is required/,
    ),
    ofResult(
      'has a number for the content of a text',
      { display_as: [{ type: 'text', content: 42 }] },
      /display_as\[0\]: malformed text: /,
    ),
    ofResult(
      'has a text without content',
      { display_as: [{ type: 'text' }] },
      /display_as\[0\]: malformed text: /,
    ),
    ofResult(
      'has a data URL for an image',
      { content: [LINE_ITEM, { ...IMAGE, data: `data:image/png;base64,${IMAGE.data}` }] },
      /content\[1\]\.data is not base64/,
      'warn',
    ),
  ],
  'TOOL-GROUP': [
    always(
      'names another thread',
      ({ message }) => ({ ...message, group_id: 'thread_0' }),
      /another group_id/,
    ),
    always(
      'speaks to the first ancestor',
      ({ message, invocation: { thread_ancestors: ancestors } }) => ({
        ...message,
        ...(Array.isArray(ancestors) && { group_id: ancestors[0] }),
      }),
      /another group_id: "thread_root"/,
    ),
  ],
  'TOOL-ID': [
    withFault('wrong-id', /has another id/),
    always(
      'trims it',
      ({ message }) => ({ ...message, id: String(message['id']).trim() }),
      /a tool_result has another id/,
    ),
  ],
  'TOOL-CALLID': [
    always(
      'writes null as a word',
      ({ message, invocation }) => ({ ...message, call_id: String(invocation['call_id'] ?? null) }),
      /has another call_id/,
    ),
    ofResult('has another call_id', { call_id: 'call_0' }, /has another call_id/),
    always('leaves the call_id out', ({ message: { call_id, ...message } }) => message, /has no call_id/),
  ],
  'TOOL-ONCE': [
    {
      does: 'ends a call twice',
      start: () => startTwisted({ delivers: onOdd(twice) }),
      says: /a second, different tool_result/,
    },
    {
      does: 'sends another result because of the body of a 200',
      start: () =>
        startTwisted({ delivers: readingAnswers(message => ({ ...message, text: 'Error: not accepted' })) }),
      says: /a second, different tool_result/,
    },
  ],
  'TOOL-ISOLATE': [
    {
      does: 'keeps the names of one call for all',
      start: () => startTwisted(sharing()),
      says: /with the group_id, id, call_id of another call/,
    },
    {
      does: 'keeps one call for all, with its callback URL',
      start: () => startTwisted(keepingLatest()),
      says: /a call got \d+ results, and \d+ that ran at the same time got none/,
    },
    {
      does: 'keeps the names of one call for each thread',
      start: () => startTwisted(sharingInThread()),
      says: /with the id, call_id of another call/,
    },
  ],
  'TOOL-OPAQUE': [
    reroutes('leaves the query out', url => url.replace(/\?.*/, ''), /its query was left out/),
    reroutes('takes the slash from the end', url => url.replace(/\/$/, ''), /its trailing slash was changed/),
    reroutes('writes the path in lower case', lowercased, /its path was changed/),
    reroutes('leaves a repeated parameter out', withoutRepetitions, /its query was changed/),
    reroutes('goes to the origin', url => new URL('/', url).href, /posted to a wrong address/),
  ],
  'TOOL-SECRET': [
    ofResult('shows a token of its own', { text: `ghp_${'a1'.repeat(18)}` }, /a GitHub token/),
    always(
      'shows the callback URL',
      ({ message, url }) => ({ ...message, text: `${message['text']} (sent to ${url})` }),
      /the callback URL/,
    ),
    ofResult(
      'shows the password of its database',
      { text: 'saved in postgres://app:5f8a1c@db.example.com/app' },
      /a URL with a password/,
    ),
    {
      does: 'has the callback URL in the address of a consent',
      start: () => startTwisted({ delivers: onOdd(afterConsent) }),
      says: /^the callback URL's token is in auth_url$/,
    },
  ],
  'TOOL-RETRY': [
    {
      does: 'never tries again',
      start: () => startTwisted({ delivers: once }),
      says: /no retry within/,
    },
    {
      does: 'tries again after a 500 alone',
      start: () => startTwisted({ delivers: giveUpAfter(503) }),
      says: /no retry within/,
    },
  ],
  'TOOL-NORETRY': [
    {
      does: 'tries again what was refused',
      start: () => startTwisted({ delivers: stubbornly(400) }),
      says: /answered 400, and sent again after/,
    },
    {
      does: 'tries again what was not found',
      start: () => startTwisted({ delivers: stubbornly(404) }),
      says: /answered 404, and sent again after/,
    },
    {
      does: 'tries again because of the body of a 200',
      start: () => startTwisted({ delivers: readingAnswers(message => message) }),
      says: /answered 200 with a body, and sent again/,
    },
  ],
};

function withFault(fault: string, says: RegExp): BrokenTool {
  return { does: fault, fixture: FAULTS(fault), says };
}

function ofResult(does: string, fields: object, says: RegExp, status?: CheckStatus): BrokenTool {
  return {
    does,
    fixture: { reply: { result: { text: 'done', ...fields } } },
    says,
    ...(status && { status }),
  };
}

function always(does: string, change: (delivery: Delivery) => Delivery['message'], says: RegExp): BrokenTool {
  const delivers = (delivery: Delivery, post: Post) => post(delivery.url, change(delivery));
  return { does, start: () => startTwisted({ delivers }), says };
}

function reroutes(does: string, change: (url: string) => string, says: RegExp): BrokenTool {
  const delivers = ({ url, message }: Delivery, post: Post) => post(change(url), message);
  return { does, start: () => startTwisted({ delivers }), says };
}

function onOdd(delivers: NonNullable<Twist['delivers']>): NonNullable<Twist['delivers']> {
  return (delivery, post, front) =>
    delivery.invocation['operation'] === 'odd'
      ? delivers(delivery, post, front)
      : post(delivery.url, delivery.message);
}

async function twice({ url, message }: Delivery, post: Post): Promise<number> {
  await post(url, message);
  return post(url, { ...message, text: 'done again' });
}

/** What a variable outside of the handler does. */
function sharing(): Twist {
  let latest = {};
  return {
    invocation(invocation) {
      const { id, group_id, call_id } = invocation;
      latest = { id, group_id, call_id };
      return invocation;
    },
    delivers: ({ url, message }, post) => post(url, { ...message, ...latest }),
  };
}

/** A variable for the latest call: a result that comes late is sent with its names, to its URL. */
function keepingLatest(): Twist {
  let latest: Fields = {};
  return {
    invocation(invocation) {
      latest = invocation;
      return invocation;
    },
    async delivers({ message }, post) {
      await runnableSleep(100); // other calls come
      const { id, group_id, call_id, callback_url } = latest;
      return post(String(callback_url), { ...message, id, group_id, call_id });
    },
  };
}

async function once({ url, message }: Delivery, post: Post): Promise<number> {
  await post(url, message).catch(() => 0);
  return 200;
}

/** Takes an error in the body of a 200 for a refusal. */
function readingAnswers(second: (message: Delivery['message']) => object): NonNullable<Twist['delivers']> {
  return async ({ url, message }) => {
    const { status, said } = await posted(url, JSON.stringify(message));
    if (status === 200 && said.includes('error')) await posted(url, JSON.stringify(second(message)));
    return status;
  };
}

function stubbornly(refusal: number): NonNullable<Twist['delivers']> {
  return async ({ url, message }, post) => {
    const status = await post(url, message);
    return status === refusal ? post(url, message) : status;
  };
}

/** The wrapped tool gets 200 in place of this status, so that it does not send the callback again. */
function giveUpAfter(failure: number): NonNullable<Twist['delivers']> {
  return async ({ url, message }, post) => {
    const status = await post(url, message);
    return status === failure ? 200 : status;
  };
}

/** As {@link sharing}, with a variable for each thread. */
function sharingInThread(): Twist {
  const latest = new Map<unknown, Fields>();
  return {
    invocation(invocation) {
      const { id, group_id, call_id } = invocation;
      latest.set(group_id, { id, call_id });
      return invocation;
    },
    async delivers({ url, message }, post) {
      await runnableSleep(100); // other calls of the thread come
      return post(url, { ...message, ...latest.get(message['group_id']) });
    },
  };
}

/** The ending of a callback URL begins after its token. */
function lowercased(url: string): string {
  return url.replace(/(\/callback\/[^/?]+)(\/[^?]+)/, (_, token, path) => token + path.toLowerCase());
}

function withoutRepetitions(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  if (new Set(searchParams.keys()).size === searchParams.size) return url;
  return `${origin}${pathname}?${new URLSearchParams(Object.fromEntries(searchParams))}`;
}

async function afterConsent({ url, message }: Delivery, post: Post): Promise<number> {
  const { text: _, ...ids } = message;
  const state = encodeURIComponent(url);
  await post(url, { ...ids, type: 'oauth', auth_url: `https://auth.example.com/authorize?state=${state}` });
  return post(url, message);
}

const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n';
const DIFF = { type: 'diff', content: { path: 'a.txt', patch: PATCH } };
const LINE = { type: 'text', content: 'a line' };

/** What is wrong with what a person sees. */
export const displays: BrokenTools = {
  'TOOL-FALLBACK': [
    ofResult('has a diff alone', { display_as: [DIFF] }, /./),
    ofResult(
      'repeats a short text',
      { display_as: [{ type: 'text', content: 'done' }] },
      /only repeats the text/,
    ),
    ofResult('ends in nothing', { display_as: [DIFF, { type: 'text', content: ' ' }] }, /its last is empty/),
    ofResult(
      'ends in a page on one line',
      { display_as: [DIFF, { type: 'text', content: 'word '.repeat(400) }] },
      /its last has 1999 characters/,
    ),
  ],
  'TOOL-DIFF': [
    ofResult(
      'has no patch',
      { display_as: [{ type: 'diff', content: { path: 'a.txt' } }, LINE] },
      /display_as\[0\]/,
    ),
    ofResult(
      'has a patch that is invalid',
      { display_as: [{ type: 'diff', content: { path: 'a.txt', patch: 'a became b' } }, LINE] },
      /display_as\[0\]/,
    ),
  ],
  'TOOL-IMAGE': [
    ofResult('begins with it', { content: [IMAGE, LINE_ITEM] }, /does not begin with a text/),
    ofResult(
      'has no text after it',
      { display_as: [LINE, { type: 'image', content: { data: IMAGE.data, mediaType: IMAGE.mediaType } }] },
      /no text follows it/,
    ),
  ],
};
