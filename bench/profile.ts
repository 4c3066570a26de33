import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { measure, SCENARIOS } from './measure.ts'
import { aligned } from './print.ts'
import type { Target } from './target.ts'

interface ProfileNode {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number }
  children?: number[]
}

export interface Profile {
  nodes: ProfileNode[]
  samples: number[]
}

export interface Hotspot {
  place: string
  /** Shares of all samples: in the function itself, and in it or what it calls. */
  self: number
  total: number
}

export const profilerFlags = (folder: string) => ['--cpu-prof', `--cpu-prof-dir=${folder}`]

function placeOf({ callFrame }: ProfileNode): string {
  const { functionName, url, lineNumber } = callFrame
  const name = functionName === '' ? '(anonymous)' : functionName
  return url === '' ? name : `${name} ${basename(url)}:${lineNumber + 1}`
}

/** Counts samples by function, dearest first. A recursive function counts once in a stack. */
export function hotspots(profile: Profile): Hotspot[] {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parents = new Map<number, number>()
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node.id)
  const spots = new Map<string, Hotspot>()
  const spotOf = (node: ProfileNode) => {
    const place = placeOf(node)
    const spot = spots.get(place) ?? { place, self: 0, total: 0 }
    spots.set(place, spot)
    return spot
  }
  const each = 1 / Math.max(1, profile.samples.length)
  for (const sample of profile.samples) {
    const counted = new Set<Hotspot>()
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const node = nodes.get(id)
      if (node === undefined) break
      const spot = spotOf(node)
      if (id === sample) spot.self += each
      if (!counted.has(spot)) spot.total += each
      counted.add(spot)
    }
  }
  return [...spots.values()].sort((a, b) => b.self - a.self)
}

function rows(title: string, spots: readonly Hotspot[]): string[][] {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`
  return [
    [title, 'self', 'with callees'],
    ...spots.slice(0, 40).map((spot) => [spot.place, percent(spot.self), percent(spot.total)]),
  ]
}

/** Loads one scenario, ends the gateway so that its profile is written, and says where the time went. */
export async function profileScenario(target: Target, scenario: keyof typeof SCENARIOS, folder: string) {
  const result = await measure(target, SCENARIOS[scenario], { warmupMs: 5000, durationMs: 6000 })
  await target.stop()
  const file = readdirSync(folder).find((name) => name.endsWith('.cpuprofile'))
  if (file === undefined) throw new Error(`No profile was written to ${folder}.`)
  const profile: Profile = await Bun.file(join(folder, file)).json()
  const spots = hotspots(profile)
  const byTotal = [...spots].sort((a, b) => b.total - a.total)
  console.log(`\n${scenario}: ${Math.round(result.perSecond)} answers/s, ${result.errors} errors`)
  console.log(aligned(rows('self time', spots)))
  console.log(`\n${aligned(rows('with callees', byTotal))}`)
  console.log(`\nThe complete profile: ${join(folder, file)}`)
}
