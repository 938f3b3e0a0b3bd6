import { randomUUID } from 'node:crypto';

const PREFIX = '/consent/';
const open = new Map();

/** A page that asks for consent: `{ url, decision }`; the decision is `granted` or `refused`, and comes once. */
export function openConsent(origin) {
  const path = PREFIX + randomUUID();
  const decision = new Promise(resolve => open.set(path, resolve));
  return { url: `${origin}${path}`, decision };
}

export function isConsent(path) {
  return path.startsWith(PREFIX);
}

/** What is shown to anyone who follows the link. */
export function showConsent(path, response) {
  if (open.has(path)) sendPage(response, 200, FORM);
  else sendPage(response, 410, '<p>Nothing to decide here.</p>');
}

/** What the form of the page says; it is heard once. */
export function takeConsent(path, raw, response) {
  const decision = new URLSearchParams(raw).get('decision');
  const decide = open.get(path);
  if (!decide || !['granted', 'refused'].includes(decision)) return sendPage(response, 410, '<p>No.</p>');
  open.delete(path);
  sendPage(response, 200, `<p>Access was ${decision}.</p>`);
  decide(decision);
}

const FORM = `<form method="post">
<button name="decision" value="granted">Grant</button> <button name="decision" value="refused">Refuse</button>
</form>`;

function sendPage(response, status, content) {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'referrer-policy': 'same-origin' };
  response.writeHead(status, headers).end(`<!doctype html><title>plain-tool</title>${content}`);
}
