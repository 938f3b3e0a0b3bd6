import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A small file that takes longest, mostly waiting: begun last, as its size has it, it would be waited for by everybody. */
const LONGEST = '/test/e2e/check/broken-tools.test.ts';

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith(LONGEST);
    return [...sorted.filter(isLongest), ...sorted.filter(file => !isLongest(file))];
  }
}
