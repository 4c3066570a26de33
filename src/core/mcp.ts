import type { JsonObject } from './json.ts'

/** A server of the Model Context Protocol that the operator has listed in sluice.yaml. */
export interface McpServer {
  readonly label: string
  /** '' for a process. */
  readonly url: string
  /** Secrets: never shown. */
  readonly headers: Readonly<Record<string, string>>
  /** Null: all. */
  readonly allowedTools: readonly string[] | null
  /** Of a server that runs here and is spoken to over stdin and stdout. */
  readonly process?: McpProcess
}

interface McpProcess {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** All that it gets of the environment. */
  readonly env: Readonly<Record<string, string>>
  /** Values of `env` that are never shown. */
  readonly secrets: readonly string[]
  /** Null: that of the gateway. */
  readonly folder: string | null
}

export interface McpTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly annotations: JsonObject
}

/** The MCP servers of the operator, through the guarded client. */
export interface McpAccess {
  readonly servers: readonly Pick<McpServer, 'label' | 'url'>[]
  /** The tools that the operator allows, known for a short time. Throws a `GatewayError` that names the server. */
  list(label: string): Promise<readonly McpTool[]>
  /** Connects at the first call. */
  open(label: string): McpSession
  /** Ends the processes. Resolves when they are gone. */
  close(): Promise<void>
}

export interface McpSession {
  /** The result as text. A failure is thrown; its message names no secrets. */
  call(name: string, args: JsonObject, signal: AbortSignal): Promise<string>
  /** Tells the server, without waiting for it. */
  close(): void
}
