import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest for their size, by which others are sorted: begun last, they would be waited for. */
const LONGEST = [
  'e2e/check/broken-runtimes',
  'e2e/check/right-runtimes',
  'e2e/check/broken-tools',
  'goldens/transcripts',
  'e2e/mock-tool/memory',
  'check/many',
  'readme/guides',
  'e2e/check/reference',
  'readme/readme',
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
