const HOLOGRAM = { type: 'hologram', content: {} };
const SCENT = { type: 'scent', content: 'lavender' };
const SEED_LINE = { type: 'text', content: 'edit_file src/main.rs — 1 insertion' };

/** The example of the protocol's own page, whose hunk header counts one line too many on each side. */
const SEED_DIFF = {
  type: 'diff',
  content: {
    path: 'src/main.rs',
    patch: '--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,4 @@\n fn main() {\n+ println!("hello");\n }',
  },
};

const ONE_FILE = '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-before\n+after\n';

const TWO_FILES = `\
--- src/a.txt
+++ src/a.txt
@@ -1 +1 @@
-a before
+a after
--- src/b.txt
+++ src/b.txt
@@ -1 +1,2 @@
 b stays
+b grows
`;

/** Operations that are odd in `display_as` alone. */
export const displays = {
  unknown_segments: [HOLOGRAM, line('shown after a hologram')],
  unknown_only: [HOLOGRAM, SCENT],
  seed_diff: [SEED_DIFF, SEED_LINE],
  text_first: [line('the text comes first'), { type: 'diff', content: { path: 'a.txt', patch: ONE_FILE } }],
  bad_diff_then_text: [
    { type: 'diff', content: { path: 'notes.txt', patch: 'I changed a few lines here and there.' } },
    line('shown instead of prose'),
  ],
  two_files_diff: [
    { type: 'diff', content: { path: 'src/a.txt', patch: TWO_FILES } },
    line('two files changed'),
  ],
  bad_display_element: ['just a string', line('shown after a string')],
};

function line(content) {
  return { type: 'text', content };
}
