import { expect, test } from 'bun:test'
import { createDirectory } from '../../../src/catalog/directory.ts'
import { loadCatalog } from '../../../src/catalog/store.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import { caller, directory, endpoint, model, pricing, provider, request, snapshot } from '../fixture.ts'

test('sluice/auto sorts the models of a directory once, and not for each request', () => {
  const known = createDirectory(loadCatalog(), [], [])
  let sorts = 0
  const models = ['lab/dear', 'lab/cheap', 'lab/usual'].map((id, index) => {
    const price = ['0.000009', '0.000001', '0.000005'][index] ?? '0'
    return model(id, [endpoint('a', id, { pricing: pricing(price, price) })])
  })
  const all = {
    ...directory(models),
    sorted: (order: (all: typeof models) => readonly (typeof models)[number][]) =>
      known.sorted?.(() => {
        sorts += 1
        return order(models)
      }) ?? [],
  }
  for (let turn = 0; turn < 3; turn++) {
    const { attempts } = plan({
      request: request({ models: ['sluice/auto'] }),
      caller: caller(),
      snapshot: snapshot([provider('a')], all),
      now: 0,
      cooldownOf: () => null,
      random: () => 0.5,
    })
    expect(attempts.map((attempt) => attempt.model.id)).toEqual(['lab/cheap', 'lab/usual', 'lab/dear'])
  }
  expect(sorts).toBe(1)
})
