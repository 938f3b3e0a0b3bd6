import { createHash } from 'node:crypto';
import { visibleLine } from '../util/visible.js';
import type { Consent } from './conversation.js';

const STYLE = `
:root { color-scheme: light dark; --main: #0b5cad; --on-main: #fff; background: #fff; color: #1c2024; }
@media (prefers-color-scheme: dark) { :root { --main: #8ec2f5; --on-main: #10151b; background: #121417; color: #e8eaed; } }
body { max-width: 30rem; margin: 15vh auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; font-weight: 500; }
button { min-width: 9rem; min-height: 2.75rem; margin: 1.5rem .75rem 0 0; font: inherit; cursor: pointer; }
.grant { font-weight: 600; color: var(--on-main); background: var(--main); }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
.note { margin-top: 1.5rem; font-size: .85rem; opacity: .8; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * Lets the consent page only show itself and submit its form to us. It keeps the referrer: without one a browser sends `Origin: null`
 * with the form, like a foreign page.
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

/** The answer is POSTed to the page's own URL as the form field `decision`: `granted` or `refused`. */
export function consentPage(toolset: string, operation: string, scopes: readonly string[]): string {
  const items = scopes.map(scope => `<li><code>${html(scope)}</code></li>`).join('\n');
  return page(
    `Authorize ${toolset}?`,
    `<h1><b>${html(toolset)}</b> asks for your permission</h1>
<p>Permission is needed to run <code>${html(operation)}</code>.</p>
${items === '' ? '<p>No scopes are requested.</p>' : `<p>Requested scopes:</p>\n<ul>\n${items}\n</ul>`}
<form method="post">
<button name="decision" value="granted" class="grant">Grant</button>
<button name="decision" value="refused">Refuse</button>
</form>
<p class="note">This is the consent page of a mock tool. No account is involved, and nothing is stored.</p>`,
  );
}

export function donePage(decision: Consent): string {
  const title = decision === 'granted' ? 'Permission granted' : 'Permission refused';
  return page(title, `<h1>${title}</h1>\n<p>The tool continues. You can close this page.</p>`);
}

/** Shows the same page for an unknown, used or expired state, so that it reveals nothing. */
export const UNKNOWN_PAGE = page(
  'Nothing to decide',
  `<h1>Nothing to decide here</h1>
<p>This link is unknown, was used already, or its call is over. Call the tool again for a new one.</p>`,
);

/** Escapes untrusted text so that it contains no markup or control characters (threats, row 24). */
function html(text: string): string {
  return visibleLine(text).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
