/** CPU time of this process in ms: a bound for it holds on a busy machine too. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
