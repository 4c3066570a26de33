import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Step } from '../../bench/faults/figure.ts'
import { malformedStreams } from '../../bench/faults/malformed.ts'
import { resetBeforeContent, resetInside } from '../../bench/faults/resets.ts'
import { startWorld } from '../../bench/faults/world.ts'

/** The steps of `bun run bench faults` that measure no time, against the gateway in a process of its own. */

const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const STEPS: readonly (readonly [name: string, step: Step])[] = [
  ['reset before the first content', resetBeforeContent],
  ['reset inside an answer', resetInside],
  ['malformed streams', malformedStreams],
]

test.each(STEPS)(
  '%s: every figure reaches its goal',
  async (name, step) => {
    const start = (models: Parameters<typeof startWorld>[0]) =>
      startWorld(models, { folder: join(folder, name.replaceAll(' ', '-')), fromSource: true })
    const figures = await step({ start, seconds: 1 })
    expect(figures.length).toBeGreaterThan(0)
    expect(figures.filter(({ isGood }) => !isGood)).toEqual([])
  },
  60_000,
)
