import { Content } from '../../exchange/content.js';
import type { Fact } from '../../exchange/events.js';
import type { Log } from '../../exchange/log.js';
import { isRecord } from '../../text/is-record.js';
import { createRedactor, writtenForms } from '../../text/redact.js';
import type { Clean } from './refusal.js';

/** The same log, which is never told the key: a platform may give it back, in a call or in words (threats, row 25). */
export function withoutKey(log: Log, key: string): Log {
  const { text: clean } = createRedactor([key]);
  if (clean(key) === key) return log; // too short for a secret
  const forms = writtenForms(key).map(form => Buffer.from(form));
  return {
    ...log,
    emit: fact => log.emit(withCleanBody(withCleanWords(withCleanKeys(fact, clean), clean), forms, clean)),
  };
}

/** Which calls it concerns: a platform names them as it likes. */
function withCleanKeys(fact: Fact, clean: Clean): Fact {
  return 'calls' in fact && fact.calls ? { ...fact, calls: fact.calls.map(clean) } : fact;
}

function withCleanWords(fact: Fact, clean: Clean): Fact {
  switch (fact.kind) {
    case 'warned':
      return { ...fact, message: clean(fact.message) };
    case 'session': {
      const { status, error, answer } = fact;
      return {
        ...fact,
        status: clean(status),
        ...(error !== undefined && { error: clean(error) }),
        ...(answer !== undefined && { answer: cleanJson(answer, clean) }),
      };
    }
    case 'awaiting':
      return {
        ...fact,
        pending: fact.pending.map(call => ({
          ...call,
          key: clean(call.key),
          id: call.id === null ? null : clean(call.id),
          tool_name: clean(call.tool_name),
          args: cleanJson(call.args, clean),
        })),
      };
    case 'response':
      return {
        ...fact,
        headers: Object.fromEntries(
          Object.entries(fact.headers).map(([name, value]) => [clean(name), clean(value)]),
        ),
      };
    default:
      return fact;
  }
}

function withCleanBody(fact: Fact, forms: readonly Buffer[], clean: Clean): Fact {
  if (!('body' in fact) || !fact.body) return fact;
  const bytes = Buffer.from(fact.body.bytes);
  if (!forms.some(form => bytes.includes(form))) return fact;
  return { ...fact, body: new Content(Buffer.from(clean(bytes.toString('utf8')))) };
}

/** The same JSON value, with every text in it clean. */
export function cleanJson(value: unknown, clean: Clean): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(each => cleanJson(each, clean));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [clean(name), cleanJson(each, clean)]),
  );
}
