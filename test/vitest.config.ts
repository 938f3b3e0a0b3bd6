import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('../', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/build-once.ts'],
    maxWorkers: 2,
    isolate: false, // no test changes what another one sees; to load everything anew for each file would take longer than the tests
    // Whoever waits goes on as soon as there is what is waited for: to be patient with a busy machine costs nothing.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 45_000 } },
    experimental: { fsModuleCache: true }, // what did not change is not compiled again
    env: { FORCE_COLOR: '0', TERM: 'xterm-256color' },
  },
});
