import type { RequirementId } from './requirements.js';

/** For each requirement what to do where it is broken: one line, to whoever writes that side. */
export const ADVICE: Readonly<Record<RequirementId, string>> = {
  'TOOL-ACK':
    'Answer 200 before the work begins, and start the work after the answer: over 250 ms is a warning, over 1 s a failure.',
  'TOOL-ASYNC': 'Answer with an empty body, and POST the outcome to callback_url as a tool_result.',
  'TOOL-ALWAYS':
    'Put every way out of the handler, exceptions and timeouts too, on a path that POSTs a result.',
  'TOOL-POST':
    'POST with Content-Type: application/json, and hold the body against the schema of its type first.',
  'TOOL-GROUP': 'Copy group_id from the invocation into every callback, whatever it looks like.',
  'TOOL-ID': 'Copy id from the invocation into the result as the string it is; make no id of your own.',
  'TOOL-CALLID':
    'Copy call_id into the result where the invocation has one, and leave it out where it has none.',
  'TOOL-ONCE': 'Remember which calls have their result; send the same bytes again, or nothing.',
  'TOOL-ISOLATE': 'Keep id, group_id and callback_url with each call, never in a variable that calls share.',
  'TOOL-OPAQUE':
    'POST to callback_url as it came: neither parse it, nor normalise it, nor join anything to it.',
  'TOOL-VALIDATE':
    'Look up the operation and validate arguments against its inputSchema before anything is done.',
  'TOOL-UNKNOWN-OP': 'Answer 200, and send a tool_result that says “Error: ” and which operations there are.',
  'TOOL-BAD-ARGS': 'Answer 200, and send a tool_result that says “Error: ” and which argument is wrong.',
  'TOOL-MALFORMED':
    'Catch what parsing throws: answer 200, and send an error result where there is a callback_url.',
  'TOOL-EXTRA':
    'Read the fields that you know, and pass over all others: no strict schema for the invocation.',
  'TOOL-ERRPREFIX': 'Begin the text of a failure with “Error: ”, and say what the caller can do about it.',
  'TOOL-SECRET': 'Take it out of what is sent, and replace the credential: it was told to a conversation.',
  'TOOL-NOLEAK': 'Send the message of an error alone; log its stack and its paths on your side.',
  'TOOL-RETRY': 'Send a callback again after a 5xx or a lost connection: a few times, with growing pauses.',
  'TOOL-NORETRY': 'Give a callback up once it is answered 4xx, and log it: it will never be accepted.',
  'TOOL-FALLBACK': 'Add { "type": "text", "content": "one short line" } as the last segment of display_as.',
  'TOOL-DIFF': 'Give the segment { path, patch }, with a patch as diff -u writes it: ---, +++, @@.',
  'TOOL-IMAGE': 'Put a text that describes the image before it in content, and after it in display_as.',
  'TOOL-SUB':
    'Send the result with subscription: true first, then events with its tool_call_id; stop at final or a cancel.',
  'TOOL-CHOICE': 'Answer response_url with 200, and send a tool_result for whatever was selected.',
  'TOOL-OAUTH': 'Keep tokens and codes on your side, and send a tool_result after consent and after refusal.',
  'TOOL-CANCEL':
    'Answer POST /cancel_tool_call with 200 whatever the ids are; look them up, never as a path.',
  'TOOL-CLOSE': 'Answer POST /close_thread with 200 and no body, whatever thread_id is; neither 204 nor 404.',
  'TOOL-DISCOVER':
    'Serve the toolset as JSON at /.well-known/rap-toolset; protocol-cli toolset <url> reads it.',
  'TOOL-NAMES': 'Name each tool once, with 1 to 128 of A–Z a–z 0–9 _ -.',
  'TOOL-MIGRATE':
    'Serve POST /migrate: 200 once the state has moved, else 4xx or 5xx; or drop needsMigration.',
  'TOOL-RATE': 'Answer what is over the limit with 200, and an “Error: ” result with the time to wait.',
  'RT-OP': 'Look the operation up in the toolsets that were loaded, before an invocation is sent.',
  'RT-ARGS': 'Validate arguments against inputSchema, and give the model the faults instead of a call.',
  'RT-ID': 'Make a new id for each call, a UUID; send the same one again only for a retry of the same call.',
  'RT-FIELDS':
    'Send operation, arguments, id, group_id and a callback_url that the tool can connect to, as JSON by POST.',
  'RT-NON200': 'End the call with an error result that names the status; wait for no callback.',
  'RT-RETRY': 'Send an invocation again after a 5xx or a failed connection, with growing pauses.',
  'RT-NORETRY': 'End the call at the first 4xx with an error result.',
  'RT-VALIDATE':
    'Validate a callback before anything else is done with it, and answer 400 where it is wrong.',
  'RT-MATCH':
    'Match group_id and id against what is pending; answer 404 where nothing is, and tell the model nothing.',
  'RT-SANITIZE': 'Look for control and invisible characters in text before the model gets it.',
  'RT-DUP': 'Remember which results were taken, and answer 200 to one that comes again.',
  'RT-TEXT': 'Give the model text, or content, as it came; display_as is for people alone.',
  'RT-DISPLAY': 'Walk display_as from its beginning, draw the first segment that you can, else text.',
  'RT-PENDING': 'Leave the call pending at an oauth or a user_choice, and wait: the tool goes on by itself.',
  'RT-OAUTH': 'Show auth_url to the user, and leave its query out of every log and every file.',
  'RT-CHOICE':
    'POST {id, selected} to response_url, selected counted from 0; default where it was dismissed.',
  'RT-SUB':
    'Track subscriptions by thread and call, take their events, and forget them at final or a cancel.',
  'RT-VIEW': 'Answer every view_update 200; keep the latest of each type, and pass over unknown types.',
  'RT-SERIAL': 'Queue the messages of a thread, and handle them one after another.',
  'RT-NOTIFY': 'Send a notice to each server once, at once, and wait for none of them.',
  'RT-TOOLSET':
    'Refuse a toolset as a whole where a part of it is wrong, and a name that two toolsets define.',
  'RT-AUDIT': 'Log each invocation with its operation, time and outcome.',
  'RT-TIMEOUT': 'Record a result that says that the time is over.',
};
