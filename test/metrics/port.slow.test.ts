import { expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../cli/process.ts'
import { removeVerified } from '../verified.ts'

test('SLUICE_METRICS_PORT serves metrics and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-metrics-'))
  const log = join(folder, 'log')
  const server = await startServer(join(folder, 'data'), { env: { SLUICE_METRICS_PORT: '0' }, log })
  try {
    let port: string | undefined
    while (port === undefined) {
      const text = await Bun.file(log).text()
      port = /"port":(\d+),"msg":"listening for metrics"/.exec(text)?.[1]
      await Bun.sleep(5)
    }
    const at = `http://127.0.0.1:${port}`
    expect((await fetch(`${at}/metrics`)).status).toBe(200)
    expect((await fetch(`${server.url}/metrics`)).status).toBe(200)
    for (const path of ['/', '/api/v1/models', '/health/live', '/metrics/x'])
      expect((await fetch(at + path)).status).toBe(404)
    expect((await fetch(`${at}/metrics`, { headers: { host: 'a.example' } })).status).toBe(401)
  } finally {
    await server.stop()
    removeVerified(folder)
  }
})
