import { createHash } from 'node:crypto';
import { visibleLine } from '../../text/visible.js';
import type { Consent } from '../conversation/people.js';

export interface ConsentRequest {
  /** Name of the toolset that asks. */
  readonly toolset: string;
  readonly operation: string;
  readonly scopes: readonly string[];
}

/** Asks a person; the answer is POSTed to the page's own URL as the form field `decision`: `granted` or `refused` (TOOL-OAUTH). */
export function consentPage({ toolset, operation, scopes }: ConsentRequest): string {
  return page(
    `Authorize ${toolset}?`,
    `<h1><b>${html(toolset)}</b> asks for your permission</h1>
<p>It needs it to carry out <code>${html(operation)}</code>.</p>
${scopeList(scopes)}
<form method="post">
<button name="decision" value="granted" class="grant">Grant</button>
<button name="decision" value="refused">Refuse</button>
</form>
<p class="note">This is the consent page of a mock tool. No account is involved, and nothing is stored.</p>`,
  );
}

export function consentDonePage(decision: Consent): string {
  const title = decision === 'granted' ? 'Permission granted' : 'Permission refused';
  return page(title, `<h1>${title}</h1>\n<p>The tool goes on by itself. You can close this page.</p>`);
}

/** One answer for a state that never was, was used, or is over: a stranger learns nothing. */
export function consentUnknownPage(): string {
  return page(
    'Nothing to decide',
    `<h1>Nothing to decide here</h1>
<p>This link is unknown, was used already, or its call is over. Call the tool again for a new one.</p>`,
  );
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --paper: #fff; --back: #f0f2f5; --line: #c3c9d1; --main: #0b5cad; --on-main: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --paper: #1e2227; --back: #121417; --line: #4a515b; --main: #8ec2f5; --on-main: #10151b; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--back); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 30rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: 1.35rem; font-weight: 500; line-height: 1.3; }
code { font: .95em ui-monospace, monospace; }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
button { flex: 1; min-height: 2.75rem; padding: 0 1rem; font: inherit; font-weight: 600; color: inherit; background: none; border: 1px solid var(--line); border-radius: .5rem; cursor: pointer; }
button.grant { color: var(--on-main); background: var(--main); border-color: var(--main); }
button:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
.note { margin: 1.5rem 0 0; font-size: .85rem; opacity: .8; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * The only page we serve, and what it may do: show itself and send its form back to us.
 * The referrer stays with us but is not left out: without one a browser sends `Origin: null` with the form, which no guard can
 * tell from a stranger's.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

function scopeList(scopes: readonly string[]): string {
  if (scopes.length === 0) return '<p>It names no scopes.</p>';
  const items = scopes.map(scope => `<li><code>${html(scope)}</code></li>`);
  return `<p>It would be allowed:</p>\n<ul>\n${items.join('\n')}\n</ul>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Foreign text: it neither becomes markup nor turns the text around it (threats, row 24). */
function html(text: string): string {
  return visibleLine(text).replace(/[&<>"']/g, character => ENTITIES[character] ?? '');
}
