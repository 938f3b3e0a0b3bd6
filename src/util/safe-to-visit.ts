const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Whether a person may be sent to a page (TOOL-OAUTH; threats, row 13): https only. A loopback `http:` consent page is what a tool
 * under development has; anywhere else the code would travel in the open. A user before the host (`https://bank.example@evil.example`)
 * makes a person see another host than that which is opened.
 */
export function isSafeToVisit(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

/** What is made of a value, made once for each for as long as that lives: frames ask for the same again and again. */
export function onceEach<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>();
  return key => {
    const known = made.get(key) ?? { value: make(key) };
    made.set(key, known);
    return known.value;
  };
}
