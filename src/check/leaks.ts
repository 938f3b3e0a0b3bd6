import { addresseeIn } from '../protocol/invocation.js';
import { credentialsIn, isCredentialHeader, MAX_SEARCHED } from '../util/credentials.js';
import { REDACTED } from '../util/redact.js';
import { isRecord, stringsIn } from '../util/values.js';
import type { CallEvidence } from './call.js';

const TRACES: readonly RegExp[] = [
  /^[ \t]{1,20}at [^\n]{0,300}(?::\d{1,7}:\d{1,7}\)?|\(<anonymous>\)|\(native\))[ \t]*$/m, // node
  /Traceback \(most recent call last\)|^[ \t]{0,20}File "[^"\n]{1,300}", line \d{1,7}/m, // python
  /^[ \t]{0,20}at [\w.$<>]{1,300}\((?:[\w$]{1,100}\.(?:java|kt|scala):\d{1,7}|Native Method|Unknown Source)\)/m, // java
  /^goroutine \d{1,9} \[|\.go:\d{1,7} \+0x[\da-f]{1,16}/m, // go
  /thread '[^'\n]{1,100}' (?:\(\d{1,10}\) )?panicked at/, // rust
  /\.rb:\d{1,7}:in [`']/, // ruby
  /^[ \t]{1,20}at [^\n]{1,300} in [^\n]{1,300}:line \d{1,7}/m, // .NET
];

const PATHS: readonly RegExp[] = [
  /(?<![\w:/.-])(?:file:\/\/)?\/(?:home|Users|root|usr|opt|var|private|srv|tmp|mnt)\/[\w.@+-]{1,100}(?:\/[\w.@+-]{1,100}){0,40}/g,
  /(?<![\w:/.-])\/app\/[\w.@+/-]{1,300}\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs|php|exs?)\b/g, // in a container
  /\b[A-Za-z]:\\(?:[^\\/:*?"<>|\n]{1,100}\\){1,40}[^\\/:*?"<>|\s]{0,100}/g,
];

/** The address of another server in a private network, or on the same host. */
const PRIVATE_ADDRESS =
  /\bE?CONN(?:REFUSED|RESET)\b\D{0,20}\b(?:127|10|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2,3}:\d{1,5}\b/;

export interface Found {
  readonly what: string;
  /** Index of the first character, and of the one after the last. */
  readonly range: readonly [from: number, to: number];
}

const found = (what: string, text: string, at: number): Found => ({ what, range: [at, at + text.length] });

/** The first internal detail in an error text; a path that the invocation contains does not count. */
export function internalsIn(whole: string, call: CallEvidence): Found | null {
  const text = whole.slice(0, MAX_SEARCHED);
  const [trace] = TRACES.flatMap(each => each.exec(text) ?? []);
  if (trace !== undefined) return found('a stack trace', trace, text.indexOf(trace));
  const repeated = textsSent(call);
  const paths = PATHS.flatMap(path => [...text.matchAll(path)]);
  const path = paths.find(([name]) => !repeated.some(each => each.includes(name)));
  if (path) return found('a path of the host', path[0], path.index);
  const [address] = PRIVATE_ADDRESS.exec(text) ?? [];
  const isSent = address === undefined || repeated.some(each => each.includes(address));
  return isSent ? null : found('an address of its network', address, text.indexOf(address));
}

/** Every text of an invocation except its callback URL: a result may repeat these texts. */
function textsSent({ attempts: [first] }: CallEvidence): readonly string[] {
  const body = first?.sentJson;
  if (!isRecord(body)) return body === undefined ? [] : stringsIn(body);
  const { callback_url: _, ...rest } = body;
  return stringsIn(rest);
}

/** Minimum length of a secret, in characters: shorter texts may be words or names of paths. */
const MIN_SECRET = 16;

export interface LeakFinder {
  /** Finds a secret of the call. */
  findOfCall(text: string): Found | null;
  /** Finds a secret of the call, or a text that looks like a secret. */
  findAny(text: string): Found | null;
}

export function leakFinder(call: CallEvidence): LeakFinder {
  const secrets = [...urlSecrets(call), ...headerSecrets(call)];
  const repeated = textsSent(call);
  const isRepeated = (secret: string) => repeated.some(text => text.includes(secret));
  const findOfCall = (text: string) => {
    const known = secrets.find(({ secret }) => text.includes(secret) && !isRepeated(secret));
    return known ? found(known.what, known.secret, text.indexOf(known.secret)) : null;
  };
  const findSimilar = (text: string) => {
    const leaked = credentialsIn(text).find(each => !isRepeated(each.text));
    return leaked ? found(leaked.what, leaked.text, leaked.at) : null;
  };
  return { findOfCall, findAny: text => findOfCall(text) ?? findSimilar(text) };
}

function urlSecrets({ reading }: CallEvidence) {
  const addressee = addresseeIn(reading);
  if (!addressee) return [];
  const { callback_url: url, id, group_id, call_id } = addressee;
  const words = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[/?#&=]/);
  const tokens = words.filter(word => word.length >= MIN_SECRET && ![id, group_id, call_id].includes(word));
  return [
    { what: 'the callback URL', secret: url },
    ...tokens.map(secret => ({ what: "the callback URL's token", secret })),
  ];
}

/** The values of credential headers without their scheme. */
function headerSecrets({ attempts }: CallEvidence) {
  return attempts
    .flatMap(({ request }) => Object.entries(request.headers))
    .filter(([name, value]) => isCredentialHeader(name) && value !== REDACTED)
    .map(([name, value]) => ({ what: `the value of the header ${name}`, secret: value.replace(/^\w+ /, '') }))
    .filter(({ secret }) => secret.length >= MIN_SECRET);
}
