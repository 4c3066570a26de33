import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../src/core/json.ts'
import { METRIC_NAMES } from '../../src/metrics/store.ts'
import { type Gateway, MANAGEMENT_KEY, startGateway } from '../../test/gateway.ts'
import { type FakeUpstream, frames, sse, startUpstream } from '../../test/upstream.ts'
import { cache, equal, must, type Receiver } from './receiver.ts'

/** Scrapes are read by the two official parsers: Python's client, and expfmt, which Prometheus itself uses. */

const PACKAGE = 'prometheus_client==0.26.0'
const REQUESTS = 3

interface Read {
  readonly families: number
  readonly requests: number
  readonly exemplars?: number
}

/** Reads a scrape with a program of another language. */
type Parse = (text: string, format: Format) => Promise<Read>
type Format = 'prometheus' | 'openmetrics'

const ACCEPT = { prometheus: 'text/plain', openmetrics: 'application/openmetrics-text' } as const

/** A gateway with a few requests, whose scrapes are read. */
async function startScraped(version: string, formats: readonly Format[], parse: Parse) {
  const upstream = startUpstream()
  const gateway = await startGateway({
    listens: true,
    providers: [
      { slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models: [{ id: 'm', pricing: PRICES }] },
    ],
  })
  upstream.on('m', () => sse(frames(['Hello'])))
  return {
    version,
    check: () => check(gateway, formats, parse),
    stop: () => stopBoth(gateway, upstream),
  }
}
const PRICES = { prompt: '0.000001', completion: '0.000002' }

async function stopBoth(gateway: Gateway, upstream: FakeUpstream): Promise<void> {
  await gateway.stop()
  await upstream.stop()
}

async function check(gateway: Gateway, formats: readonly Format[], parse: Parse): Promise<string[]> {
  const { key } = await gateway.makeKey({ name: 'with "quotes", a \\ and a \n new line', limit: 5 })
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  for (let index = 0; index < REQUESTS; index++)
    await (await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })).text()
  const lines: string[] = []
  for (const format of formats) {
    const headers = { authorization: `Bearer ${MANAGEMENT_KEY}`, accept: ACCEPT[format] }
    const text = await (await fetch(`${gateway.url}/metrics`, { headers })).text()
    const { families, requests, exemplars = 0 } = await parse(text, format)
    equal(`${format}: requests`, requests, REQUESTS)
    if (format === 'openmetrics') {
      equal('openmetrics: metrics', families, METRIC_NAMES.length)
      equal('openmetrics: exemplars', exemplars > 0, true)
    }
    lines.push(`${format}: ${families} metrics, ${exemplars} exemplars, ${text.split('\n').length - 1} lines`)
  }
  return lines
}

function readOf(text: string): Read {
  const read: Read = JSON.parse(text)
  return read
}

export const prometheusPython: Receiver = {
  name: 'Prometheus (Python client)',
  async start(folder) {
    const venv = join(cache, 'prometheus-client')
    const python = join(venv, 'bin/python')
    if (!existsSync(join(venv, PACKAGE))) {
      await must(['python3', '-m', 'venv', venv])
      await must([python, '-m', 'pip', 'install', '--quiet', PACKAGE])
      await Bun.write(join(venv, PACKAGE), '')
    }
    const program = join(import.meta.dir, 'programs/prometheus.py')
    return startScraped(PACKAGE.split('==')[1] ?? '', ['prometheus', 'openmetrics'], async (text, format) => {
      const file = join(folder, format)
      await Bun.write(file, text)
      return readOf(await must(['sh', '-c', `"${python}" "${program}" ${format} < "${file}"`]))
    })
  },
}

export const prometheusGo: Receiver = {
  name: 'Prometheus (Go, expfmt)',
  async start(folder) {
    const source = join(cache, 'expfmt')
    cpSync(join(import.meta.dir, 'programs/expfmt'), source, { recursive: true })
    const program = join(source, 'reader')
    await must(['go', 'build', '-o', program, '.'], { cwd: source })
    const version = /common (v\S+)/.exec(textOf(await Bun.file(join(source, 'go.mod')).text()))?.[1] ?? ''
    return startScraped(version, ['prometheus'], async (text, format) => {
      const file = join(folder, format)
      await Bun.write(file, text)
      return readOf(await must(['sh', '-c', `"${program}" < "${file}"`]))
    })
  },
}
