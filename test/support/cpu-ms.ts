/** CPU time of this process in ms: a bound for it holds on a busy machine too. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
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
