import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { inFolder, killServers, startServer } from '../cli/process.ts'

afterAll(killServers)

const logOf = (logFormat: string): Promise<string[]> =>
  inFolder(async (folder) => {
    const log = join(folder, 'log.txt')
    const server = await startServer(join(folder, 'data'), { log, env: { SLUICE_LOG_FORMAT: logFormat } })
    await server.stop()
    return (await Bun.file(log).text()).trimEnd().split('\n')
  })

test('a log that is not a terminal is JSON, and a new data folder is one line without its migrations', async () => {
  const lines = (await logOf('auto')).map((line) => JSON.parse(line))
  expect(lines.map(({ msg }) => msg).slice(0, 2)).toEqual(['created a new data folder', 'listening'])
  expect(lines.some((line) => 'migrations' in line)).toBe(false)
})

test('SLUICE_LOG_FORMAT=text writes lines for people', async () => {
  const lines = await logOf('text')
  expect(lines[1]).toMatch(
    /^\d\d:\d\d:\d\d INFO {2}listening {2}address=http:\/\/127\.0\.0\.1:\d+ {2}data=\//,
  )
})
