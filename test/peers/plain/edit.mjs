/** What a human sees of an edit: a diff with a correct hunk header, or one line where diffs are not drawn. */
export function editedDisplay(path, count) {
  return [
    { type: 'diff', content: { path, patch: patchOf(path, count) } },
    { type: 'text', content: `edit_file ${path} — ${count} ${count === 1 ? 'replacement' : 'replacements'}` },
  ];
}

function patchOf(path, count) {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const lines = [
    `--- ${path}`,
    `+++ ${path}`,
    `@@ -1,${count + 2} +1,${count + 2} @@`,
    ' first line',
    ...numbers.map(number => `-old line ${number}`),
    ...numbers.map(number => `+new line ${number}`),
    ' last line',
  ];
  return `${lines.join('\n')}\n`;
}
