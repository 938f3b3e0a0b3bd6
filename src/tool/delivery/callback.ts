import type { Content } from '../../exchange/content.js';
import type { Turn } from '../../exchange/facts.js';
import { isRecord } from '../../text/is-record.js';
import { readJson } from '../../text/json.js';

/** A message to the runtime, ready to go: these bytes, to this very address (TOOL-OPAQUE). */
export interface Callback {
  /** The call it belongs to. */
  readonly key: string;
  readonly thread: string;
  /** As the invocation gave it; nothing of it is changed. */
  readonly url: string;
  readonly body: Content;
  /** `application/json` unless a fault wants another. */
  readonly contentType?: string | undefined;
  /** `slow`: the body comes in small pieces, over about two seconds. */
  readonly pace?: 'slow' | undefined;
  /** Why nobody wants it any more; null while somebody does. Asked before each attempt, however long it waited for that. */
  readonly calledOff?: (() => string | null) | undefined;
  /** For a journal: where its call goes on after it. */
  readonly turn?: Turn | undefined;
}

/** How it ended. `attempts` counts the requests that were made; 0 where it was refused before. */
export type Delivery =
  | { readonly delivered: true; readonly status: number; readonly attempts: number }
  | { readonly delivered: false; readonly why: string; readonly attempts: number };

const STOPPED = 'the tool was stopped before it was delivered';

/** Why a callback that the end of a run overtook was given up; `because` of its last attempt, where there was one. */
export function stopped(because?: string): string {
  return because === undefined ? STOPPED : `${STOPPED}: ${because}`;
}

/** Whether it was given up only for that: where a journal has it, the next run delivers it. */
export function wasStopped(why: string): boolean {
  return why.startsWith(STOPPED);
}

/** The `type` of a message; undefined where it says none, or is no JSON at all. It is read anew: what is sent is not to be held on to. */
export function typeOf({ bytes }: Pick<Content, 'bytes'>): string | undefined {
  const json = readJson(bytes);
  const type = json.ok && isRecord(json.value) ? json.value['type'] : undefined;
  return typeof type === 'string' ? type : undefined;
}
