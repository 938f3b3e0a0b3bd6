import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { consentDonePage, consentPage, consentUnknownPage, PAGE_HEADERS } from '../../../src/mock/routes.js';
import { anyCharacter } from '../../support/characters.js';

const asked = { toolset: 'demo', operation: 'open_issue', scopes: ['repo', 'user:email'] };
const tags = (page: string) => [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag);

describe('the page that asks', () => {
  test('says who, for what, and which scopes', () => {
    const page = consentPage(asked);
    expect(page).toContain('<title>Authorize demo?</title>');
    expect(page).toContain('<b>demo</b> asks for your permission');
    expect(page).toContain('<code>open_issue</code>');
    expect(page).toContain('<li><code>repo</code></li>\n<li><code>user:email</code></li>');
    expect(consentPage({ ...asked, scopes: [] })).not.toContain('<ul>');
  });

  test('has one form, which goes to its own URL, with two answers', () => {
    const controls = tags(consentPage(asked)).filter(tag =>
      /^<(form|button|input|a|script|img|link)\b/.test(tag),
    );
    expect(controls).toEqual([
      '<form method="post">',
      '<button name="decision" value="granted" class="grant">',
      '<button name="decision" value="refused">',
    ]);
  });

  test('no foreign text becomes markup, or turns the text around it', () => {
    const plain = consentPage({ toolset: 'x', operation: 'x', scopes: ['x'] });
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), text => {
        const page = consentPage({
          toolset: `<${text}">`,
          operation: `'><script>${text}`,
          scopes: [`&lt;${text}`],
        });
        expect(tags(page)).toEqual(tags(plain));
        expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });

  test('shows what was written', () => {
    const page = consentPage({ ...asked, operation: `<b a="1" b='2'>&amp;\u202e\u0007` });
    expect(page).toContain('<code>&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;&lt;U+202E&gt;␇</code>');
  });
});

describe('the pages after it', () => {
  test.each(['granted', 'refused'] as const)('%s', decision => {
    expect(consentDonePage(decision)).toContain(`<h1>Permission ${decision}</h1>`);
    expect(consentDonePage(decision)).not.toContain('<form');
  });

  test('a link that is unknown or used', () => {
    expect(consentUnknownPage()).toContain('<h1>Nothing to decide here</h1>');
    expect(consentUnknownPage()).not.toContain('<form');
  });

  test.each([consentPage(asked), consentDonePage('granted'), consentUnknownPage()])(
    'each is a whole page',
    page => {
      expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
      const open = tags(page).filter(tag => !/^<(!|meta)/.test(tag));
      const names = open.map(tag => tag.replace(/[<>]|\s.*$/gs, ''));
      const unclosed: string[] = [];
      for (const name of names)
        if (unclosed.at(-1) === name.slice(1) && name.startsWith('/')) unclosed.pop();
        else unclosed.push(name);
      expect(unclosed).toEqual([]);
    },
  );
});

describe('its headers', () => {
  test('let it show itself, send its form to us, and nothing else', () => {
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(consentPage(asked)) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(PAGE_HEADERS).toEqual({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
  });
});
