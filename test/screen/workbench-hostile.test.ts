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
import { type BenchOptions, openBench, readyServer, toolOf } from '../tui/workbench/support/bench.js';
import { Emulator, type Size } from './support/emulator.js';
import { fakeKeyboard } from './support/fake-keyboard.js';
import { fakeTerminal } from './support/fake-terminal.js';

const ESC = '\u001b';

const ENTER = '\r';

const CTRL_E = '\u0005';

const CTRL_R = '\u0012';

const WIDE = { columns: 200, rows: 60 };

/** The list has the full width, and so a column for threads. */
const MIDDLE = { columns: 140, rows: 40 };

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

interface Scene {
  readonly size?: Size;
  readonly servers?: readonly Server[];
  readonly controls?: Partial<Controls>;
  readonly opened?: readonly string[];
  readonly start?: BenchOptions['start'];
  readonly facts?: readonly Fact[];
  /** Typed one after the other, each once what the one before brought is drawn. */
  readonly keys?: readonly string[];
  /** What must be read in the end. */
  readonly shown: readonly string[];
  /** Our own text contains it too: pictures among them do not stand out. */
  readonly isExplained?: boolean;
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

const refusing = (said: string): Partial<Controls> => ({
  saveFixture: async () => ({ text: said, isBad: true }),
  saveTranscript: async () => ({ text: said, isBad: false }),
});

const SCENES: Readonly<Record<string, Scene>> = {
  'a server that is asked': {
    servers: [server({ kind: 'loading' })],
    shown: [seen('about')],
  },
  'a command that is not started': {
    servers: [server({ kind: 'asleep', command: evil('command') })],
    shown: [seen('command')],
  },
  'a server that failed': {
    servers: [
      server({ kind: 'failed', message: evil('message'), faults: [evil('fault')], hint: evil('hint') }),
    ],
    shown: [seen('message'), seen('fault'), seen('hint')],
  },
  'a toolset': {
    servers: [
      {
        ...readyServer([toolOf('a')], {
          name: evil('toolset'),
          description: evil('told'),
          endpoint: evil('http://e/'),
        }),
        about: evil('about'),
      },
    ],
    keys: ['k'],
    shown: [seen('toolset'), seen('told'), seen('http://e/'), seen('about')],
  },
  'what its server noted': {
    servers: [server({ ...readyServer([toolOf('a')]).state, notes: [evil('note')] } as Server['state'])],
    keys: ['k'],
    shown: [seen('note')],
  },
  'an operation and its schema': {
    servers: [readyServer([hostileTool])],
    shown: [
      seen('operation'),
      seen('description'),
      inJson('title'),
      inJson('says'),
      inJson('default'),
      inJson('enum'),
    ],
  },
  'a form: name, description, default, choice, constant': {
    ...form,
    shown: [
      seen('operation'),
      seen('description'),
      cut('name'),
      seen('says'),
      cut('default'),
      cut('enum'),
      cut('const'),
    ],
  },
  'a form as JSON': { ...form, keys: [CTRL_E], shown: [inJson('default'), inJson('enum')] },
  'faults of arguments': {
    ...form,
    controls: {
      run: async () => ({
        kind: 'invalid',
        faults: [
          { path: '$', message: evil('whole') },
          { path: '$.chosen', message: evil('broken') },
        ],
      }),
    },
    keys: [CTRL_R],
    shown: [seen('whole'), seen('broken')],
  },
  'a call that was not sent': {
    ...form,
    controls: { run: async () => ({ kind: 'refused', reason: evil('reason') }) },
    keys: [CTRL_R],
    shown: [seen('reason')],
  },
  'a question of ours about an operation': {
    ...form,
    controls: { needsConsent: () => true },
    keys: [CTRL_R],
    shown: [seen('operation'), 'is marked destructive'],
  },
  'a call in the list: id': {
    facts: call({ invocation: { ...INVOCATION, id: evil('id') } }),
    keys: ['c'],
    shown: [cut('id')],
  },
  'a call in the list: thread': {
    facts: call({ invocation: { ...INVOCATION, id: 'a', group_id: evil('thread') } }),
    keys: ['c'],
    shown: [cut('thread')],
    size: MIDDLE,
  },
  'a call in the list: operation': {
    facts: call({ invocation }),
    keys: ['c'],
    shown: [`❯  0:00.0  ${cut('operation')}`, `sent ${seen('operation')} to`],
  },
  'the body of a refusal': {
    facts: [...call(), ...answered(400, { body: evil('body') }), ...gaveUp()],
    keys: ['c', ENTER],
    shown: [seen('body')],
  },
  'why there was no answer': {
    facts: [...call(), ...lost(evil('code'), { phase: evil('phase') })],
    keys: ['c', '2'],
    shown: [seen('code'), seen('phase')],
  },
  'a question among the steps': {
    facts: [...pending, ...arrives({ ...CHOICE, prompt: evil('prompt'), choices: [evil('one'), 'two'] })],
    keys: ['c', ENTER],
    shown: [seen('prompt'), seen('one')],
  },
  'a question that is put': {
    facts: [
      ...call({ invocation }),
      ...acknowledged(),
      ...arrives({ ...CHOICE, prompt: evil('prompt'), choices: [evil('one'), 'two'] }),
    ],
    keys: ['c', 'a'],
    shown: [`${seen('operation')} asks`, seen('prompt'), `0 ${seen('one')} (default)`],
  },
  'the address of a consent page': {
    facts: [...pending, ...arrives({ ...OAUTH, auth_url: `https://auth.example/${'\u202e'}go` })],
    keys: ['c', ENTER],
    shown: ['https://auth.example/<U+202E>go'],
  },
  'a result': { facts: settled({ text: evil('text') }), keys: ['c', ENTER], shown: [seen('text')] },
  'a result that is JSON': {
    facts: settled({ text: JSON.stringify({ [evil('key')]: 1, a: evil('value') }) }),
    keys: ['c', ENTER, '\t', 'm'],
    shown: [inJson('key'), inJson('value')],
  },
  'both panes': {
    facts: showing('text', evil('human'), evil('llm')),
    keys: ['c', ENTER],
    shown: [seen('human'), seen('llm')],
  },
  'a diff: path, section, rows': {
    facts: showing('diff', { path: evil('path'), patch: patch(oneLine(evil('row'))) }),
    keys: ['c', ENTER, 'm'],
    shown: [`${inRow} +1 −1`, `@@ ${inRow}`, `1 - ${inRow}`, `1 + b${inRow}`],
    isExplained: true,
  },
  'a diff that is invalid': {
    facts: showing('diff', { path: evil('path'), patch: evil('patch') }),
    keys: ['c', ENTER, '5'],
    shown: [`"${seen('patch')}" is not part of`, jsonCut('path')],
    isExplained: true,
  },
  'a segment that no one knows': {
    facts: showing(evil('segment'), evil('content')),
    keys: ['c', ENTER, 'm'],
    shown: [seen('segment')],
    isExplained: true,
  },
  'a view': {
    facts: [...pending, ...arrives({ ...VIEW, content: { patch: patch(oneLine(evil('row'))) } })],
    keys: ['c', '4', ENTER],
    shown: [`${inRow} +1 −1`, `@@ ${inRow}`, `1 - ${inRow}`, `1 + b${inRow}`],
    isExplained: true,
  },
  'a view of a kind that no one knows': {
    facts: [...pending, ...arrives({ ...VIEW, view_type: evil('view') })],
    keys: ['c', '2', ENTER],
    shown: [cut('view')],
    isExplained: true,
  },
  'an event of a subscription': {
    facts: [
      ...settled({ subscription: true }),
      ...arrives({ ...EVENT, text: evil('event') }, { leg: 'back-2' }),
    ],
    keys: ['c', '2', ENTER],
    shown: [cut('event')],
  },
  'a warning': {
    facts: [...pending, { kind: 'warned', message: evil('warning'), calls: [KEY] }],
    keys: ['c', '2', ENTER],
    shown: [seen('warning')],
  },
  'the bytes of a message': {
    facts: [...pending, ...arrives(evil('bytes'))],
    keys: ['c', '2', 'b', ENTER],
    shown: [inJson('bytes')],
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
    keys: ['c', '3', ENTER],
    shown: [
      seen('METHOD'),
      cut('http://127.0.0.1:1/'),
      seen('json'),
      inJson('key'),
      inJson('value'),
      seen('refusal'),
    ],
  },
  'what is wrong with a call': {
    facts: [
      ...pending,
      ...resultArrives({ id: evil('wrong') }),
      ...resultArrives({ text: 7, type: evil('type') }, { leg: 'back-2' }),
    ],
    keys: ['c', '5', ENTER],
    shown: [jsonCut('wrong')],
    isExplained: true,
  },
  'the name of a transcript': { opened: [evil('file')], keys: ['c', 'V'], shown: [seen('file')] },
  'what came of a doing': {
    facts: settled({}),
    controls: refusing(evil('said')),
    keys: ['c', 's', ENTER],
    shown: [seen('said')],
  },
  'a file name that is offered': {
    facts: [...call({ invocation }), ...acknowledged(), ...resultArrives()],
    keys: ['c', 's'],
    shown: ['Save as fixture: operation_0_own_52_c_eA'],
  },
  'what is copied': {
    facts: settled({}),
    controls: { asCurl: () => ({ text: `${evil('curl')}\n${evil('second')}`, gaps: [evil('gap')] }) },
    keys: ['c', 'y'],
    shown: [seen('curl'), seen('second'), seen('gap')],
  },
  'what is typed, and what is not found': {
    facts: settled({}),
    keys: ['c', ENTER, '/', `no\u202e\u009b\u200bwhere`, ENTER],
    shown: ['no<U+202E><U+009B><U+200B>where'],
  },
  'an operation that no one offers any more': {
    facts: [...call({ invocation }), ...acknowledged(), ...resultArrives()],
    keys: ['c', 'r'],
    shown: [seen('operation')],
  },
};

describe.concurrent('threats, row 24: foreign text has no effect and hides nothing', () => {
  test.each(Object.entries(SCENES))('in %s', async (_, scene) => {
    await using view = await open(scene);
    const { emulator } = view;
    for (const text of scene.shown)
      await emulator.waitFor(`it shows ${text}`, () =>
        withoutSpace(emulator.text()).includes(withoutSpace(text)),
      );
    expectUnharmed(emulator, !scene.isExplained);
    view.resize(SMALL);
    await emulator.waitFor('a smaller frame', () => {
      const rows = emulator.rows();
      return isHead(rows[0]) && rows.at(-2) !== '' && rows.at(-1) === '';
    });
    expectUnharmed(emulator, !scene.isExplained);
  });
});

/** The screen of a made-up world, after these keys. */
async function open({ facts = [], keys = [], size = WIDE, ...more }: Scene) {
  const bench = openBench({ ...more, level: 2, clock: systemClock });
  bench.tell(facts);
  const emulator = new Emulator(size);
  const keyboard = fakeKeyboard();
  const { stream } = fakeTerminal(emulator, size);
  const stdout = Object.assign(stream, size);
  const screen = workbenchScreen({
    ...bench.options,
    onModelChange: () => () => {},
    subscribe: bench.log.subscribe,
    stdin: keyboard.stream,
    stdout,
  });
  await emulator.waitFor('the first frame', () => isHead(emulator.rows()[0]));
  await emulator.waitFor('raw mode', keyboard.isRaw);
  keyboard.type(keys.join(''));
  return {
    emulator,
    resize(size: Size) {
      emulator.resize(size);
      Object.assign(stdout, size).emit('resize');
    },
    [Symbol.asyncDispose]: screen.close,
  };
}

/** What we send: colours, the cursor, lines that are drawn again, the alternate screen, wiped below the cursor. */
const OURS = new RegExp(`${ESC}\\[(\\d*[AGBKH]|J|[\\d;]*m|\\?(25|1049|2026)[hl])`, 'g');

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
