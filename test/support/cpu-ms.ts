import { expect } from 'vitest';

/** CPU time of this process in ms. */
async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least CPU time that the work takes in several attempts: cold code, the garbage collector and other work of this process cost more. */
export async function leastCpuMs(attempts: number, work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts; attempt++) least = Math.min(least, await cpuMs(work));
  return least;
}

/** Fails if the work takes more CPU time in each of five attempts. */
export async function expectCpuBelow(limitMs: number, work: () => unknown): Promise<void> {
  let least = await cpuMs(work);
  for (let attempt = 1; attempt < 5 && least >= limitMs; attempt++)
    least = Math.min(least, await cpuMs(work));
  expect(least).toBeLessThan(limitMs);
}

/**
 * How many times longer the work takes for twice the number: 2 if it is linear, 4 if it is quadratic. The garbage collector may run in
 * any of them, so the smallest of up to three is returned.
 */
export async function slowdown(count: number, work: (count: number) => unknown): Promise<number> {
  const timeOf = async (number: number) => {
    const begun = process.cpuUsage().user;
    await work(number);
    return process.cpuUsage().user - begun;
  };
  await timeOf(count / 4); // compiles on the first run
  const ratios: number[] = [];
  do {
    const once = await timeOf(count);
    ratios.push((await timeOf(2 * count)) / once);
  } while (Math.min(...ratios) >= LINEAR && ratios.length < 3);
  return Math.min(...ratios);
}

/** The work is linear if its `slowdown` is less. */
export const LINEAR = 3.2;
