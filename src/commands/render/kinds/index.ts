import { callbackKind } from './callback.js';
import { invocationKind } from './invocation.js';
import { jsonRpcKind } from './json-rpc.js';
import type { Kind } from './kind.js';
import { lmkitKind } from './lmkit.js';
import { mcpKind } from './mcp.js';
import { repeatsKind, reportKind } from './report.js';
import { batchKind, settledCallKind } from './session/answers.js';
import { changesKind } from './session/changes.js';
import { sessionReportKind } from './session/report.js';
import { toolsetKind } from './toolset.js';

/** Every kind of JSON object that is known here. A new one is a file beside this one and its line in this list. */
export const KINDS: readonly Kind[] = [
  callbackKind,
  reportKind,
  sessionReportKind,
  repeatsKind,
  invocationKind,
  toolsetKind,
  settledCallKind,
  batchKind,
  changesKind,
  lmkitKind,
  mcpKind,
  jsonRpcKind,
];
