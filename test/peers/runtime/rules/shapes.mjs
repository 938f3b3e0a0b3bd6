const isText = value => typeof value === 'string';
const isName = value => isText(value) && value !== '';
const isFlag = value => typeof value === 'boolean';
const isRecord = value => typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = test => value => Array.isArray(value) && value.every(test);
const maybe = test => value => value === undefined || test(value);

const isImage = value => isRecord(value) && isText(value.data) && isText(value.mediaType);
const isItem = value =>
  isRecord(value) &&
  ((value.type === 'text' && isText(value.text)) || (value.type === 'image' && isImage(value)));
const isDiff = value => isRecord(value) && isText(value.path) && isText(value.patch);
const SEGMENTS = { text: isText, diff: isDiff, image: isImage };
const isSegment = value =>
  isRecord(value) &&
  isText(value.type) &&
  'content' in value &&
  (!Object.hasOwn(SEGMENTS, value.type) || SEGMENTS[value.type](value.content));
const isCallId = maybe(value => value === null || isText(value));

const SHAPES = {
  tool_result: {
    group_id: isName,
    id: isName,
    call_id: isCallId,
    text: maybe(isText),
    content: maybe(isList(isItem)),
    display_as: maybe(isList(isSegment)),
    subscription: maybe(isFlag),
  },
  oauth: { group_id: isName, id: isName, call_id: isCallId, auth_url: isName },
  user_choice: {
    group_id: isName,
    id: isName,
    call_id: isCallId,
    prompt: isText,
    choices: isList(isText),
    default: Number.isInteger,
    response_url: isName,
  },
  subscription_event: {
    group_id: isName,
    tool_call_id: isName,
    text: isText,
    associative: maybe(isFlag),
    final: maybe(isFlag),
  },
  view_update: { group_id: isName, view_type: isName, content: isRecord },
};

/** What keeps a message from being one of its type; null for a good one. */
export function shapeFault(body) {
  if (!isRecord(body)) return 'it is not a JSON object';
  if (!isText(body.type) || !Object.hasOwn(SHAPES, body.type))
    return `the type is ${JSON.stringify(body.type)}`;
  for (const [field, fits] of Object.entries(SHAPES[body.type])) {
    if (!fits(body[field])) return `${body.type} has ${field}: ${JSON.stringify(body[field])}`;
  }
  const isEmpty = body.type === 'tool_result' && body.text === undefined && body.content === undefined;
  return isEmpty ? 'tool_result has neither text nor content' : null;
}
