import { callbackKind } from './callback.js';
import { invocationKind } from './invocation.js';
import type { Kind } from './kind.js';
import { repeatsKind, reportKind } from './report.js';
import { toolsetKind } from './toolset.js';

/** Every kind of JSON object that is known here. A new one is a file beside this one and its line in this list. */
export const KINDS: readonly Kind[] = [callbackKind, reportKind, repeatsKind, invocationKind, toolsetKind];
