import { watchLoop } from './loop-watch.ts'

/**
 * Loaded with `--preload` ahead of the gateway's own source: watches its main thread and reports at a port of its
 * own. The gateway itself has no part of it. GET / returns a `Stop` and begins the next measurement.
 */
const watch = watchLoop()
Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env['LOOP_WATCH_PORT']),
  idleTimeout: 255,
  fetch: async () => Response.json(await watch.look()),
})
