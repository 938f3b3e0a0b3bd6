import { ProtocolCliError } from '../../errors.js';
import { refusalIn } from '../../protocol/session/refusal.js';
import { cut } from '../../text/cut.js';
import { readJson } from '../../text/json.js';
import { visibleLine } from '../../text/visible.js';

const LONGEST = 300;
const MOST_FAULTS = 5;

/** Takes secrets out of a text. */
export type Clean = (text: string) => string;

/**
 * What a platform says of a request it refuses.
 * @param clean before it is cut: a part of a secret is not found any more
 */
export function refusalDetail(body: Uint8Array, clean: Clean): string {
  const reading = readJson(body);
  return cut(visibleLine(clean(reading.ok ? refusalIn(reading.value) : '')), LONGEST);
}

/** An answer that ends it. @param what was asked, such as `GET …/status` */
export function refusedBy(status: number, what: string, detail: string): ProtocolCliError {
  const said = detail === '' ? '' : `: ${detail}`;
  return new ProtocolCliError('platform-refused', `the platform answered ${status} to ${what}${said}`, {
    hint: hintOn(status),
  });
}

/** A platform that asks to wait for longer than anybody does. @param asked its `Retry-After` */
export function tooLongToWait({ message, code }: ProtocolCliError, asked: string): ProtocolCliError {
  const said = `${message} (Retry-After: ${cut(visibleLine(asked), LONGEST)})`;
  return new ProtocolCliError(code, said, {
    hint: 'It asked to wait for more than a minute. Try again after that time.',
  });
}

function hintOn(status: number): string {
  if (status === 401 || status === 403)
    return 'It did not take the key. It is given with --key, or as API_KEY or HAI_API_KEY in the environment.';
  if (status === 404)
    return 'There is no such session, or this key has no access to it. The base URL is given without /api/v2.';
  if (status >= 300 && status < 400)
    return 'Redirects are never followed: give the final address as the base URL.';
  if (status === 429) return 'It asked to wait again and again. Try later.';
  if (status >= 500) return 'Its own log says why.';
  return 'Is this the base URL of the platform?';
}

/** An answer with 2xx that is not what the API says. @param faults without secrets */
export function unreadableAnswer(what: string, faults: readonly string[]): ProtocolCliError {
  return new ProtocolCliError('bad-answer', `the platform's answer to ${what} cannot be read`, {
    faults: faults.slice(0, MOST_FAULTS).map(fault => cut(visibleLine(fault), LONGEST)),
    hint: 'Is this the base URL of an agent-session platform?',
  });
}
