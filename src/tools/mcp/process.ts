import type { McpServer } from '../../core/mcp.ts'
import { unlessAborted } from '../../net/guarded.ts'
import { type Channel, type McpLog, openChannel, type ProcessTimes } from './channel.ts'
import { type Bounds, type Connection, McpFailure } from './protocol.ts'

/** One process for all requests: started on first use, and again after it died. */
interface Process {
  connect(bounds: Bounds): Promise<Connection>
  /** Resolves when the process is gone. */
  close(): Promise<unknown>
}

/** The wait before the next start, doubled with each death; and after so long a life it is the first again. */
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 60_000
const LONG_LIFE_MS = 60_000

export function createProcess(
  server: McpServer,
  parts: NonNullable<McpServer['process']>,
  now: () => number,
  log: McpLog | undefined,
  times: ProcessTimes,
): Process {
  let channel: Channel | null = null
  let isClosed = false
  let deaths = 0
  let startedAt = 0
  let nextStartAt = 0

  function ended(why: string): void {
    channel = null
    if (isClosed) return
    deaths = now() - startedAt > LONG_LIFE_MS ? 1 : deaths + 1
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (deaths - 1))
    nextStartAt = now() + waitMs
    log?.warn({ mcp_server: server.label, why, deaths, wait_ms: waitMs }, 'an MCP server ended')
  }

  function opened(): Channel {
    if (isClosed) throw new McpFailure('is closed: the gateway is stopping', true)
    const wait = nextStartAt - now()
    if (wait > 0)
      throw new McpFailure(`ended, and may be started again in ${Math.ceil(wait / 1000)} seconds`, true)
    startedAt = now()
    return openChannel(server, parts, log, ended, times)
  }

  return {
    async connect({ signal }) {
      channel ??= opened()
      const used = channel
      const { ready, ask } = used
      await (signal ? unlessAborted(ready, signal) : ready)
      // The process is that of other requests too.
      return { ask, isOver: () => channel !== used, close: () => undefined }
    },
    async close() {
      isClosed = true
      const ending = channel
      ending?.kill('the gateway is stopping')
      await ending?.gone
    },
  }
}
