import type { Scenario, ScenarioSession } from '../scenario.js';

const PLAIN = { fixtures: [{ match: { operation: 'answer' }, reply: { payload: 'the answer is 42' } }] };

/** Some runtimes and model APIs cut texts of this length. */
const LINES = 20_000;

/** Between two events that must stay in order, in ms. */
const GAP_MS = 200;

/** In bytes. The protocol has no limit; a runtime may have one. */
const LARGE_MESSAGE = 4 * 1024 * 1024;

const LARGE = Array.from({ length: LINES }, (_, index) => `line ${index} of a text of a mebibyte, whole.`);

const TEXTS = {
  large: LARGE.join('\n'),
  blank: '  a text with blanks and line breaks around it \n\n',
  json: '{"total": 1.50,  "items": [{"id": 9007199254740993}], "note": "a text, not an object"}',
  control: 'a text with\u0000 control\u001b[31m characters\r\n\tand \u007f more',
  invisible:
    'a text with \u202ebidi\u202c and in\u200bvisible characters, e\u0301 and \u{1f469}\u200d\u{1f680}',
  markup: '<b>a text</b> & {{markup}} %s $& \\n "quoted"',
  empty: '',
};

/** Braces in a fixture are templates. */
const escaped = (text: string) => text.replaceAll('{{', '\\{{');

const IMAGE = {
  type: 'image',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  mediaType: 'image/png',
};

const item = (text: string) => ({ type: 'text', text });

const CONTENTS = {
  items: { text: 'two items', content: [item('the first item'), item('the second item')] },
  image: { text: 'an image', content: [item('before the image'), IMAGE, item('after the image')] },
  images: { text: 'two images', content: [item('before the images'), IMAGE, IMAGE] },
  modern: { content: [item('content without a text')] },
  absent: { text: 'the text beside an empty content', content: [] },
};

/** Answers each operation with the result of its name. */
function answersOf(results: Readonly<Record<string, object>>) {
  const fixtures = Object.entries(results).map(([operation, result]) => ({
    match: { operation },
    reply: { result },
  }));
  return { middleware: { sanitize: false }, fixtures };
}

async function callAll(session: ScenarioSession, operations: readonly string[]): Promise<void> {
  for (const operation of operations) await session.call(operation);
}

/** Results as they should be: in full, unchanged, once. */
export const resultScenarios: readonly Scenario[] = [
  {
    name: 'result',
    title: 'a call with a plain result',
    checks: ['RT-TEXT', 'RT-FIELDS', 'RT-ID', 'RT-OP', 'RT-ARGS'],
    servers: [PLAIN],
    run: async session => {
      await session.call('answer', { question: 'life' });
    },
  },
  {
    name: 'texts',
    title:
      'results with a text of 1 MiB, with blanks, JSON, control and invisible characters, and without text',
    checks: ['RT-TEXT'],
    needs: ['model'],
    servers: [
      answersOf(
        Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, { text: escaped(text) }])),
      ),
    ],
    run: session => callAll(session, Object.keys(TEXTS)),
  },
  {
    name: 'content',
    title: 'results with content: texts, images, no text beside it, an empty list',
    checks: ['RT-TEXT'],
    needs: ['model'],
    servers: [answersOf(CONTENTS)],
    run: session => callAll(session, Object.keys(CONTENTS)),
  },
  {
    name: 'large-message',
    title: 'a result in a message of 4 MiB, which may be refused, then a short one',
    checks: ['RT-TEXT'],
    needs: ['model'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'answer' },
            reply: [
              { result: { text: 'a result in a large message', x_padding: ' '.repeat(LARGE_MESSAGE) } },
              { result: { text: 'a result in a short message' } },
            ],
          },
        ],
      },
    ],
    run: async session => {
      await session.call('answer');
      await session.arrives('callback', 3);
      await session.settle();
    },
  },
  {
    name: 'early-and-late',
    title: 'a result before the acknowledgement, and one after those of later calls',
    checks: ['RT-TEXT'],
    needs: ['model'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'early' },
            faults: { callback: ['before-ack'] },
            reply: { payload: 'a result before the acknowledgement' },
          },
          { match: { operation: 'late' }, reply: { delay: '300ms', payload: 'a late result' } },
          ...PLAIN.fixtures,
        ],
      },
    ],
    run: async session => {
      const late = session.invoke('late');
      await session.call('early');
      await session.call('answer');
      await session.result(late);
    },
  },
  {
    name: 'duplicates',
    title: 'the same result twice, and a second result with another text',
    checks: ['RT-DUP'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'repeat' },
            faults: { callback: ['duplicate'] },
            reply: { payload: 'a result that is sent twice' },
          },
          {
            match: { operation: 'contradict' },
            reply: [
              { result: { text: 'the first result counts' } },
              { result: { text: 'a second result does not count' } },
            ],
          },
        ],
      },
    ],
    run: async session => {
      await session.call('repeat');
      await session.call('contradict');
      await session.arrives('callback', 4);
      await session.settle();
    },
  },
  {
    name: 'wrong-ids',
    title:
      'results with an unknown id, an unknown thread, the id of a finished call and of another pending one',
    checks: ['RT-MATCH'],
    servers: [
      {
        fixtures: [
          ...PLAIN.fixtures,
          {
            match: { operation: 'pending' },
            reply: { delay: '300ms', payload: 'the own result of a pending call' },
          },
          {
            match: { operation: 'forge' },
            reply: [
              { result: { id: 'call_unknown', text: 'a result with an unknown id' } },
              { result: { group_id: 'thread_unknown', text: 'a result with an unknown thread' } },
              { result: { id: '{{arguments.finished}}', text: 'a result with the id of a finished call' } },
              { result: { id: '{{arguments.pending}}', text: 'a result with the id of a pending call' } },
              { payload: 'the own result of the call' },
            ],
          },
        ],
      },
    ],
    run: async session => {
      await session.call('answer');
      const pending = session.invoke('pending');
      await session.arrives('invocation', 2);
      await session.call('forge', { finished: idOf(session, 'answer'), pending: idOf(session, 'pending') });
      await session.result(pending);
      await session.settle();
    },
  },
  {
    name: 'at-once',
    title: 'results and events of several calls at the same moment, then events one after another',
    checks: ['RT-SERIAL'],
    needs: ['model'],
    servers: [
      {
        fixtures: [
          { match: { operation: 'answer' }, reply: { payload: 'answer {{arguments.number}}' } },
          ...['red', 'blue'].map(operation => ({
            match: { operation },
            reply: [
              { result: { text: `${operation}: subscribed`, subscription: true } },
              { event: { text: `${operation}: at once` }, on: 'demand' },
              { event: { text: `${operation}: in turn` }, on: 'demand' },
              { event: { text: `${operation}: last`, final: true }, on: 'demand' },
            ],
          })),
        ],
      },
    ],
    run: async session => {
      const calls = [1, 2, 3, 4, 5, 6].map(number => session.invoke('answer', { number }));
      for (const call of calls) await session.result(call);
      await callAll(session, ['red', 'blue']);
      const [red, blue] = [idOf(session, 'red'), idOf(session, 'blue')];
      const fire = (id: string) => void session.tool.fire(id);
      fire(red);
      fire(blue);
      await session.saw('model', ({ text }) => text === 'red: at once');
      await session.saw('model', ({ text }) => text === 'blue: at once');
      for (const id of [red, blue, red, blue]) {
        fire(id);
        await session.quiet(GAP_MS);
      }
      await session.saw('model', ({ text }) => text === 'blue: last');
    },
  },
  {
    name: 'late-after-cancel',
    title: 'the result of a call that was canceled',
    checks: ['RT-CANCEL'],
    needs: ['cancel', 'model'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'slow' },
            faults: { callback: ['after-cancel'] },
            reply: { delay: '1h', payload: 'a result after the cancel' },
          },
        ],
      },
    ],
    run: async session => {
      session.invoke('slow');
      await session.arrives('invocation', 2);
      session.ask({ do: 'cancel' });
      await session.arrives('cancel');
      await session.arrives('callback', 2);
      await session.settle();
    },
  },
];

/** The id of the latest invocation of an operation. */
function idOf({ tool }: ScenarioSession, operation: string): string {
  const call = tool.calls().findLast(({ invocation }) => invocation?.operation === operation);
  return call?.addressee?.id ?? '';
}
