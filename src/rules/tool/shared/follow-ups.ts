import type { RequirementId } from '../../../protocol/requirements.js';

/** Requirements that are judged by what comes back of a call: where nothing does, or nothing that can be read, none of them can be seen. */
export const OF_CALLBACKS: readonly RequirementId[] = [
  'TOOL-POST',
  'TOOL-GROUP',
  'TOOL-ID',
  'TOOL-CALLID',
  'TOOL-ONCE',
  'TOOL-ISOLATE',
  'TOOL-OPAQUE',
  'TOOL-VALIDATE',
  'TOOL-UNKNOWN-OP',
  'TOOL-BAD-ARGS',
  'TOOL-MALFORMED',
  'TOOL-EXTRA',
  'TOOL-ERRPREFIX',
  'TOOL-SECRET',
  'TOOL-NOLEAK',
  'TOOL-RETRY',
  'TOOL-NORETRY',
];

/** Requirements that are judged by calls: of a toolset that is not valid nothing may be called (RT-TOOLSET). */
export const OF_CALLS: readonly RequirementId[] = [
  'TOOL-ACK',
  'TOOL-ASYNC',
  'TOOL-ALWAYS',
  ...OF_CALLBACKS,
  'TOOL-MIGRATE',
];
