import type { Scenario } from '../scenario.js';
import { callingEach, event, IMAGE, ON_DEMAND, offering, on, result, serving } from './fixtures.js';

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

const CONTENTS = {
  items: { text: 'two items', content: [text('the first item'), text('the second item')] },
  image: { text: 'an image', content: [text('before the image'), IMAGE, text('after the image')] },
  images: { text: 'two images', content: [text('before the images'), IMAGE, IMAGE] },
  modern: { content: [text('content without a text')] },
  absent: { text: 'the text beside an empty content', content: [] },
};

/** Results must reach the model complete, unchanged and once. Results of other calls must have no effect. */
export const resultScenarios: readonly Scenario[] = [
  {
    name: 'result',
    title: 'a call with a plain result',
    checks: ['RT-TEXT', 'RT-FIELDS', 'RT-ID', 'RT-OP', 'RT-ARGS', 'RT-ACK'],
    servers: [offering({ answer: { question: 'string' } }, ANSWER)],
    run: session => session.call('answer', { question: 'life' }),
  },
  callingEach(
    {
      name: 'texts',
      title:
        'results with a text of 1 MiB, with blanks, JSON, control and invisible characters, and without text',
      checks: ['RT-TEXT'],
      needs: ['model'],
    },
    Object.fromEntries(
      // Braces in a fixture are templates.
      Object.entries(TEXTS).map(([name, each]) => [name, { text: each.replaceAll('{{', '\\{{') }]),
    ),
  ),
  callingEach(
    {
      name: 'content',
      title: 'results with content: texts, images, no text beside it, an empty list',
      checks: ['RT-TEXT'],
      needs: ['model'],
    },
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
      for (const text of ['red: in turn', 'blue: in turn', 'red: last', 'blue: last'])
        await session.waitForObservation('model', each => each.text === text);
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
];
