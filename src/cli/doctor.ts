import type { Config, Flags } from '../config.ts'
import {
  checkBodies,
  checkData,
  checkDatabase,
  checkDisk,
  checkSecretKey,
  type Finding,
} from './doctor-data.ts'
import { checkDestinations } from './doctor-destinations.ts'
import { checkClock, checkOpenFiles, checkPort, checkProviders, checkReach } from './doctor-surroundings.ts'
import { exposure, loadServerConfig } from './server-config.ts'
import { EXIT, paint, printJson, type Terminal } from './terminal.ts'

/**
 * Checks everything that a start needs and changes nothing here; with `destinations` a test event is sent to each. Exits 1 if
 * there is a problem.
 */
export async function doctor(
  options: Flags & { json?: unknown; destinations?: unknown },
  terminal: Terminal,
): Promise<number> {
  const config = await loadServerConfig(options, terminal)
  const findings = await examine(config)
  if (options.destinations === true) findings.push(...(await checkDestinations(config)))
  const problems = findings.filter((finding) => finding.status === 'problem').length
  if (options.json === true) {
    printJson(terminal, { ok: problems === 0, checks: findings })
  } else {
    for (const finding of findings) terminal.print(lineOf(finding, terminal))
    terminal.print(
      problems === 0 ? 'No problem was found' : `${problems} of ${findings.length} checks found a problem`,
    )
  }
  return problems === 0 ? EXIT.ok : EXIT.failed
}

async function examine(config: Config): Promise<Finding[]> {
  const settings: Finding = {
    check: 'settings',
    status: config.warnings.length === 0 ? 'ok' : 'warning',
    detail: [config.configFile ?? 'no settings file', ...config.warnings].join('; '),
  }
  const { findings: providers, serverTimes } = await checkProviders(config)
  return [
    settings,
    checkData(config),
    checkDatabase(config),
    checkBodies(config),
    checkSecretKey(config),
    checkDisk(config),
    await checkPort(config),
    checkReach(config, await exposure(config)),
    checkOpenFiles(config),
    checkClock(config, serverTimes),
    ...providers,
  ]
}

const marks = {
  ok: ['green', 'ok      '],
  warning: ['yellow', 'warning '],
  problem: ['red', 'problem '],
} as const

function lineOf({ check, status, detail }: Finding, terminal: Terminal): string {
  const [color, mark] = marks[status]
  return `${paint(terminal, color, mark)} ${check}: ${detail}`
}
