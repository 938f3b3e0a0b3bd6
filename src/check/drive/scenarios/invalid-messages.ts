import type { Scenario } from '../scenario.js';
import type { ScenarioSession } from '../scenario-session.js';
import { event, on, result, serving } from './fixtures.js';

const IDS = { group_id: '{{group_id}}', id: '{{id}}' };

const RESULT = { type: 'tool_result', ...IDS };

/**
 * Every message has a unique text, even where a text is not allowed: an observation of it shows that the runtime used the message.
 * Undefined members are omitted.
 */
const RESULTS: readonly unknown[] = [
  'a text in place of a result',
  [{ ...RESULT, text: 'a result in a list' }],
  { ...RESULT, text: 'without a type', type: undefined },
  { ...RESULT, text: 'of an unknown type', type: 'tool_outcome' },
  { ...RESULT, text: 'of a type that is a number', type: 1 },
  { ...RESULT, text: 'without an id', id: undefined },
  { ...RESULT, text: 'with an id that is a number', id: 1 },
  { ...RESULT, text: 'with an id in a list', id: ['{{id}}'] },
  { ...RESULT, text: 'without a group_id', group_id: undefined },
  { ...RESULT, text: 'with a group_id in a list', group_id: ['{{group_id}}'] },
  { ...RESULT, text: 'with a call_id that is a number', call_id: 1 },
  { ...RESULT, display_as: [{ type: 'text', content: 'without a text' }] },
  { ...RESULT, text: null, display_as: [{ type: 'text', content: 'with null for a text' }] },
  { ...RESULT, text: ['a text in a list'] },
  { ...RESULT, text: { value: 'a text in an object' } },
  { ...RESULT, text: 'with content as a text', content: 'content as a text' },
  { ...RESULT, text: 'with an unknown item', content: [{ type: 'video', data: 'an unknown item' }] },
  { ...RESULT, text: 'with an item without text', content: [{ type: 'text', value: 'item without text' }] },
  { ...RESULT, text: 'with an image without data', content: [{ type: 'image', mediaType: 'image/no-data' }] },
  { ...RESULT, content: [] },
  { ...RESULT, text: 'with display_as as a text', display_as: 'display_as as a text' },
  { ...RESULT, text: 'with a segment without a type', display_as: [{ content: 'segment without a type' }] },
  { ...RESULT, text: 'with a subscription that is a text', subscription: 'yes' },
];

const RESPONSE_URL = 'http://127.0.0.1:9/choices/none';

const CHOICE = {
  type: 'user_choice',
  ...IDS,
  choices: ['yes', 'no'],
  default: 0,
  response_url: RESPONSE_URL,
};

const OAUTH = { type: 'oauth', ...IDS };

const QUESTIONS: readonly unknown[] = [
  { ...CHOICE, text: 'without a prompt' },
  { ...CHOICE, prompt: ['a prompt in a list'] },
  { ...CHOICE, prompt: 'without choices?', choices: undefined },
  { ...CHOICE, prompt: 'with an empty list of choices?', choices: [] },
  { ...CHOICE, prompt: 'with choices that are numbers?', choices: [1, 2] },
  { ...CHOICE, prompt: 'without a default?', default: undefined },
  { ...CHOICE, prompt: 'with a default that is a label?', default: 'yes' },
  { ...CHOICE, prompt: 'with a default out of range?', default: 2 },
  { ...CHOICE, prompt: 'without a response_url?', response_url: undefined },
  { ...CHOICE, prompt: 'with an invalid response_url?', response_url: 'choices' },
  { ...CHOICE, prompt: 'without an id?', id: undefined },
  { ...OAUTH, text: 'without an auth_url' },
  { ...OAUTH, auth_url: 'sign in, please' },
  { ...OAUTH, auth_url: 'javascript:alert("sign in")' },
  { ...OAUTH, auth_url: 'https://auth.example/without-an-id', id: undefined },
];

const EVENT = { type: 'subscription_event', group_id: '{{group_id}}', tool_call_id: '{{id}}' };

const VIEW = { type: 'view_update', group_id: '{{group_id}}', view_type: 'invalid' };

const EVENTS: readonly unknown[] = [
  { ...EVENT, text: 'an event without a tool_call_id', tool_call_id: undefined },
  { ...EVENT, text: 'an event with a tool_call_id in a list', tool_call_id: ['{{id}}'] },
  { ...EVENT, content: 'an event without a text' },
  { ...EVENT, text: ['an event with a text in a list'] },
  { ...EVENT, text: 'an event with a final that is a text', final: 'yes' },
  { ...VIEW, content: { note: 'a view without a type' }, view_type: undefined },
  { ...VIEW, content: { note: 'a view with a type that is a number' }, view_type: 1 },
  { ...VIEW, text: 'a view without content' },
  { ...VIEW, content: 'a view with content that is a text' },
  { ...VIEW, content: ['a view with content in a list'] },
  { ...VIEW, content: { note: 'a view without a thread' }, group_id: undefined },
];

/** A call that gets these messages. */
interface InvalidMessages extends Pick<Scenario, 'name' | 'title'> {
  readonly messages: readonly unknown[];
  /** The steps before the messages. */
  readonly before?: readonly object[];
  /** The step after them: the call is still pending, or its subscription open. */
  readonly after: object;
}

function invalid({ name, title, messages, before = [], after }: InvalidMessages): Scenario {
  const steps = [...before, ...messages.map(message => ({ message })), after];
  return { name, title, checks: ['RT-VALIDATE'], servers: [serving(on('call', steps))], run: callAndSettle };
}

async function callAndSettle(session: ScenarioSession): Promise<void> {
  await session.call('call');
  await session.settle();
}

/** Invalid messages must have no effect. */
export const invalidMessageScenarios: readonly Scenario[] = [
  invalid({
    name: 'invalid-results',
    title: 'results, each with one missing or wrong member',
    messages: RESULTS,
    after: { payload: 'the result after invalid results' },
  }),
  invalid({
    name: 'invalid-questions',
    title: 'questions and consent requests, each with one missing or wrong member',
    messages: QUESTIONS,
    after: { payload: 'the result after invalid questions' },
  }),
  {
    ...invalid({
      name: 'invalid-events',
      title: 'events and views, each with one missing or wrong member',
      messages: EVENTS,
      before: [result('subscribed', { subscription: true })],
      after: event('the last event', { final: true }),
    }),
    run: async session => {
      await callAndSettle(session);
      await session.waitForObservation('model', ({ text }) => text.includes('the last event'));
    },
  },
  {
    name: 'not-json',
    title: 'results that are not JSON, or have another content type',
    checks: ['RT-VALIDATE'],
    servers: [
      serving(
        ...['malformed', 'wrong-type'].map(fault =>
          on(fault, `a result that is ${fault}`, { callback: [fault] }),
        ),
      ),
    ],
    run: async session => {
      session.invoke('malformed');
      session.invoke('wrong-type');
      await session.waitForRequests('callback', 2);
      await session.settle();
    },
  },
];
