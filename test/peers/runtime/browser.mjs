import { exchange } from './wire.mjs';

const ENTITIES = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&#x2F;': '/',
};
const MEANS = {
  grant: /grant|allow|authori[sz]e|approve|accept|agree|consent|yes/i,
  refuse: /refus|deny|den[iy]|reject|declin|disallow|cancel|\bno\b/i,
};

/** The form of a page, and in it the button, that says yes or no: `{method, action, fields}`. @throws Error without one */
function formFor(decision, html) {
  for (const [, attributes, inside] of html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)) {
    const button = buttonsIn(inside).find(({ says }) => meansOf(says) === decision);
    if (!button) continue;
    const form = attributesOf(attributes);
    const hidden = [...inside.matchAll(/<input\b([^>]*)>/gi)].map(([, text]) => attributesOf(text));
    const fields = hidden.filter(({ type = 'text', name }) => name && type !== 'submit').map(pair);
    if (button.name) fields.push(pair(button));
    const method = (button.formmethod ?? form.method ?? 'get').toUpperCase();
    return { method, action: button.formaction ?? form.action ?? '', fields };
  }
  throw new Error(`the page has no form to ${decision}: ${html.slice(0, 500)}`);
}

/** `Do not allow` is a refusal. */
function meansOf(says) {
  if (MEANS.refuse.test(says) || /\bnot\b/i.test(says)) return 'refuse';
  return MEANS.grant.test(says) ? 'grant' : null;
}

function buttonsIn(html) {
  const buttons = [...html.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/gi)].map(([, text, label]) => ({
    ...attributesOf(text),
    label: label.replace(/<[^>]*>/g, ' '),
  }));
  const inputs = [...html.matchAll(/<input\b([^>]*)>/gi)].map(([, text]) => attributesOf(text));
  const submits = [...buttons.filter(({ type = 'submit' }) => type === 'submit'), ...inputs.filter(isSubmit)];
  // A form without a name on its button says it by where it goes.
  return submits.map(button => ({ ...button, says: `${button.value ?? ''} ${button.label ?? ''}`.trim() }));
}

function isSubmit({ type }) {
  return type === 'submit';
}

function pair({ name, value = '' }) {
  return [name, value];
}

function attributesOf(text) {
  const found = text.matchAll(/([^\s=/"']+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"']+))?/g);
  return Object.fromEntries([...found].map(([, name, value = '']) => [name.toLowerCase(), plain(value)]));
}

function plain(value) {
  return value
    .replace(/^(["'])([\s\S]*)\1$/, '$2')
    .replace(/&[#\w]+;/g, entity => ENTITIES[entity] ?? entity);
}

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
