import {
  type Answer,
  type BrokenTool,
  type BrokenTools,
  type Fields,
  fieldsIn,
  isFields,
  startTwisted,
  startWithText,
  textIn,
} from './tool.js';

const SOUND = { operation: 'read', arguments: { line: 1 } };
const FAULTY = { operation: 'read', arguments: { line: 0 } };
const FILTER = {
  type: 'object',
  properties: { from: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['from', 'tags'],
};
const FILTERED = {
  type: 'object',
  properties: { filter: FILTER },
  required: ['filter'],
  additionalProperties: false,
};

/** What is wrong with how that is refused which must be, or with the words for it. */
export const refusals: BrokenTools = {
  'TOOL-VALIDATE': [
    {
      does: 'executes whatever it is reported',
      start: () => startTwisted({ invocation: call => ({ ...call, ...(isCall(call) && SOUND) }) }),
      says: /was executed: its result is/,
    },
    {
      does: 'executes any name, with arguments that it validates',
      start: () =>
        startTwisted({ invocation: call => (isKnown(call) ? call : { ...call, operation: 'read' }) }),
      says: /^an unknown operation was executed: its result is that of a valid call/,
    },
    {
      does: 'takes a name in capitals for the same name',
      start: () =>
        startTwisted({
          invocation: call => ({ ...call, operation: String(call['operation']).toLowerCase() }),
        }),
      says: /^an unknown operation was executed: its result is that of a valid call/,
    },
    {
      does: 'calls what every object inherits',
      start: () =>
        startTwisted({
          delivers: ({ url, message, invocation }, post) =>
            post(url, invocation['operation'] === 'constructor' ? { ...message, text: '{}' } : message),
        }),
      says: /^an unknown operation may have been executed/,
      status: 'warn',
    },
    {
      does: 'validates no argument within another',
      start: () =>
        startTwisted({
          toolset: schemed(FILTERED),
          invocation: call => ({ ...call, ...(call['operation'] === 'odd' && !hasFilter(call) && FAULTY) }),
        }),
      says: /arguments do not match its inputSchema was executed/,
    },
  ],
  'TOOL-UNKNOWN-OP': [
    answering('404', call => isCall(call) && !isKnown(call), 404, /an unknown operation was answered 404/),
  ],
  'TOOL-BAD-ARGS': [
    answering(
      '422',
      call => isCall(call) && isKnown(call) && !isSound(call),
      422,
      /invalid arguments was answered 422/,
    ),
  ],
  'TOOL-MALFORMED': [
    answering('400', call => !isCall(call), 400, /a malformed payload was answered 400/),
    {
      does: 'breaks the connection at what is not JSON',
      start: () =>
        startTwisted({
          answers: (_, body) => (isFields(fieldsIn(body)) && isJson(body) ? undefined : 'reset'),
        }),
      says: /ended without an answer to a malformed payload/,
    },
    {
      does: 'is gone after what is not JSON',
      start: () => startTwisted(dyingOf(body => !isJson(body))),
      says: /malformed payload/,
      status: 'fail',
    },
    {
      does: 'is gone after a callback URL that is not a URL',
      start: () => startTwisted(dyingOf(hasNoUrl)),
      says: /malformed payload/,
      status: 'fail',
    },
  ],
  'TOOL-EXTRA': [
    answering(
      '400',
      call => isCall(call) && hasExtras(call),
      400,
      /^answered 400 to unknown members, and 200 without them: x-unknown, version$/,
    ),
    {
      does: 'ends in an error',
      start: () =>
        startTwisted({
          invocation: call => ({ ...call, ...(hasExtras(call) && { arguments: { line: 0 } }) }),
        }),
      says: /^a call ended in an error, and succeeded without these members: x-unknown, version/,
    },
  ],
  'TOOL-ERRPREFIX': [
    failing('begins in its own way', 'Failure: the disk is full', /does not start with "Error: "/),
    failing('says nothing', 'Error: ', /an error has no message/),
    ...['[object Object]', 'undefined'].map(text =>
      failing(`says ${text}`, `Error: ${text}`, /an error has no message/),
    ),
  ],
  'TOOL-NOLEAK': [
    failing(
      'shows its stack',
      'Error: no space left\n    at write (/srv/tool/disk.js:10:5)',
      /a stack trace/,
    ),
    {
      does: 'shows the stack of what a text did to it',
      start: () =>
        startWithText({
          delivers: ({ url, message, invocation }, post) => {
            const text = "Error: syntax error near ';'\n    at query (/srv/tool/db.js:10:5)";
            return post(url, textIn(invocation).startsWith("';") ? { ...message, text } : message);
          },
        }),
      says: /a stack trace/,
    },
    failing('shows its paths', 'Error: cannot write /home/bob/tool/cache.json', /a path of the host/),
    failing('shows its file URLs', 'Error: cannot load file:///srv/tool/cache.mjs', /a path of the host/),
    failing('shows its modules', "Error: Cannot find module '/app/src/db.js'", /a path of the host/),
    failing('shows a frame of Ruby', "Error: no row (lib/store.rb:12:in `find')", /a stack trace/),
    failing(
      'shows a panic of Rust',
      "Error: thread 'tokio-runtime-worker' (4711) panicked at src/main.rs:3:5: no row",
      /a stack trace/,
    ),
    failing(
      'shows the address of its database',
      'Error: connect ECONNREFUSED 10.0.3.7:5432',
      /an address of its network/,
    ),
  ],
};

function failing(does: string, text: string, says: RegExp): BrokenTool {
  return { does, fixture: { reply: { result: { text } } }, says };
}

function answering(
  does: string,
  isMeant: (call: Fields) => boolean,
  status: number,
  says: RegExp,
): BrokenTool {
  const answers = (path: string, body: string): Answer | undefined =>
    path === '/invoke' && isMeant(fieldsIn(body)) ? { status } : undefined;
  return { does: `answers ${does}`, start: () => startTwisted({ answers }), says };
}

/** No one is there any more once it got a body that it cannot read. */
function dyingOf(isUnreadable: (body: string) => boolean) {
  let isDead = false;
  return {
    isGone: () => isDead,
    answers(_: string, body: string) {
      isDead ||= isUnreadable(body);
      return isDead ? ('reset' as const) : undefined;
    },
  };
}

function hasNoUrl(body: string): boolean {
  const { callback_url: url } = fieldsIn(body);
  return url !== undefined && !(typeof url === 'string' && URL.canParse(url));
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

function isCall({ operation, arguments: args }: Fields): boolean {
  return typeof operation === 'string' && isFields(args);
}

function isKnown({ operation }: Fields): boolean {
  return operation === 'read' || operation === 'odd';
}

function isSound({ operation, arguments: args }: Fields): boolean {
  return operation === 'odd' || JSON.stringify(args) === JSON.stringify(SOUND.arguments);
}

const FIELDS = [
  'operation',
  'arguments',
  'id',
  'call_id',
  'group_id',
  'callback_url',
  'user_id',
  'thread_ancestors',
];

function hasExtras(call: Fields): boolean {
  return Object.keys(call).some(name => !FIELDS.includes(name));
}

/** What is wrong with a server beside its calls. */
export const servers: BrokenTools = {
  'TOOL-CANCEL': [answeringAt('/cancel_tool_call', { status: 404 }, /\/cancel_tool_call answered 404/)],
  'TOOL-CLOSE': [
    answeringAt('/close_thread', { status: 204 }, /\/close_thread answered 204/),
    answeringAt('/close_thread', { status: 200, body: 'closed' }, /answered 200 with a body/),
  ],
  'TOOL-DISCOVER': [
    offering('has no endpoint', ({ endpoint, ...toolset }) => toolset, /invalid toolset: /),
    offering('has a schema that is invalid', schemed({ type: 'objekt' }), /invalid toolset: /),
    offering('offers nothing', toolset => ({ ...toolset, tools: [] }), /invalid toolset: /),
  ],
  'TOOL-NAMES': [
    offering('has a name twice', named('read'), /read/),
    offering('has a name that is invalid', named('read all'), /may hold only/),
  ],
  'TOOL-MIGRATE': [
    migrating('has no /migrate', { status: 404 }, /\/migrate is missing/),
    migrating('moves what is not there', { status: 200 }, /\/migrate answered 200 to an invalid request/),
    migrating('accepts what is not there', { status: 202 }, /\/migrate answered 202 to an invalid request/),
  ],
};

function answeringAt(path: string, answer: Answer, says: RegExp): BrokenTool {
  const { status, body = 'nothing' } = answer;
  const answers = (to: string) => (to === path ? answer : undefined);
  return { does: `answers ${status} with ${body}`, start: () => startTwisted({ answers }), says };
}

function offering(does: string, toolset: (toolset: Fields) => Fields, says: RegExp): BrokenTool {
  return { does, start: () => startTwisted({ toolset }), says };
}

function named(name: string): (toolset: Fields) => Fields {
  return offeringOdd({ name });
}

function schemed(inputSchema: object): (toolset: Fields) => Fields {
  return offeringOdd({ inputSchema });
}

/** With other members of the odd operation. */
function offeringOdd(members: object): (toolset: Fields) => Fields {
  return toolset => {
    const tools = Array.isArray(toolset['tools']) ? toolset['tools'].filter(isFields) : [];
    return { ...toolset, tools: tools.map(tool => ({ ...tool, ...(tool['name'] === 'odd' && members) })) };
  };
}

function migrating(does: string, answer: Answer, says: RegExp): BrokenTool {
  const toolset = (offered: Fields) => ({ ...offered, needsMigration: true });
  const answers = (path: string) => (path === '/migrate' ? answer : undefined);
  return { does, start: () => startTwisted({ toolset, answers }), says };
}

/** Whether the arguments are right as far as this tool looks. */
function hasFilter({ arguments: args }: Fields): boolean {
  return isFields(args) && isFields(args['filter']) && Object.keys(args).length === 1;
}
