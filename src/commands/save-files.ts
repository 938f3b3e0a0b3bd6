import { lstat } from 'node:fs/promises';
import type { Gap } from '../check/cases.js';
import type { Recording } from '../check/evidence/seen-from.js';
import type { Event, RequestEvent } from '../events/events.js';
import type { Log } from '../events/log.js';
import { callbackSecrets, type EventRedactor, withQuestionSecrets } from '../events/shareable.js';
import { type TranscriptAbout, transcriptWriter } from '../events/transcript-writer.js';
import type { WireRecord } from '../render/check-requests.js';
import { warningText } from '../render/outputs/trouble.js';
import { credentialsIn, namedCredentialsIn } from '../util/credentials.js';
import { ProtocolCliError } from '../util/errors.js';
import { decodeUtf8 } from '../util/json.js';
import { cleanWords, type Redactor } from '../util/redact.js';
import { stringsIn } from '../util/strings-in.js';

/** Who hears of it. */
interface Saving {
  readonly stderr: { write(text: string): unknown };
  /** Told the line of each event, from 1, by its `seq`. */
  readonly onLine?: (seq: number, line: number) => void;
}

/**
 * `--save`: everything from now on is kept in a file of the owner's, secrets out. Returns how to put it in its place at the end, which
 * a run that reached nobody does not do where there is an earlier one: that is said on `stderr`.
 * @throws ProtocolCliError `unwritable-file`, here and at the end; `usage` for stdout.
 */
export async function saveTranscript(
  log: Log,
  path: string,
  redactor: Redactor,
  about: TranscriptAbout,
  { stderr, onLine }: Saving,
): Promise<(reason: string) => Promise<void>> {
  if (path === '-')
    throw new ProtocolCliError('usage', '--save needs a file name', {
      hint: '-o ndjson writes the transcript to stdout.',
    });
  const { createPrivateFile, isTaken } = await import('../system/files.js');
  const file = await createPrivateFile(path);
  const writer = transcriptWriter(redactor);
  const reach = new Reach();
  await file.write(writer.header(about));
  let count = 1;
  log.keep(async event => {
    reach.note(event);
    const lines = writer.event(event);
    count += lines.length;
    onLine?.(event.seq, count);
    for (const line of lines) await file.write(line);
  });
  return async reason => {
    try {
      await log.kept();
      await file.write(writer.end(reason));
    } catch (error) {
      await file.discard();
      throw error;
    }
    try {
      await file.commit({ replaces: reach.hasReached });
    } catch (error) {
      if (!isTaken(error)) throw error;
      stderr.write(warningText({ message: `no server was reached; ${path} is unchanged` }));
    }
  };
}

/** Whether anything was answered, by whichever side; that there is no toolset is no answer. */
class Reach {
  readonly #discoveries = new Set<string>();
  hasReached = false;

  note(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'discovery') this.#discoveries.add(event.leg);
    if (event.kind !== 'response') return;
    this.hasReached ||= event.status === 200 || !this.#discoveries.has(event.leg);
  }
}

/**
 * Refuses before the work to replace a file that is not empty; the writer also spares files that appear later.
 * @param option that names the file, as `--save`
 * @throws ProtocolCliError `usage`.
 */
export async function refuseToReplace(path: string, option: string): Promise<void> {
  const there = await lstat(path).catch(() => null); // writing reports other errors
  if (!there?.isSymbolicLink() && !(there?.isFile() && there.size > 0)) return;
  throw new ProtocolCliError('usage', `${option}: ${path} already exists`, {
    hint: 'Choose another name, or remove the file.',
  });
}

/**
 * What is secret in an exchange that we see from outside, learned from its events (threats, row 25): the callback URLs, of whatever
 * looks like an invocation, and the addresses of questions.
 * @param credentials what else is secret
 */
export function wireSecrets(credentials: Redactor): EventRedactor {
  const callbacks = callbackSecrets();
  const questions = withQuestionSecrets({
    add: secret => credentials.add(secret),
    text: text => callbacks.text(credentials.text(text)),
    words: text => cleanWords(callbacks, cleanWords(credentials, text)),
  });
  return {
    ...questions,
    learn(event) {
      callbacks.learn(event);
      questions.learn(event);
      if (event.kind === 'request' && event.purpose === 'invocation') learnUrls(callbacks, event);
    },
  };
}

const CALLBACK_URL = /callback_url\W{1,12}(https?:[^\s"'<>\\]{1,4096})/gi;

/** Of an invocation that is no JSON, or has several callback URLs, all that look like one. */
function learnUrls(callbacks: EventRedactor, { body, ...event }: RequestEvent): void {
  const text = body ? Buffer.from(body.bytes).toString('utf8').replaceAll('\\/', '/') : '';
  for (const [, url = ''] of text.matchAll(CALLBACK_URL))
    callbacks.learn({ ...event, purpose: 'callback', url });
}

/**
 * What is secret in a check, learned from its events (threats, row 25): besides what is on any wire, whatever a tool tells that looks
 * like a credential (TOOL-SECRET, TOOL-OAUTH). What a call has said itself is no news to whoever made it.
 */
export function checkedSecrets(credentials: Redactor): EventRedactor {
  const secrets = wireSecrets(credentials);
  const said = new Map<string | undefined, readonly string[]>();
  return {
    ...secrets,
    learn(event) {
      secrets.learn(event);
      const key = event.calls?.[0];
      const found = textsIn(event).flatMap(credentialsTold);
      if (event.kind === 'request' && event.purpose === 'invocation') said.set(key, found);
      else for (const secret of found) if (!said.get(key)?.includes(secret)) secrets.add(secret);
    },
  };
}

/** Without the scheme `Bearer`. */
function credentialsTold(text: string): readonly string[] {
  const known = credentialsIn(text).map(found => found.text.replace(/^Bearer /, ''));
  return [...known, ...namedCredentialsIn(text)];
}

function textsIn(event: Event): readonly string[] {
  const body = 'body' in event ? event.body : undefined;
  if (!body) return [];
  return body.json.ok ? stringsIn(body.json.value) : [decodeUtf8(body.bytes) ?? ''];
}

/** What there is to judge, from whatever source. */
export interface Witness {
  /** For the report: the URL or the file. */
  readonly target: string;
  /** The file for line numbers (default: the target). */
  readonly file?: string;
  /** Each is judged separately; event numbers are unique across them. */
  readonly recordings: readonly Recording[];
  readonly gaps: readonly Gap[];
  readonly redactor: EventRedactor;
}

/** The events of all recordings, and what is secret in them. */
export function recordOf({ target, file = target, recordings, redactor }: Witness): WireRecord {
  return { file, events: recordings.flatMap(({ events }) => events), redactor };
}
