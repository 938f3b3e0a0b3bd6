import { usage } from '../options.js';

const OWN_IDS = 'each call has ids of its own';
const STAYS = 'it stays until you quit';
const DRAWN = 'it is drawn on the terminal';

/** Options of a single call, or of output without a screen, that have no effect in the workbench. */
const IDLE_IN_WORKBENCH = {
  '--endpoint': 'without discovery there are no operations to choose from',
  '--mcp': 'the workbench speaks RAP',
  '--no-validate': 'you are shown what is wrong, and may send it all the same',
  '--dry-run': 'nothing is sent before you say so; a call can be copied as curl',
  '--id': OWN_IDS,
  '--call-id': OWN_IDS,
  '--no-close': 'threads are closed when you quit',
  '--linger': STAYS,
  '--follow': STAYS,
  '--repeat': 'a call is run again with a key',
  '--concurrency': 'it belongs to --repeat',
  '--choose': 'you are asked',
  '--output': DRAWN,
  '--dialect': DRAWN,
  '--quiet': DRAWN,
  '--verbose': 'the wire of each call is a tab',
};

const NO_CALLBACKS = 'MCP has no callbacks: the answer to tools/call is the result';
const OTHER_TOOL = 'the tool is that of --mcp';
const ONCE = 'tools/call is sent once, and answered once';
const NO_THREADS = 'MCP has no threads, and no ids but those of JSON-RPC';

/** Options of RAP that have no effect with an MCP server. */
const IDLE_ON_MCP = {
  '--demo': OTHER_TOOL,
  '--command': `${OTHER_TOOL}, which takes a command itself`,
  '--endpoint': 'the URL of --mcp is the endpoint already',
  '--call-id': NO_THREADS,
  '--group-id': NO_THREADS,
  '--user-id': 'MCP has no word for the user of a call',
  '--ancestor': NO_THREADS,
  '--watch': 'it belongs to --command',
  '--no-close': NO_THREADS,
  '--retries': ONCE,
  '--linger': `${ONCE}: nothing comes after the result`,
  '--follow': 'MCP results open no subscription',
  '--repeat': 'calls are compared by their callbacks, and MCP has none',
  '--concurrency': 'it belongs to --repeat',
  '--lenient-ack': 'MCP has no acknowledgement',
  '--callback-host': NO_CALLBACKS,
  '--callback-port': NO_CALLBACKS,
  '--callback-url': NO_CALLBACKS,
  '--allow-host': NO_CALLBACKS,
  '--supports': 'MCP has no display segments to choose from',
};

/** Options that would have no effect beside another one, with the reason. */
const IDLE = { '--mcp': IDLE_ON_MCP, '--interactive': IDLE_IN_WORKBENCH } as const;

/** Refuses options that would have no effect. @throws ProtocolCliError `usage`. */
export function refuseIdle(beside: keyof typeof IDLE, given: readonly string[]): void {
  const reasons: Readonly<Record<string, string>> = IDLE[beside];
  const idle = given.filter(option => Object.hasOwn(reasons, option));
  if (idle.length === 0) return;
  throw usage(
    `${beside} has no use for ${idle.join(', ')}`,
    `Leave ${idle.length === 1 ? 'it' : 'them'} out; \`protocol-cli invoke --help\` lists all of these.`,
    idle.map(option => `${option}: ${reasons[option]}`),
  );
}

/** For the help. */
export function idleText(beside: keyof typeof IDLE): string {
  const lines = Object.keys(IDLE[beside])
    .join(' ')
    .replace(/(.{1,73})(?: |$)/g, '    $1\n');
  return `\nOptions that cannot be combined with ${beside}:\n${lines}`;
}
