const CALLED_BACK = 'nobody is called back: the answer to tools/call is the result';
const OTHER_TOOL = 'the tool is that of --mcp';
const ONCE = 'tools/call is sent once, and answered once';
const NO_THREADS = 'MCP has no threads, and no ids but those of JSON-RPC';

/** What belongs to RAP, and why it would do nothing on an MCP wire. */
export const IDLE_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--demo', OTHER_TOOL],
  ['--command', `${OTHER_TOOL}, which takes a command itself`],
  ['--endpoint', 'the URL of --mcp is the endpoint already'],
  ['--call-id', NO_THREADS],
  ['--group-id', NO_THREADS],
  ['--user-id', 'MCP has no word for the user of a call'],
  ['--ancestor', NO_THREADS],
  ['--watch', 'it belongs to --command'],
  ['--no-close', NO_THREADS],
  ['--retries', ONCE],
  ['--linger', `${ONCE}: nothing comes after the result`],
  ['--follow', 'MCP results open no subscription'],
  ['--repeat', 'calls are compared by their callbacks, and MCP has none'],
  ['--concurrency', 'it belongs to --repeat'],
  ['--lenient-ack', 'there is no acknowledgement'],
  ['--callback-host', CALLED_BACK],
  ['--callback-port', CALLED_BACK],
  ['--callback-url', CALLED_BACK],
  ['--allow-host', CALLED_BACK],
  ['--supports', 'MCP has no display segments to choose from'],
]);
