import type { FactModel } from './document.ts'

/**
 * Amazon Bedrock has a model under several names: its plain one, served in the region of the call alone, and inference
 * profiles, which lead to the regions of a geography (`eu.…`) or to all (`global.…`). Newer models answer to profiles
 * only. Here the names of one model become one, with the price of each profile.
 */
const PROFILE = /^(us-gov|us|eu|apac|au|jp|ca|global)\.(.+)$/

/** Profiles that AWS documents (2026) and the facts lack; they cost what the plain name costs. */
const UNLISTED = new Map(
  Object.entries({
    'amazon.nova-micro-v1:0': ['us', 'eu', 'apac'],
    'amazon.nova-lite-v1:0': ['us', 'eu', 'apac'],
    'amazon.nova-pro-v1:0': ['us', 'eu', 'apac'],
    'amazon.nova-2-lite-v1:0': ['us', 'global'],
    'meta.llama3-1-8b-instruct-v1:0': ['us'],
    'meta.llama3-1-70b-instruct-v1:0': ['us'],
    'meta.llama3-3-70b-instruct-v1:0': ['us'],
    'mistral.pixtral-large-2502-v1:0': ['us', 'eu'],
    'writer.palmyra-x4-v1:0': ['us'],
    'writer.palmyra-x5-v1:0': ['us'],
  }),
)

/** Models whose name at Bedrock is too short or too long; the part after the colon is the id. */
const RENAMED = new Map(
  Object.entries({
    'deepseek.r1-v1:0': 'deepseek/deepseek-r1',
    'deepseek.v3-v1:0': 'deepseek/deepseek-chat-v3.1',
    'deepseek.v3.2': 'deepseek/deepseek-v3.2',
    'meta.llama3-1-8b-instruct-v1:0': 'meta-llama/llama-3.1-8b-instruct',
    'meta.llama3-1-70b-instruct-v1:0': 'meta-llama/llama-3.1-70b-instruct',
    'meta.llama3-3-70b-instruct-v1:0': 'meta-llama/llama-3.3-70b-instruct',
    'meta.llama4-maverick-17b-instruct-v1:0': 'meta-llama/llama-4-maverick',
    'meta.llama4-scout-17b-instruct-v1:0': 'meta-llama/llama-4-scout',
    'mistral.devstral-2-123b': 'mistralai/devstral-2512',
    'mistral.ministral-3-3b-instruct': 'mistralai/ministral-3b-2512',
    'mistral.ministral-3-8b-instruct': 'mistralai/ministral-8b-2512',
    'mistral.ministral-3-14b-instruct': 'mistralai/ministral-14b-2512',
    'mistral.mistral-large-3-675b-instruct': 'mistralai/mistral-large-2512',
    'nvidia.nemotron-nano-3-30b': 'nvidia/nemotron-3-nano-30b-a3b',
    'nvidia.nemotron-super-3-120b': 'nvidia/nemotron-3-super-120b-a12b',
    'qwen.qwen3-coder-30b-a3b-v1:0': 'qwen/qwen3-coder-30b-a3b-instruct',
    'qwen.qwen3-coder-480b-a35b-v1:0': 'qwen/qwen3-coder',
    'qwen.qwen3-next-80b-a3b': 'qwen/qwen3-next-80b-a3b-instruct',
    'qwen.qwen3-vl-235b-a22b': 'qwen/qwen3-vl-235b-a22b-instruct',
  }),
)

/** A model with the price of each of its profiles, by the prefix of the name. */
export interface ProfiledModel extends FactModel {
  readonly profiles: Readonly<Record<string, FactModel['cost']>>
}

interface Named {
  plain?: FactModel
  readonly profiles: Map<string, FactModel>
}

/** Each model once, under its plain name. One that has no plain name keeps the facts of its widest profile. */
export function joinProfiles(models: readonly FactModel[]): ProfiledModel[] {
  const byName = new Map<string, Named>()
  for (const model of models) {
    const [, prefix, rest] = PROFILE.exec(model.id) ?? []
    const name = rest ?? model.id
    const known: Named = byName.get(name) ?? { profiles: new Map() }
    byName.set(name, known)
    if (prefix === undefined) known.plain = model
    else known.profiles.set(prefix, model)
  }
  return [...byName].flatMap(([name, { plain, profiles }]) => {
    const facts = plain ?? profiles.get('global') ?? [...profiles.values()][0]
    if (facts === undefined) return []
    const costs = [...profiles].map(([prefix, { cost }]) => [prefix, cost] as const)
    const unlisted = (UNLISTED.get(name) ?? []).map((prefix) => [prefix, facts.cost] as const)
    return [
      {
        ...facts,
        id: name,
        name: facts.name.replace(/ \((?:Global|US|EU|AU|JP)\)$/, ''),
        profiles: Object.fromEntries([...unlisted, ...costs]),
      },
    ]
  })
}

/** `anthropic.claude-sonnet-4-5-20250929-v1:0` → `anthropic/claude-sonnet-4-5`: a name as others write it. */
export function plainNameOf(id: string): string {
  const renamed = RENAMED.get(id)
  if (renamed !== undefined) return renamed
  const [, author = '', name = ''] = /^([a-z0-9]+)\.(.+)$/.exec(id) ?? []
  if (author === '') return id
  // Amazon's own models have the version in their name.
  const version = author === 'amazon' ? /:\d+$/ : /(?:-v\d+(?::\d+)?|-\d+:\d+)$/
  return `${author}/${name.replace(version, '').replace(/-20\d{6}$/, '')}`
}
