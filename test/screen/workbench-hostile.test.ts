import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { Fact } from '../../src/events/events.js';
import { systemClock } from '../../src/system/clock.js';
import type { Controls, Server } from '../../src/tui/workbench/model.js';
import { workbenchScreen } from '../../src/tui/workbench/screen.js';
import {
  acknowledged,
  answered,
  arrives,
  CHOICE,
  call,
  EVENT,
  gaveUp,
  INVOCATION,
  KEY,
  lost,
  OAUTH,
  resultArrives,
  THREAD,
  VIEW,
} from '../events/build.js';
import {
  readyServer,
  type SetupOptions,
  setUpWorkbench,
  toolOf,
} from '../tui/workbench/support/set-up-workbench.js';
import { Emulator, type Size } from './support/emulator.js';
import { fakeKeyboard } from './support/fake-keyboard.js';
import { fakeTerminal } from './support/fake-terminal.js';

const ESC = '\u001b';

const ENTER = '\r';

const CTRL_O = '\u000f';

const CTRL_R = '\u0012';

const WIDE = { columns: 200, rows: 60 };

/** The list has the full width, and so a column for threads. */
const MIDDLE = { columns: 164, rows: 40 };

const SMALL = { columns: 80, rows: 24 };

/** A title, a clipboard, text that turns round, a line that is written over, colours of its own, and what is not seen. */
const ACTS = `${ESC}]0;own${'\u0007'}${ESC}]52;c;eA==${'\u0007'}\u202e\r\u009b31m\u200b${ESC}[3J`;

const SEEN = '␛]0;own␇␛]52;c;eA==␇<U+202E>␍<U+009B>31m<U+200B>␛[3J';

/** Where it is read as JSON, which escapes a part of it. */
const IN_JSON = String.raw`\u001b]0;own\u0007\u001b]52;c;eA==\u0007<U+202E>\r<U+009B>31m<U+200B>\u001b[3J`;

/** The visible part in a narrow column. */
const CUT = '␛]0;own';

/** Foreign text in a place that it names. */
const evil = (place: string) => place + ACTS;

const seen = (place: string) => place + SEEN;

const inJson = (place: string) => place + IN_JSON;

const cut = (place: string) => place + CUT;

const jsonCut = (place: string) => String.raw`${place}\u001b]0;own`;

interface Step {
  /** Typed at once. */
  readonly keys?: string;
  /** What must be read then. */
  readonly shown: readonly string[];
  /** Our own text contains it too: pictures among them do not stand out. */
  readonly isExplained?: boolean;
}

interface Scene {
  readonly size?: Size;
  readonly servers?: readonly Server[];
  readonly controls?: Partial<Controls>;
  readonly opened?: readonly string[];
  readonly start?: SetupOptions['start'];
  readonly facts?: readonly Fact[];
  readonly steps: readonly Step[];
}

const server = (state: Server['state']): Server => ({
  ...{ id: 's1', about: evil('about'), isConfigured: true },
  state,
});

const hostileTool = toolOf(evil('operation'), {
  description: evil('description'),
  annotations: { requiresAuth: evil('auth') },
  inputSchema: {
    type: 'object',
    required: [evil('name'), 'exact'],
    properties: {
      [evil('name')]: {
        type: 'string',
        title: evil('title'),
        description: evil('says'),
        default: evil('default'),
      },
      chosen: { enum: [evil('enum'), 'other'], default: evil('enum') },
      exact: { const: evil('const') },
    },
  },
});

const form = { servers: [readyServer([hostileTool])], start: { operation: evil('operation') } };

const invocation = {
  ...INVOCATION,
  operation: evil('operation'),
  arguments: { [evil('key')]: evil('value') },
};

const pending = [...call(), ...acknowledged()];

const settled = (result: object) => [...pending, ...resultArrives(result)];

const showing = (type: string, content: unknown, text = 'harmless') =>
  settled({ text, display_as: [{ type, content }] });

const patch = (text: string) => `--- a/${text}\n+++ b/${text}\n@@ -1 +1 @@ ${text}\n-${text}\n+b${text}\n`;

const oneLine = (text: string) => text.replaceAll('\r', '');

const inRow = seen('row').replaceAll('␍', '');

/** One call with foreign text in every message. */
const everywhere = [
  ...call({ invocation }),
  ...acknowledged(),
  ...arrives({ ...VIEW, content: { patch: patch(oneLine(evil('row'))) } }),
  ...arrives({ ...VIEW, view_type: evil('view') }, { leg: 'back-2' }),
  ...arrives(evil('bytes'), { leg: 'back-3' }),
  ...resultArrives(
    {
      text: JSON.stringify({ [evil('key')]: 1, a: evil('value') }),
      subscription: true,
      display_as: [{ type: 'diff', content: { path: evil('path'), patch: patch(oneLine(evil('row'))) } }],
    },
    { leg: 'back-4' },
  ),
  ...arrives({ ...EVENT, text: evil('event') }, { leg: 'back-5' }),
  { kind: 'warned' as const, message: evil('warning'), calls: [KEY] },
];

const SCENES: Readonly<Record<string, Scene>> = {
  servers: {
    servers: [
      server({ kind: 'loading' }),
      server({ kind: 'unstarted', command: evil('command') }),
      server({ kind: 'failed', message: evil('message'), faults: [evil('fault')], hint: evil('hint') }),
      server({
        ...readyServer([], {
          name: evil('toolset'),
          description: evil('listed'),
          endpoint: evil('http://e/'),
        }).state,
        notes: [evil('note')],
      } as Server['state']),
    ].map((each, index) => ({ ...each, id: `s${index}` })),
    steps: [
      { shown: [seen('about')] },
      { keys: 'j', shown: [seen('command')] },
      { keys: 'j', shown: [seen('message'), seen('fault'), seen('hint')] },
      { keys: 'j', shown: [seen('toolset'), seen('listed'), seen('http://e/'), seen('about'), seen('note')] },
    ],
  },
  'an operation, its schema and its form': {
    size: { columns: 300, rows: 60 }, // half of it for the form, half for its request
    servers: [readyServer([hostileTool])],
    controls: {
      run: async () => ({
        kind: 'invalid',
        faults: [
          { path: '$', message: evil('whole') },
          { path: '$.chosen', message: evil('broken') },
        ],
      }),
    },
    steps: [
      {
        shown: [
          ...['operation', 'description'].map(seen),
          ...['title', 'says', 'default', 'enum'].map(inJson),
        ],
      },
      {
        keys: ENTER,
        shown: [
          seen('operation'),
          seen('description'),
          seen('says'),
          ...['name', 'enum', 'const'].map(cut),
          `…${SEEN.slice(SEEN.indexOf(';eA=='))}`, // the end of the default, before the cursor
          jsonCut('default'),
        ],
      },
      { keys: CTRL_R, shown: [seen('whole'), seen('broken')] },
      { keys: CTRL_O, shown: [inJson('default'), inJson('enum')] },
    ],
  },
  'a call that was not sent': {
    ...form,
    controls: { run: async () => ({ kind: 'refused', reason: evil('reason') }) },
    steps: [{ keys: CTRL_R, shown: [seen('reason')] }],
  },
  'a question of ours about an operation': {
    ...form,
    controls: { needsConsent: () => true },
    steps: [{ keys: CTRL_R, shown: [seen('operation'), 'is marked destructive'] }],
  },
  'the list of calls': {
    size: MIDDLE,
    facts: call({
      invocation: { ...invocation, id: evil('id'), group_id: evil('thread') },
    }),
    steps: [
      { keys: 'c', shown: [cut('id'), cut('thread'), cut('operation'), `sent ${seen('operation')} to`] },
    ],
  },
  'the body of a refusal': {
    facts: [...call(), ...answered(400, { body: evil('body') }), ...gaveUp()],
    steps: [{ keys: `c${ENTER}`, shown: [seen('body')] }],
  },
  'why there was no answer': {
    facts: [...call(), ...lost(evil('code'), { phase: evil('phase') })],
    steps: [{ keys: 'c2', shown: [seen('code'), seen('phase')] }],
  },
  'a question, among the steps and when it is asked; a consent page': {
    facts: [
      ...call({ invocation }),
      ...acknowledged(),
      ...arrives({ ...CHOICE, prompt: evil('prompt'), choices: [evil('one'), 'two'] }),
      ...arrives({ ...OAUTH, auth_url: `https://auth.example/${'\u202e'}go` }, { leg: 'back-2' }),
    ],
    steps: [
      { keys: `c${ENTER}`, shown: [seen('prompt'), seen('one'), 'https://auth.example/<U+202E>go'] },
      { keys: 'a', shown: [`${seen('operation')} asks`, seen('prompt'), `0 ${seen('one')} (default)`] },
    ],
  },
  'every tab of a call': {
    facts: everywhere,
    steps: [
      {
        keys: `c${ENTER}m`,
        shown: [`${inRow} +1 −1`, `@@ ${inRow}`, `1 - ${inRow}`, `1 + b${inRow}`, cut('event')],
        isExplained: true,
      },
      { keys: '\t', shown: [inJson('key'), inJson('value')], isExplained: true },
      { keys: '2', shown: [cut('view'), cut('event'), seen('warning')], isExplained: true },
      { keys: 'bG', shown: [inJson('bytes')], isExplained: true },
      { keys: '4', shown: [`${inRow} +1 −1`, `1 + b${inRow}`], isExplained: true },
    ],
  },
  'both panes, and what is not found in them': {
    facts: showing('text', evil('human'), evil('llm')),
    steps: [
      { keys: `c${ENTER}`, shown: [seen('human'), seen('llm')] },
      { keys: `/no\u202e\u009b\u200bwhere${ENTER}`, shown: ['no<U+202E><U+009B><U+200B>where'] },
    ],
  },
  'a diff that is invalid': {
    facts: showing('diff', { path: evil('path'), patch: evil('patch') }),
    steps: [
      {
        keys: `c${ENTER}5`,
        shown: [`"${seen('patch')}" is not part of`, jsonCut('path')],
        isExplained: true,
      },
    ],
  },
  'a segment that no one knows': {
    facts: showing(evil('segment'), evil('content')),
    steps: [{ keys: `c${ENTER}m`, shown: [seen('segment')], isExplained: true }],
  },
  'the wire: address, header, body': {
    facts: [
      {
        kind: 'request',
        leg: 'try-1',
        from: 'runtime',
        to: 'tool',
        purpose: 'invocation',
        method: evil('METHOD'),
        url: evil('http://127.0.0.1:1/'),
        headers: { 'content-type': evil('json'), accept: evil('any') },
        attempt: 1,
        calls: [KEY],
        thread: THREAD,
        body: Content.ofJson(invocation),
      },
      ...answered(400, { body: evil('refusal') }),
    ],
    steps: [
      {
        keys: `c3${ENTER}`,
        shown: [
          ...['METHOD', 'json', 'refusal'].map(seen),
          cut('http://127.0.0.1:1/'),
          ...['key', 'value'].map(inJson),
        ],
      },
    ],
  },
  'what is wrong with a call': {
    facts: [
      ...pending,
      ...resultArrives({ id: evil('wrong') }),
      ...resultArrives({ text: 7, type: evil('type') }, { leg: 'back-2' }),
    ],
    steps: [{ keys: `c5${ENTER}`, shown: [jsonCut('wrong')], isExplained: true }],
  },
  'the actions on a call, and the name of a transcript': {
    opened: [evil('file')],
    facts: [...call({ invocation }), ...acknowledged(), ...resultArrives()],
    controls: {
      saveFixture: async () => ({ text: evil('said'), isBad: false }),
      asCurl: () => ({ text: `${evil('curl')}\n${evil('second')}`, gaps: [evil('gap')] }),
    },
    steps: [
      { keys: 'cr', shown: [seen('operation')] },
      { keys: 's', shown: ['Save as fixture: operation_0_own_52_c_eA'] },
      { keys: ENTER, shown: [seen('said')] },
      { keys: 'y', shown: [seen('curl'), seen('second'), seen('gap')] },
      { keys: 'qV', shown: [seen('file')] },
    ],
  },
};

describe.concurrent('threats, row 24: foreign text has no effect and hides nothing', () => {
  test.each(Object.entries(SCENES))('in %s', async (_, scene) => {
    await using view = await open(scene);
    const { emulator } = view;
    for (const { keys = '', shown, isExplained = false } of scene.steps) {
      view.type(keys);
      for (const text of shown)
        await emulator.waitFor(`it shows ${text}`, () =>
          withoutSpace(emulator.text()).includes(withoutSpace(text)),
        );
      expectUnharmed(emulator, !isExplained);
    }
    view.resize(SMALL);
    await emulator.waitFor('a smaller frame', () => {
      const rows = emulator.rows();
      return isHead(rows[0]) && rows.at(-2) !== '' && rows.at(-1) === '';
    });
    expectUnharmed(emulator, !scene.steps.at(-1)?.isExplained);
  });
});

/** The screen of a made-up world. */
async function open({ facts = [], size = WIDE, steps: _, ...more }: Scene) {
  const setup = setUpWorkbench({ ...more, level: 2, clock: systemClock });
  setup.emit(facts);
  const emulator = new Emulator(size);
  const keyboard = fakeKeyboard();
  const { stream } = fakeTerminal(emulator, size);
  const stdout = Object.assign(stream, size);
  const screen = workbenchScreen({
    ...setup.options,
    onModelChange: () => () => {},
    subscribe: setup.log.subscribe,
    stdin: keyboard.stream,
    stdout,
  });
  await emulator.waitFor('the first frame', () => isHead(emulator.rows()[0]));
  await emulator.waitFor('raw mode', keyboard.isRaw);
  return {
    emulator,
    type: keyboard.type,
    resize(size: Size) {
      emulator.resize(size);
      Object.assign(stdout, size).emit('resize');
    },
    [Symbol.asyncDispose]: screen.close,
  };
}

/** What we send: colours, the cursor, lines that are drawn again, the alternate screen, wiped, its wheel and pastes. */
const OURS = new RegExp(`${ESC}\\[(\\d*[AGBKH]|2?J|[\\d;]*m|\\?(25|1000|1006|1049|2004|2026)[hl])`, 'g');

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

const PICTURE = /^[\u2400-\u2421]$/;

/** @param standsOut whether each picture is inverse */
function expectUnharmed(emulator: Emulator, standsOut: boolean): void {
  expect(emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
  expect(emulator.raw.replaceAll(OURS, '')).not.toMatch(/[^\P{Cc}\r\n]/u);
  expect(emulator.isAlternate).toBe(true);
  expect(emulator.isCursorVisible).toBe(false);
  expect(emulator.rows()[0]).toMatch(/^protocol-cli {2}/);
  const cells = emulator.cells();
  expect(cells.filter(({ text }) => UNSEEN.test(text))).toEqual([]);
  if (standsOut) expect(cells.filter(({ text, inverse }) => PICTURE.test(text) && !inverse)).toEqual([]);
}

function isHead(row = ''): boolean {
  return row.startsWith('protocol-cli  ');
}

/** Where rows are wrapped depends on what stands before; what they say does not. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}
