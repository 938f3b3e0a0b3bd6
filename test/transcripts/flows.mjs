import { visitConsent } from '../peers/runtime/browser.mjs';

/**
 * One call for each transcript, by the name of its file: its arguments for `invoke`, and what a person does `after` the program
 * has said something.
 */
export const FLOWS = {
  diff: { args: ['edit_file'] },
  choice: { args: ['ask', '--choose', 'production'] },
  oauth: {
    args: ['sign_in'],
    after: /^visit this URL to continue: (\S+)$/m,
    person: authUrl => visitConsent(authUrl, 'grant'),
  },
  subscription: { args: ['watch', 'associative=every_second', '--follow'] },
  views: { args: ['paint'] },
  threads: { args: ['ancestors', '--ancestor', 'root', '--ancestor', 'parent'] },
  cancel: {
    args: ['work', 'ms=60000', '--linger', '200ms'],
    after: /acknowledged with 200/,
    person: (_, child) => child.kill('SIGINT'),
  },
  'late-result': { args: ['slow', 'ms=300', '--timeout', '100ms', '--linger', '500ms'] },
  'two-results': { args: ['two_results', '--linger', '200ms'] },
};
