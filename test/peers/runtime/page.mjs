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
export function formFor(decision, html) {
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
