const ESC = '\u001b';
const BEL = '\u0007';

/** What could take over a terminal, or hide what is really there. */
const HOSTILE = [
  `${ESC}]0;owned title${BEL}`,
  `${ESC}]8;;https://evil.example/${ESC}\\link${ESC}]8;;${ESC}\\`,
  `${ESC}]52;c;b3duZWQ=${BEL}`,
  `${ESC}[2J${ESC}[H`,
  '\rcarriage',
  '\b\b\bbackspace',
  BEL,
  '\u202eoverride',
  'zero\u200bwidth\u2060\ufeff',
  '\u009b31mC1\u009d0;owned title\u009c',
].join(' ');

export const hostileFields = {
  text: `text ${HOSTILE} end`,
  display_as: [
    {
      type: 'diff',
      content: {
        path: `src/${HOSTILE}.txt`,
        patch: `--- ${HOSTILE}\n+++ ${HOSTILE}\n@@ -1,2 +1,2 @@\n context ${HOSTILE}\n-old ${HOSTILE}\n+new ${HOSTILE}\n`,
      },
    },
    { type: 'text', content: `display ${HOSTILE} end` },
  ],
};
