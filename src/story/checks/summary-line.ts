import type { Conformance, Standing, Verdict } from '../../rules/conformance.js';
import type { Line, Span } from '../line.js';
import { say } from '../spans.js';

const VERDICTS: Readonly<Record<Verdict, Span>> = {
  passed: say('✓ passed', 'good'),
  failed: say('✗ failed', 'bad'),
  incomplete: say('? incomplete', 'warn'),
};

const WORDS: readonly (readonly [Standing, string])[] = [
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['stale', 'expected to fail, and passed'],
  ['could-not-run', 'could not run'],
  ['warned', 'with a warning'],
  ['expected', 'failed as expected'],
  ['not-applicable', 'not applicable'],
];

/** `✗ failed · 32 rules: 20 passed, 2 failed, 10 not applicable · 3 of 4 cases passed` */
export function summaryLine(run: Conformance): Line {
  return [VERDICTS[run.verdict], say(' · ', 'gutter'), say(summaryText(run))];
}

/** The same without the verdict. */
export function summaryText({ checks, cases, gaps }: Conformance): string {
  const counts = WORDS.map(([standing, words]) => ({
    count: checks.filter(check => check.standing === standing).length,
    words,
  }));
  const rules = counts.filter(({ count }) => count > 0).map(({ count, words }) => `${count} ${words}`);
  const passing = cases.filter(({ status }) => status === 'pass').length;
  const ofCases = cases.length === 0 ? [] : [`${passing} of ${cases.length} cases passed`];
  const ofGaps =
    gaps.length === 0 ? [] : [`${gaps.length} ${gaps.length === 1 ? 'gap' : 'gaps'} in what was seen`];
  const noun = checks.length === 1 ? 'rule' : 'rules';
  const ofRules = rules.length === 0 ? 'no rules' : `${checks.length} ${noun}: ${rules.join(', ')}`;
  return [ofRules, ...ofCases, ...ofGaps].join(' · ');
}
