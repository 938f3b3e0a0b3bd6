/** Every status an agent session can have (platforms). */
export const SESSION_STATUSES = [
  'queued',
  'pending',
  'running',
  'paused',
  'idle',
  'awaiting_tool_results',
  'completed',
  'timed_out',
  'interrupted',
  'failed',
] as const;

export type SessionStatus = (typeof SESSION_STATUSES)[number];

const TERMINAL: ReadonlySet<string> = new Set(['completed', 'timed_out', 'interrupted', 'failed']);

/** Nothing more happens in it. */
export const isTerminal = (status: string): boolean => TERMINAL.has(status);

/** What clients take for the end: an idle session waits for a message (platforms). */
export const isSettledStatus = (status: string): boolean => isTerminal(status) || status === 'idle';
