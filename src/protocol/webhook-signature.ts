import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { RecentMap } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';
import { formatDuration } from '../util/text.js';
import { valueAt } from '../util/values.js';

/** The headers of the agent-session platform's webhooks. */
export const PLATFORM_HEADERS = {
  signature: 'X-H-Webhook-Signature',
  timestamp: 'X-H-Webhook-Timestamp',
} as const;

/** Signs a webhook of the agent-session platform (platforms). @param timestamp in seconds since 1970, as its header has it */
export function platformSignature(secret: string, timestamp: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

/** How webhooks are signed: by the agent-session platform, by Standard Webhooks (standardwebhooks.com), by GitHub. */
export const SIGNATURE_SCHEMES = ['h', 'standard', 'github'] as const;

export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

export interface SignatureKey {
  readonly scheme: SignatureScheme;
  readonly secret: string;
}

/** What a signature covers. */
interface Signed {
  readonly id: string;
  /** Seconds since 1970, as it was sent. */
  readonly timestamp: string;
  readonly body: Uint8Array;
}

interface Scheme {
  /** Names of headers. */
  readonly signature: string;
  readonly timestamp?: string;
  readonly id?: string;
  readonly signsId?: true;
  sign(secret: string, signed: Signed): string;
}

const SCHEMES: Readonly<Record<SignatureScheme, Scheme>> = {
  h: {
    ...PLATFORM_HEADERS,
    sign: (secret, { timestamp, body }) => platformSignature(secret, timestamp, body),
  },
  standard: {
    signature: 'webhook-signature',
    timestamp: 'webhook-timestamp',
    id: 'webhook-id',
    signsId: true,
    sign(secret, { id, timestamp, body }) {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    },
  },
  github: {
    signature: 'X-Hub-Signature-256',
    id: 'X-GitHub-Delivery',
    sign: (secret, { body }) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  },
};

/** How far the time of sending may be from now, in ms. */
const TOLERANCE_MS = 300_000;

/** A webhook as it arrived. */
interface ArrivedWebhook {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The body as JSON; undefined if it is something else. */
  readonly json: unknown;
}

/** Whether a webhook is genuine. */
export interface WebhookVerdict {
  /** Why it is refused; null if it is genuine. */
  readonly problem: string | null;
  /** The scheme of its headers; null if they have none of those that have a secret. */
  readonly scheme: SignatureScheme | null;
  /** Which of the secrets of this scheme signed it, from 1. */
  readonly secret: number | null;
  /** Milliseconds since it was sent, precise to a second; null if its scheme has no time. */
  readonly ageMs: number | null;
  /** What is wrong with its order; no reason to refuse it. */
  readonly notes: readonly string[];
}

/** Judges signature, age and order of webhooks, one after the other. */
export class WebhookJudge {
  readonly #seen = new RecentMap<string, true>(LIMITS.callsRemembered.value);
  /** The latest time by sender, in ms since 1970. */
  readonly #latest = new RecentMap<string, number>(LIMITS.callsRemembered.value);

  /** @param keys several of a scheme during a rotation */
  constructor(private readonly keys: readonly SignatureKey[]) {}

  judge(webhook: ArrivedWebhook, now: Date): WebhookVerdict {
    const schemes = [...new Set(this.keys.map(({ scheme }) => scheme))];
    const scheme = schemes.find(name => headerOf(webhook, SCHEMES[name].signature) !== undefined) ?? null;
    const unsigned = { scheme, secret: null, ageMs: null, notes: [] };
    if (!scheme) {
      const names = schemes.map(name => SCHEMES[name].signature).join(' or ');
      return { ...unsigned, problem: `it is not signed: it has no header ${names}` };
    }
    const { id, timestamp, signsId } = SCHEMES[scheme];
    const missing = [timestamp, signsId && id].find(name => name && !headerOf(webhook, name));
    if (missing) return { ...unsigned, problem: `it has no header ${missing}` };
    const sent = timestamp && headerOf(webhook, timestamp);
    if (sent && !/^\d{1,12}$/.test(sent))
      return { ...unsigned, problem: `its header ${timestamp} is not a number of seconds` };
    const ageMs = sent ? now.getTime() - Number(sent) * 1_000 : null;
    const secrets = this.keys.filter(key => key.scheme === scheme).map(key => key.secret);
    const secret = signerOf(webhook, SCHEMES[scheme], secrets);
    const problem = secret === null ? mismatch(secrets.length) : ageProblem(ageMs);
    const notes = problem === null ? this.#notesOn(webhook, scheme, Number(sent ?? Number.NaN)) : [];
    return { problem, scheme, secret, ageMs, notes };
  }

  /** @param sent in seconds since 1970; NaN without a time */
  #notesOn(webhook: ArrivedWebhook, scheme: SignatureScheme, sent: number): string[] {
    const { json } = webhook;
    const id = scheme === 'h' ? valueAt(json, 'id') : headerOf(webhook, SCHEMES[scheme].id ?? '');
    const key = `${scheme} ${String(id)}`;
    const isRepeated = typeof id === 'string' && this.#seen.get(key) === true;
    this.#seen.set(key, true);
    if (isRepeated) return ['the same webhook came before'];
    const created = Date.parse(String(valueAt(json, scheme === 'h' ? 'created_at' : 'timestamp')));
    const at = Number.isNaN(created) ? sent * 1_000 : created;
    const sender = `${scheme} ${String(valueAt(json, 'data', 'session_id'))}`;
    const latest = this.#latest.get(sender) ?? Number.NEGATIVE_INFINITY;
    this.#latest.set(sender, Math.max(latest, Number.isNaN(at) ? latest : at));
    return at < latest ? [`one that is ${formatDuration(latest - at)} newer came before`] : [];
  }
}

function headerOf({ headers }: ArrivedWebhook, name: string): string | undefined {
  return headers[name.toLowerCase()];
}

/** The number of the secret that signed, from 1; null if none did. A header may have several signatures. */
function signerOf(webhook: ArrivedWebhook, scheme: Scheme, secrets: readonly string[]): number | null {
  const { signature, id = '', timestamp = '' } = scheme;
  const about = { id: headerOf(webhook, id) ?? '', timestamp: headerOf(webhook, timestamp) ?? '' };
  const given = headerOf(webhook, signature)?.split(/\s+/) ?? [];
  const index = secrets.findIndex(secret => {
    const right = scheme.sign(secret, { ...about, body: webhook.body });
    return given.some(each => isSame(each, right));
  });
  return index < 0 ? null : index + 1;
}

/** Compares in constant time. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}

function mismatch(secrets: number): string {
  return `its signature does not match ${secrets === 1 ? 'the secret' : `any of the ${secrets} secrets`}`;
}

function ageProblem(ageMs: number | null): string | null {
  if (ageMs === null || Math.abs(ageMs) <= TOLERANCE_MS) return null;
  const by = formatDuration(Math.ceil(Math.abs(ageMs) / 1_000) * 1_000);
  return `its time is ${by} ${ageMs > 0 ? 'ago' : 'in the future'}; at most ${formatDuration(TOLERANCE_MS)} are allowed`;
}
