import * as z from 'zod/mini';
import { cut } from '../../text/cut.js';
import { oauthSchema } from './oauth.js';
import { subscriptionEventSchema } from './subscription-event.js';
import { toolResultSchema } from './tool-result.js';
import { userChoiceSchema } from './user-choice.js';
import { viewUpdateSchema } from './view-update.js';

/** Everything a tool may POST to a callback URL. A new type is one file beside this one and one line here. */
export const callbackSchema = z.discriminatedUnion(
  'type',
  [toolResultSchema, oauthSchema, userChoiceSchema, subscriptionEventSchema, viewUpdateSchema],
  { error: issue => (issue.code === 'invalid_union' ? unknownType(issue.input) : undefined) },
);

export type Callback = z.infer<typeof callbackSchema>;
export type CallbackType = Callback['type'];

export const CALLBACK_TYPES: readonly CallbackType[] = callbackSchema._zod.def.options.flatMap(
  option => option.shape.type._zod.def.values,
);

export type { OAuth } from './oauth.js';
export type { SubscriptionEvent } from './subscription-event.js';
export type { ContentItem, ToolResult } from './tool-result.js';
export type { UserChoice } from './user-choice.js';
export type { ViewUpdate } from './view-update.js';

/** Characters of what is foreign. */
const MOST = 200;

function unknownType(input: unknown): string {
  const type =
    typeof input === 'object' && input !== null && 'type' in input
      ? cut(JSON.stringify(input.type), MOST)
      : 'absent';
  return `is ${type}; a callback is one of ${CALLBACK_TYPES.join(', ')}`;
}
