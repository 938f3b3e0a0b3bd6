export const RATE_LIMIT_TEXT = 'Error: API rate limit exceeded. Retry after 60 seconds.';

export const REFUSED_TEXT = 'Error: access was refused. Ask for it and call again.';

/** Of a call that no one wants any more. */
export const LMKIT_CANCELED = '{"canceled":{"reason":"the runtime cancelled the call","by":"user"}}';

export const LMKIT_TEXTS = {
  denied: '{"denied": {"tool": "...", "reason": "..."}}',
  canceled: '{"canceled": {"reason": "...", "by": "user|policy|system"}}',
  timeout: '{"timeout": {"durationMs": 30000}}',
  error: '{"error": {"message": "...", "code": "OPTIONAL_CODE", "type": "OptionalType"}}',
};

/** Written by hand: no JSON library would print the doubled key or the number beyond 2^53. */
export const JSON_TEXT =
  '{"instances":[{"id":"i-0abc123","state":"running","tags":{"team":"é","empty":{}}}],' +
  '"serial":9007199254740993,"count":1,"count":2}';
