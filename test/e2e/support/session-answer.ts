import { type Here, runHere, startHere } from './in-process.js';
import { type Ended, type RunOptions, type Started, start } from './program.js';
import type { PlatformPeer } from './session-platform.js';

export const KEY = 'KEY-CANARY-0815';

/** Runs `session answer` for the session of a platform, to its end, in this process; the key is in the environment. */
export function answer(
  platform: Pick<PlatformPeer, 'url'>,
  args: readonly string[],
  options?: RunOptions,
): Promise<Ended> {
  return runHere(...lineFor(platform, args, options));
}

/** The same, to be interrupted meanwhile. */
export function startAnswerHere(...line: Parameters<typeof answer>): Here {
  return startHere(...lineFor(...line));
}

/** The same, as a process. */
export function startAnswer(
  platform: Pick<PlatformPeer, 'url'>,
  args: readonly string[],
  options?: RunOptions,
): Started {
  return start(...lineFor(platform, args, options));
}

function lineFor(
  { url }: Pick<PlatformPeer, 'url'>,
  args: readonly string[],
  { env, ...options }: RunOptions = {},
): [string[], RunOptions] {
  return [['session', 'answer', url, 'session_1', ...args], { env: { API_KEY: KEY, ...env }, ...options }];
}

/** A pending call, as a platform publishes it. */
export function pendingCall(tool_name: string, args: object, id: string | null) {
  return { tool_name, args, id };
}

/** `session answer` with any words, in this process. */
export function answerWith(words: readonly string[], options?: RunOptions): Promise<Ended> {
  return runHere(['session', 'answer', ...words], options);
}
