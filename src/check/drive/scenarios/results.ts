import type { Scenario } from '../scenario.js';
import type { ScenarioSession } from '../scenario-session.js';
import { event, ON_DEMAND, offering, on, result, serving } from './fixtures.js';

const ANSWER = on('answer', 'the answer is 42');

/** Some runtimes and model APIs cut texts of this length. */
const LINES = 20_000;

/** How long the answer to an event may take before the next one is sent, in ms. */
const GAP_MS = 200;

/** In bytes. The protocol has no limit; a runtime may have one. */
const LARGE_MESSAGE = 4 * 1024 * 1024;

const LARGE = Array.from({ length: LINES }, (_, index) => `line ${index} of a text of a mebibyte, whole.`);

/** By operation. */
const TEXTS: Readonly<Record<string, string>> = {
  large: LARGE.join('\n'),
  blank: '  a text with blanks and line breaks around it \n\n',
  json: '{"total": 1.50,  "items": [{"id": 9007199254740993}], "note": "a text, not an object"}',
  control: 'a text with\u0000 control\u001b[31m characters\r\n\tand \u007f more',
  invisible:
    'a text with \u202ebidi\u202c and in\u200bvisible characters, e\u0301 and \u{1f469}\u200d\u{1f680}',
  markup: '<b>a text</b> & {{markup}} %s $& \\n "quoted"',
  empty: '',
};

const text = (content: string) => ({ type: 'text', text: content });

const IMAGE = {
  type: 'image',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  mediaType: 'image/png',
};

const CONTENTS = {
  items: { text: 'two items', content: [text('the first item'), text('the second item')] },
  image: { text: 'an image', content: [text('before the image'), IMAGE, text('after the image')] },
  images: { text: 'two images', content: [text('before the images'), IMAGE, IMAGE] },
  modern: { content: [text('content without a text')] },
  absent: { text: 'the text beside an empty content', content: [] },
};

const short = (content: string) => ({ type: 'text', content });

const diff = (patch: unknown) => ({ type: 'diff', content: { path: 'note.txt', patch } });

const DIFF = diff('--- a/note.txt\n+++ b/note.txt\n@@ -1 +1 @@\n-before\n+after\n');

const UNKNOWN = { type: 'x-hologram', content: { depth: 3 } };

/** The segments of each operation. */
const SEGMENTS = {
  diff: [DIFF, short('a diff first')],
  unknown: [UNKNOWN, DIFF, short('an unknown segment first')],
  only_unknown: [UNKNOWN],
  image: [{ type: 'image', content: IMAGE }, short('an image first')],
  malformed: [diff(42), { type: 'diff' }, short('a malformed diff first')],
  text: [short('a text first'), DIFF],
  empty: [],
  none: undefined,
};

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

/** A scenario that calls each operation once; it gets the result of its name. */
const results = (
  name: string,
  title: string,
  checks: Scenario['checks'],
  needs: NonNullable<Scenario['needs']>,
  byOperation: Readonly<Record<string, object>>,
): Scenario => ({
  name,
  title,
  checks,
  needs,
  servers: [
    {
      middleware: { sanitize: false },
      fixtures: Object.entries(byOperation).map(([operation, each]) => on(operation, { result: each })),
    },
  ],
  run: async session => {
    for (const operation of Object.keys(byOperation)) await session.call(operation);
    await session.waitQuietly();
  },
});

/** A scenario with messages that must have no effect; afterwards the call is still pending. */
const invalid = (
  name: string,
  title: string,
  messages: readonly unknown[],
  [first, last]: readonly [object | null, object],
): Scenario => ({
  name,
  title,
  checks: ['RT-VALIDATE'],
  servers: [
    serving(on('call', [...(first ? [first] : []), ...messages.map(message => ({ message })), last])),
  ],
  run: callAndSettle,
});

async function callAndSettle(session: ScenarioSession): Promise<void> {
  await session.call('call');
  await session.settle();
}

/**
 * Results and other messages must reach the model complete, unchanged and once. Invalid messages and messages of other calls must have no
 * effect.
 */
export const resultScenarios: readonly Scenario[] = [
  {
    name: 'result',
    title: 'a call with a plain result',
    checks: ['RT-TEXT', 'RT-FIELDS', 'RT-ID', 'RT-OP', 'RT-ARGS', 'RT-ACK'],
    servers: [offering({ answer: { question: 'string' } }, ANSWER)],
    run: session => session.call('answer', { question: 'life' }),
  },
  results(
    'texts',
    'results with a text of 1 MiB, with blanks, JSON, control and invisible characters, and without text',
    ['RT-TEXT'],
    ['model'],
    Object.fromEntries(
      // Braces in a fixture are templates.
      Object.entries(TEXTS).map(([name, each]) => [name, { text: each.replaceAll('{{', '\\{{') }]),
    ),
  ),
  results(
    'content',
    'results with content: texts, images, no text beside it, an empty list',
    ['RT-TEXT'],
    ['model'],
    CONTENTS,
  ),
  {
    name: 'large-message',
    title: 'a result in a message of 4 MiB, which may be refused, then a short one',
    checks: ['RT-TEXT'],
    needs: ['model'],
    servers: [
      serving(
        on('answer', [
          result('a result in a large message', { x_padding: ' '.repeat(LARGE_MESSAGE) }),
          result('a result in a short message'),
        ]),
      ),
    ],
    run: async session => {
      await session.call('answer');
      await session.waitForRequests('callback', 3);
      await session.settle();
    },
  },
  {
    name: 'early-and-late',
    title: 'a result before the acknowledgement, and one after those of later calls',
    checks: ['RT-TEXT'],
    needs: ['model'],
    servers: [
      serving(
        on('early', 'a result before the acknowledgement', { callback: ['before-ack'] }),
        on('late', { delay: '300ms', payload: 'a late result' }),
        ANSWER,
      ),
    ],
    run: async session => {
      const late = session.invoke('late');
      await session.call('early');
      await session.call('answer');
      await session.waitForResult(late);
    },
  },
  {
    name: 'duplicates',
    title: 'the same result twice, and a second result with another text',
    checks: ['RT-DUP', 'RT-ACK'],
    servers: [
      serving(
        on('repeat', 'a result that is sent twice', { callback: ['duplicate'] }),
        on('contradict', [result('the first result counts'), result('a second result does not count')]),
      ),
    ],
    run: async session => {
      await session.call('repeat');
      await session.call('contradict');
      await session.waitForRequests('callback', 4);
      await session.settle();
    },
  },
  {
    name: 'wrong-ids',
    title:
      'results with an unknown id, an unknown thread, the id of a finished call and of another pending one',
    checks: ['RT-MATCH'],
    needs: ['model'],
    servers: [
      offering(
        { forge: { finished: 'string', pending: 'string' } },
        ANSWER,
        on('pending', { delay: '300ms', payload: 'the own result of a pending call' }),
        on('forge', [
          result('a result with an unknown id', { id: 'call_unknown' }),
          result('a result with an unknown thread', { group_id: 'thread_unknown' }),
          result('a result with the id of a finished call', { id: '{{arguments.finished}}' }),
          result('a result with the id of a pending call', { id: '{{arguments.pending}}' }),
          { payload: 'the own result of the call' },
        ]),
      ),
    ],
    run: async session => {
      await session.call('answer');
      const pending = session.invoke('pending');
      await session.waitForRequests('invocation', 2);
      const idOf = (operation: string) => session.latestCall(operation)?.id;
      await session.call('forge', { finished: idOf('answer'), pending: idOf('pending') });
      await session.waitForResult(pending);
      await session.settle();
    },
  },
  {
    name: 'at-once',
    title: 'results and events of several calls at the same moment, then events one after another',
    checks: ['RT-SERIAL'],
    needs: ['model'],
    servers: [
      offering(
        { answer: { number: 'integer' } },
        on('answer', 'answer {{arguments.number}}'),
        ...['red', 'blue'].map(operation =>
          // Only associative events belong to the thread of their call.
          on(operation, [
            result(`${operation}: subscribed`, { subscription: true }),
            { ...event(`${operation}: at once`, { associative: true }), ...ON_DEMAND },
            { ...event(`${operation}: in turn`, { associative: true }), ...ON_DEMAND },
            { ...event(`${operation}: last`, { associative: true, final: true }), ...ON_DEMAND },
          ]),
        ),
      ),
    ],
    run: async session => {
      const calls = [1, 2, 3, 4, 5, 6].map(number => session.invoke('answer', { number }));
      for (const call of calls) await session.waitForResult(call);
      for (const operation of ['red', 'blue']) await session.call(operation);
      session.fire('red');
      session.fire('blue');
      await session.waitForObservation('model', each => each.text === 'red: at once');
      await session.waitForObservation('model', each => each.text === 'blue: at once');
      for (const operation of ['red', 'blue', 'red', 'blue']) await session.fireInTurn(operation, GAP_MS);
      await session.waitForObservation('model', each => each.text === 'blue: last');
    },
  },
  {
    name: 'late-after-cancel',
    title: 'the result of a call that was canceled',
    checks: ['RT-CANCEL', 'RT-ACK'],
    needs: ['cancel', 'model'],
    servers: [
      serving(
        on('slow', { delay: '1h', payload: 'a result after the cancel' }, { callback: ['after-cancel'] }),
      ),
    ],
    run: async session => {
      session.invoke('slow');
      await session.waitForRequests('invocation', 2);
      session.instruct({ do: 'cancel' });
      await session.waitForRequests('cancel');
      await session.waitForRequests('callback', 2);
      await session.settle();
    },
  },
  invalid('invalid-results', 'results, each with one missing or wrong member', RESULTS, [
    null,
    { payload: 'the result after invalid results' },
  ]),
  invalid(
    'invalid-questions',
    'questions and consent requests, each with one missing or wrong member',
    QUESTIONS,
    [null, { payload: 'the result after invalid questions' }],
  ),
  {
    ...invalid('invalid-events', 'events and views, each with one missing or wrong member', EVENTS, [
      result('subscribed', { subscription: true }),
      event('the last event', { final: true }),
    ]),
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
  results(
    'display',
    'results with display segments: unknown, image, diff, malformed diff, text first, none',
    ['RT-DISPLAY', 'RT-TEXT'],
    ['human'],
    Object.fromEntries(
      Object.entries(SEGMENTS).map(([operation, display_as]) => [
        operation,
        { text: `the whole text of ${operation}`, ...(display_as && { display_as }) },
      ]),
    ),
  ),
];
