import { parse } from 'yaml';
import {
  type BrokenTool,
  type BrokenTools,
  type Delivery,
  type Fields,
  type Post,
  startTwisted,
  type Twist,
} from './tool.js';

const NEWS = {
  reply: [
    { result: { text: 'Subscribed', subscription: true } },
    { event: { text: 'one' }, delay: 20 },
    { event: { text: 'two', final: true }, delay: 20 },
  ],
};
const MUCH_NEWS = {
  reply: [
    { result: { text: 'Subscribed', subscription: true } },
    ...Array.from({ length: 20 }, (_, index) => ({ event: { text: `${index}` }, delay: 100 })),
    { event: { text: 'the last', final: true } },
  ],
};
const QUESTION = parse(`
reply:
  choice: { prompt: Which?, choices: [a, b], default: 1 }
  then: { a: { payload: a }, b: { payload: b } }
`);

/** What is wrong with what is more than a result. */
export const flows: BrokenTools = {
  'TOOL-SUB': [
    telling(
      'does not say that it is one',
      NEWS,
      ofType('tool_result', { subscription: false }),
      /without a result with subscription: true/,
    ),
    telling(
      'names another call in the end',
      NEWS,
      message => (message['final'] === true ? { ...message, tool_call_id: 'call_0' } : message),
      /another tool_call_id/,
    ),
    {
      does: 'goes on after the end',
      start: () => startTwisted({ delivers: onAndOn }, NEWS),
      says: /after the final one/,
    },
    {
      does: 'goes on after a cancel',
      start: () => startTwisted(deafTo('/cancel_tool_call'), MUCH_NEWS),
      says: /after the cancel was acknowledged/,
    },
  ],
  'TOOL-CHOICE': [
    telling(
      'has a default that is invalid',
      QUESTION,
      ofType('user_choice', { default: 2 }),
      /does not match its schema/,
    ),
    {
      does: 'does not know of the answer',
      start: () => startTwisted({ delivers: answeredHere, answers: only('/selection', 404) }, QUESTION),
      says: /response_url answered 404/,
    },
    {
      does: 'forgets the answer',
      start: () => startTwisted({ delivers: answeredHere, answers: only('/selection', 200) }, QUESTION),
      says: /no tool_result within .* of the selection/,
    },
  ],
  'TOOL-OAUTH': [
    consenting(
      'sends people into the open',
      'http://auth.example.com/authorize',
      /does not match its schema/,
    ),
    consenting(
      'has the token in the address',
      'https://auth.example.com/authorize?access_token=5f8a1c',
      /auth_url contains access_token/,
    ),
  ],
};

function telling(
  does: string,
  fixture: object,
  change: (message: Fields) => Fields,
  says: RegExp,
): BrokenTool {
  const delivers = ({ url, message }: Delivery, post: Post) => post(url, change(message));
  return { does, start: () => startTwisted({ delivers }, fixture), says };
}

function consenting(does: string, auth_url: string, says: RegExp): BrokenTool {
  const reply = { oauth: { auth_url }, granted: { payload: 'in' }, refused: { payload: 'out' } };
  return { does, fixture: { reply }, says };
}

function ofType(type: string, fields: Fields): (message: Fields) => Fields {
  return message => (message['type'] === type ? { ...message, ...fields } : message);
}

async function onAndOn({ url, message }: Delivery, post: Post): Promise<number> {
  const status = await post(url, message);
  if (message['final'] === true) await post(url, { ...message, final: undefined, text: 'three' });
  return status;
}

function answeredHere({ url, message }: Delivery, post: Post, front: string): Promise<number> {
  return post(url, ofType('user_choice', { response_url: `${front}/selection` })(message));
}

function only(path: string, status: number): NonNullable<Twist['answers']> {
  return to => (to === path ? { status } : undefined);
}

function deafTo(path: string): Twist {
  return { answers: only(path, 200) };
}
