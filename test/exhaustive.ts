/**
 * `bun run test:exhaustive` sets SLUICE_TEST_EXHAUSTIVE=1: tests that sample (offsets, random cases) then try everything,
 * or many times as much.
 */
export const isExhaustive = process.env['SLUICE_TEST_EXHAUSTIVE'] === '1'

/** How many random cases a property test tries. */
export const runs = (usual: number, exhaustive: number): number => (isExhaustive ? exhaustive : usual)
