import { words } from '../../core/words.ts'
import { authorOf } from './authors.ts'
import type { FactModel } from './document.ts'
import type { ListedModel } from './listed.ts'

/** The parts of a provider's name for a model. */
export interface NameParts {
  readonly author: string
  /** Lower case, without author, variant and quantization. */
  readonly bare: string
  /** `:free` and the like; '' without one. */
  readonly variant: string
  readonly quantization: string | null
}

const VARIANT = /:(?:free|thinking|extended|beta)$/
const DATE = /-20\d{6}$/
const QUANTIZATION = /-(fp8|fp4|nvfp4|mxfp4|bf16|fp16|int8|int4)(?=-|$)/
/** Folders that are not labs, and names of hosts or labs that some providers glue to the front. */
const FOLDERS = /^(?:hf:|@cf\/|tee\/|workers-ai\/|unsloth\/|accounts\/[^/]+\/(?:models|routers)\/)/
const GLUED =
  /^(?:databricks|zai-org|zai|nvidia-nvidia|openai(?=-gpt)|google(?=-gem)|xai(?=-grok)|arcee(?=-trinity)|aion-labs(?=-aion))-/

/** Models with a provider-specific name; the part after the colon is the id. */
const RENAMED = new Map(
  Object.entries({
    'llama-3.3-70b-versatile': 'meta-llama/llama-3.3-70b-instruct',
    'llama-3.1-8b-instant': 'meta-llama/llama-3.1-8b-instruct',
    'meta-llama/llama-3.3-70b-instruct-turbo': 'meta-llama/llama-3.3-70b-instruct',
    'meta-llama/meta-llama-3.1-8b-instruct-turbo': 'meta-llama/llama-3.1-8b-instruct',
  }),
)

/** Words that describe the packing, not the model. */
const HARMLESS = new Set(words('instruct it chat tee maas meta nvidia google openai zai hf versatile'))

export function partsOf(upstreamId: string, provider: string): NameParts {
  const lower = upstreamId.toLowerCase().replace(FOLDERS, '').replace(FOLDERS, '')
  const variant = VARIANT.exec(lower)?.[0] ?? ''
  const named = lower.slice(0, lower.length - variant.length)
  const segments = named.split('/')
  const prefix = segments.length > 1 ? (segments[0] ?? null) : null
  const last = (segments.at(-1) ?? named).replaceAll(':', '-').replaceAll('_', '.')
  const written = upstreamId.startsWith('accounts/')
    ? last.replace(/(?<=\d)p(?=\d)/g, '.').replace(/-v(?=3\.\d-\d)/, '-')
    : last
  const unglued = written
    .replace(GLUED, '')
    .replace(/^meta-(?=llama)/, '')
    .replace(/-tee$/, '')
  const quantization = QUANTIZATION.exec(unglued)?.[1] ?? null
  const bare = quantization === null ? unglued : unglued.replace(QUANTIZATION, '')
  return { author: authorOf(bare, prefix, provider), bare, variant, quantization }
}

/** Spellings that differ only in dots and dashes are one name. */
const folded = (name: string): string => name.toLowerCase().replace(/[._\s]+/g, '-')

export interface Identities {
  /** The same for every name of one model, at every provider. Earlier calls decide later ones. */
  idOf(model: FactModel, provider: string): string
}

/** Assigns one id to each model across providers: OpenRouter's if it lists the model, else `author/name`. */
export function createIdentities(
  listed: readonly ListedModel[],
  /** Ids of OpenRouter that its list does not have yet. */
  later: readonly string[] = [],
): Identities {
  const ids = new Map<string, string>()
  const add = (name: string, id: string): void => {
    const key = folded(name)
    if (!ids.has(key)) ids.set(key, id)
  }
  /** By the inheritance in the metadata. It also joins siblings, so only if their names do not differ. */
  const basedId = (model: FactModel, parts: NameParts): string | undefined => {
    if (model.baseModel === null || parts.variant !== '') return undefined
    const base = partsOf(model.baseModel, '')
    const words = new Set(folded(base.bare).split('-'))
    const isSame = folded(parts.bare)
      .split('-')
      .every((word) => words.has(word) || HARMLESS.has(word))
    return isSame ? ids.get(folded(`${base.author}/${base.bare}`)) : undefined
  }

  for (const model of listed) add(model.id, model.id)
  for (const model of listed) {
    if (VARIANT.test(model.id)) continue
    const [author = ''] = model.id.split('/')
    add(model.canonicalSlug, model.id)
    add(model.canonicalSlug.replace(DATE, ''), model.id)
    if (model.huggingFaceId !== null) add(`${author}/${partsOf(model.huggingFaceId, author).bare}`, model.id)
  }

  for (const id of later) if (!VARIANT.test(id)) add(id, id)

  return {
    idOf(model, provider) {
      const parts = partsOf(model.id, provider)
      const name = `${parts.author}/${parts.bare}`
      const renamed = RENAMED.get(model.id.toLowerCase())
      const known = renamed ?? ids.get(folded(name + parts.variant)) ?? basedId(model, parts)
      const id = known ?? name + parts.variant
      add(name + parts.variant, id)
      return id
    },
  }
}
