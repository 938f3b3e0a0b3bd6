import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest for their size, by which others are sorted: begun last, they would be waited for. */
const LONGEST = [
  'e2e/check/broken-tools',
  'e2e/check/broken-runtimes',
  'e2e/check/legal-runtimes',
  'e2e/check/peculiar-tools',
  'e2e/check/agents',
  'goldens/transcripts',
  'e2e/check/right-runtimes',
  'e2e/check/hostile-drivers',
  'commands/check/server-exit',
  'e2e/listen',
  'e2e/check/legal-tools',
  'e2e/check/peers',
  'agent-session/platform/platform',
  'e2e/check/demo',
  'e2e/check/runtime-command',
  'e2e/flows/subscription',
  'probes/hostile-texts',
  'readme/guides',
  'record/sessions',
  'e2e/record/loop',
  'e2e/mock-tool/memory',
  'e2e/targets',
  'e2e/floods',
  'e2e/check/reference',
  'e2e/package',
  'screen/flows',
  'screen/workbench-endings',
  'readme/readme',
  'e2e/ci-commands',
  'tui/workbench/any-keys',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const longest = LONGEST.flatMap(
      path => sorted.find(({ moduleId }) => moduleId.endsWith(`/test/${path}.test.ts`)) ?? [],
    );
    return [...longest, ...sorted.filter(file => !longest.includes(file))];
  }
}
