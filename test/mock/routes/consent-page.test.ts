import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../support/characters.js';
import { startMock } from '../start-mock.js';

const tagsOf = (page: string) => [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag);

/** The page that asks, and those after it. */
async function pages(toolset: string, scopes: readonly string[]) {
  const oauth = { oauth: { scopes }, granted: { payload: 'y' }, refused: { payload: 'n' } };
  const tools = [{ name: 'open_issue', description: 'o', inputSchema: {} }];
  const fixtures = [{ match: { operation: 'open_issue' }, reply: oauth }];
  await using mock = await startMock({ toolset: { name: toolset, tools }, fixtures });
  const call = await mock.invoke({ operation: 'open_issue' });
  const url = String((await call.waitFor('oauth')).body?.['auth_url']);
  const asking = await (await fetch(url)).text();
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ decision: 'granted' }) });
  return { asking, granted: await answer.text(), used: await (await fetch(url)).text() };
}

test('the page shows the tool, the operation and the scopes; its form has two answers', async () => {
  const { asking } = await pages('demo', ['repo', 'user:email']);
  expect(asking).toContain('<title>Authorize demo?</title>');
  expect(asking).toContain('<b>demo</b> asks for your permission');
  expect(asking).toContain('<code>open_issue</code>');
  expect(asking).toContain('<li><code>repo</code></li>\n<li><code>user:email</code></li>');
  expect((await pages('demo', [])).asking).not.toContain('<ul>');
  const controls = tagsOf(asking).filter(tag => /^<(form|button|input|a|script|img|link)\b/.test(tag));
  expect(controls).toEqual([
    '<form method="post">',
    '<button name="decision" value="granted" class="grant">',
    '<button name="decision" value="refused">',
  ]);
});

test('the page marks the focused button and has dark colors', async () => {
  const { asking } = await pages('demo', []);
  expect(asking).toMatch(/:focus-visible \{ outline: 3px solid /);
  expect(asking).toContain('@media (prefers-color-scheme: dark) {');
});

test('row 24: foreign text neither becomes markup nor changes the text direction around it', async () => {
  const hostile = fc.sample(fc.string({ unit: anyCharacter }), 100);
  const scopes = [`<b a="1" b='2'>&amp;\u202e\u0007`, ...hostile.map(text => `'"><script>${text}`)];
  const { asking } = await pages('<i>"', scopes);
  const { asking: harmless } = await pages(
    'x',
    scopes.map(() => 'x'),
  );
  expect(tagsOf(asking)).toEqual(tagsOf(harmless));
  expect(asking.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  expect(asking).toContain('&#60;b a=&#34;1&#34; b=&#39;2&#39;&#62;&#38;amp;&#60;U+202E&#62;␇');
});
