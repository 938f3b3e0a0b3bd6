import {
  SIGNATURE_SCHEMES,
  type SignatureKey,
  type SignatureScheme,
  type WebhookVerdict,
} from '../../protocol/webhook-signature.js';
import { clipped, type Line, line, say, withMark } from '../../render/line.js';
import type { JudgedWebhook } from '../../runtime/callback-server.js';
import type { Environment } from '../../util/headers.js';
import { formatDuration } from '../../util/text.js';
import { fromEnvironment } from '../headers.js';
import { usageError } from '../options.js';

/** Reads `--signature <scheme>:<secret>`. @throws ProtocolCliError `usage` */
export function readSignatures(given: readonly string[], env: Environment): readonly SignatureKey[] {
  return given.map(text => {
    const [, name, written = ''] = /^(\w+):(.*)$/s.exec(text) ?? [];
    const scheme = SIGNATURE_SCHEMES.find(each => each === name);
    if (!scheme || written === '')
      throw usageError(
        '--signature: expected h, standard or github, a colon, and a secret',
        'For example: --signature standard:env:WEBHOOK_SECRET',
      );
    const secret = fromEnvironment(written, env, '--signature');
    if (scheme === 'standard' && !isKey(secret))
      throw usageError('--signature: a secret of standard is base64, after whsec_ or alone');
    return { scheme, secret };
  });
}

function isKey(secret: string): boolean {
  return /^(?:whsec_)?[A-Za-z\d+/]+={0,2}$/.test(secret);
}

/** Maximum length of a body on the screen, in characters. */
const MAX = 2_000;

/** Describes a webhook, and shows its body. @param keys all secrets @param clean removes secrets, before texts are cut */
export function webhookLines(
  webhook: JudgedWebhook,
  keys: readonly SignatureKey[],
  clean: (text: string) => string,
): readonly Line[] {
  const { type, status, body, verdict } = webhook;
  const { problem, notes } = verdict;
  const name = line`webhook ${clipped(clean(type), 'title')}`;
  const shown = clipped(body.text === null ? `(${body.size} bytes)` : clean(body.text), 'dim', MAX);
  if (problem !== null)
    return [
      withMark('failed', line`${name}${say(` refused with ${status}: `, 'bad')}${clipped(problem, 'bad')}`),
      [say('  '), ...shown],
    ];
  return [
    withMark('done', line`${name} is genuine${say(signedBy(verdict, keys), 'dim')}`),
    ...notes.map(note => [say(`  ! ${note}`, 'warn')]),
    [say('  '), ...shown],
  ];
}

function signedBy({ scheme, secret, ageMs }: WebhookVerdict, keys: readonly SignatureKey[]): string {
  const { length } = keys.filter(key => key.scheme === scheme);
  const which = length > 1 ? ` with secret ${secret} of ${length}` : '';
  return `, signed${which} (${scheme})${ageMs === null ? '' : sentWords(ageMs)}`;
}

/** Times of sending are whole seconds. */
function sentWords(ageMs: number): string {
  const seconds = Math.floor(Math.abs(ageMs) / 1_000);
  if (seconds === 0) return ', sent now';
  const time = formatDuration(seconds * 1_000);
  return ageMs > 0 ? `, sent ${time} ago` : `, sent ${time} in the future`;
}

interface WebhookReport {
  readonly time: string;
  readonly type: string;
  readonly verdict: 'genuine' | 'refused';
  readonly status: number;
  readonly reason?: string;
  readonly scheme: SignatureScheme | null;
  readonly secret: number | null;
  readonly age_ms: number | null;
  readonly bytes: number;
  readonly message: unknown;
  readonly warnings: readonly { readonly message: string }[];
}

/** The line of a webhook with `-o json`. */
export function webhookReport(webhook: JudgedWebhook, time: string): WebhookReport {
  const { type, status, body, verdict } = webhook;
  const { problem, notes, scheme, secret, ageMs: age_ms } = verdict;
  return {
    time,
    type,
    verdict: problem === null ? 'genuine' : 'refused',
    status,
    ...(problem !== null && { reason: problem }),
    scheme,
    secret,
    age_ms,
    bytes: body.size,
    message: body.json.ok ? body.json.value : body.text,
    warnings: notes.map(message => ({ message })),
  };
}
