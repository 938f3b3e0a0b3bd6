import { formFor } from './page.mjs';
import { exchange } from './wire.mjs';

const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'upgrade-insecure-requests': '1',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-user': '?1',
};

/**
 * A person who follows a link and presses a button, with what a browser sends for it. `decision` is `grant` or
 * `refuse`. Gives both answers and what was posted: `{page, request, answer}`; the page stays as it was shown, so that
 * `press` can send the same form again. @throws Error where a browser would be stuck, too
 */
export async function visitConsent(authUrl, decision) {
  const page = await visit(authUrl);
  if (page.status !== 200) throw new Error(`${authUrl} answered ${page.status}: ${page.body}`);
  const request = pressed(page, authUrl, formFor(decision, page.body));
  const press = () => exchange(request.method, request.url, request);
  return { page, request, answer: await press(), press };
}

/** A link that was typed, or clicked outside of any page. */
export function visit(url) {
  return exchange('GET', url, { headers: { ...NAVIGATION, 'sec-fetch-site': 'none' } });
}

function pressed({ headers }, pageUrl, { method, action, fields }) {
  const url = new URL(action, pageUrl);
  const { origin } = new URL(pageUrl);
  const isSame = url.origin === origin;
  checkPolicy(headers['content-security-policy'] ?? '', isSame);
  const body = new URLSearchParams(fields).toString();
  const site = { ...NAVIGATION, 'sec-fetch-site': isSame ? 'same-origin' : 'cross-site' };
  if (method !== 'POST') {
    url.search = body;
    return { method, url: url.href, headers: site };
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return { method, url: url.href, headers: { ...site, ...form, ...sender(headers, pageUrl, isSame) }, body };
}

/** By the fetch standard a page with `no-referrer` posts its form with `Origin: null`. */
function sender({ 'referrer-policy': policy }, pageUrl, isSame) {
  const { origin } = new URL(pageUrl);
  if (policy === 'no-referrer') return { origin: 'null' };
  if (policy === 'same-origin' && !isSame) return { origin: 'null' };
  const referer = policy === 'origin' || policy === 'strict-origin' || !isSame ? `${origin}/` : pageUrl;
  return { origin, referer };
}

function checkPolicy(policy, isSame) {
  const directives = policy.split(';').map(directive => directive.trim().split(/\s+/));
  const named = name => directives.find(([first]) => first === name);
  const allowed = named('form-action');
  if (allowed && isSame && !allowed.includes("'self'"))
    throw new Error(`the page forbids its own form: ${policy}`);
  const sandbox = named('sandbox');
  if (sandbox && !sandbox.includes('allow-forms'))
    throw new Error(`the page's sandbox forbids forms: ${policy}`);
}
