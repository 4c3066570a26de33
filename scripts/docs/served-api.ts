import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ApiOperation {
  readonly id: string
  readonly area: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly credential: string
}

const KEYS = {
  management: `management-${'m'.repeat(32)}`,
  inference: `inference-${'i'.repeat(32)}`,
}

interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security?: object[]
}
interface Document {
  paths: Record<string, Record<string, Operation>>
}

/** Every operation of a server that is started for this, in the order of its document. */
export async function servedOperations(): Promise<ApiOperation[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
  const server = await start(folder)
  try {
    const response = await fetch(`${server.url}/openapi.json`)
    const { paths }: Document = await response.json()
    const operations: ApiOperation[] = []
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId, summary, tags, security }] of Object.entries(methods)) {
        operations.push({
          id: operationId,
          area: tags[0] ?? 'Other',
          method: method.toUpperCase(),
          path,
          summary,
          credential: await credentialOf(`${server.url}/api/v1${path}`, method, security),
        })
      }
    }
    return operations
  } finally {
    server.child.kill('SIGTERM')
    await server.child.exited
    rmSync(folder, { recursive: true })
  }
}

/**
 * The server decides about the key before it reads the body, so a request without one shows which kind it accepts:
 * 403 for the wrong kind.
 */
async function credentialOf(url: string, method: string, security: object[] | undefined): Promise<string> {
  if (security !== undefined) return security.length === 0 ? 'none' : 'session'
  const isRefused = async (key: string): Promise<boolean> => {
    const request = { method: method.toUpperCase(), headers: { authorization: `Bearer ${key}` } }
    return (await fetch(url.replaceAll(/[{}]/g, ''), request)).status === 403
  }
  if (await isRefused(KEYS.inference)) return 'management'
  return (await isRefused(KEYS.management)) ? 'inference' : 'any key'
}

async function start(folder: string) {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, '../../src/main.ts'), 'serve', '--port', '0', '--data', folder],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        SLUICE_MANAGEMENT_KEY: KEYS.management,
        SLUICE_API_KEY: KEYS.inference,
        SLUICE_DISCOVER: 'off',
      },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    },
  )
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of child.stderr) {
    text += decoder.decode(part, { stream: true })
    const [, url] = /listening on (http:\S+)/.exec(text) ?? []
    if (url !== undefined) return { url, child }
  }
  throw new Error(`the server did not start: ${text}`)
}
