import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest for their size, by which others are sorted: begun last, they would be waited for. */
const LONGEST = [
  'e2e/check/broken-runtimes',
  'e2e/check/right-runtimes',
  'goldens/transcripts',
  'e2e/check/broken-tools',
  'e2e/check/hostile-drivers',
  'screen/flows',
  'screen/workbench-endings',
  'e2e/listen',
  'e2e/mock-tool/memory',
  'e2e/check/peculiar-tools',
  'check/many',
  'commands/check/server-exit',
  'readme/guides',
  'e2e/check/reference',
  'readme/readme',
  'e2e/floods',
  'e2e/ci-commands',
  'fixtures/large',
  'e2e/package',
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
