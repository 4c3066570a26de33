import { fieldsOf, isObject, type JsonObject } from '../../core/json.ts'
import type { DefaultParameters } from '../../core/snapshot.ts'
import { words } from '../../core/words.ts'
import { packed, unpacked } from '../packed.ts'
import listedPath from '../seed/listed.json.gz' with { type: 'file' }
import { compare, dateOf, textOf, textsOf } from './document.ts'

/** One model of OpenRouter's own list: the ids, dated slugs and parameter names that clients of this API know. */
export interface ListedModel {
  readonly id: string
  readonly canonicalSlug: string
  readonly name: string
  readonly huggingFaceId: string | null
  readonly tokenizer: string | null
  readonly instructType: string | null
  readonly parameters: readonly string[]
  /** USD per search, a plain decimal; null: unknown. */
  readonly webSearch: string | null
  readonly defaultParameters?: DefaultParameters
  readonly expirationDate?: string
}

/** Reads a document of the shape of OpenRouter's model list: `{data: [{id, …}]}`. */
export function readListed(document: unknown): ListedModel[] {
  const rows = isObject(document) && Array.isArray(document['data']) ? document['data'] : []
  return rows
    .flatMap((row) => {
      const id = isObject(row) ? textOf(row['id']) : null
      if (!isObject(row) || id === null || id.startsWith('~')) return []
      const architecture = isObject(row['architecture']) ? row['architecture'] : {}
      return [
        {
          id,
          canonicalSlug: textOf(row['canonical_slug']) ?? id,
          name: textOf(row['name']) ?? id,
          huggingFaceId: textOf(row['hugging_face_id']),
          tokenizer: textOf(architecture['tokenizer']),
          instructType: textOf(architecture['instruct_type']),
          parameters: textsOf(row['supported_parameters']),
          webSearch: priceOf(row['pricing']),
          ...detailsOf(row),
        },
      ]
    })
    .sort((left, right) => compare(left.id, right.id))
}

const PARAMETERS = words('temperature top_p top_k frequency_penalty presence_penalty repetition_penalty')

function detailsOf(row: JsonObject): Pick<ListedModel, 'defaultParameters' | 'expirationDate'> {
  const written = fieldsOf(row['default_parameters'])
  const numbers = PARAMETERS.flatMap((name) => {
    const value = written[name]
    return typeof value === 'number' && Number.isFinite(value) ? [[name, value] as const] : []
  })
  const expirationDate = dateOf(row['expiration_date'])
  return {
    ...(numbers.length === 0 ? {} : { defaultParameters: Object.fromEntries(numbers) }),
    ...(expirationDate === null ? {} : { expirationDate }),
  }
}

const priceOf = (pricing: unknown): string | null => {
  const price = isObject(pricing) ? textOf(pricing['web_search']) : null
  return price !== null && /^\d+(\.\d{1,18})?$/.test(price) && Number(price) > 0 ? price : null
}

/** What of the list a refresh needs, as a file. The inverse of `loadListed`. */
export const packListed = (listed: readonly ListedModel[]): Uint8Array<ArrayBuffer> =>
  packed({
    data: listed.map((model) => ({
      id: model.id,
      canonical_slug: model.canonicalSlug,
      name: model.name,
      hugging_face_id: model.huggingFaceId,
      architecture: { tokenizer: model.tokenizer, instruct_type: model.instructType },
      supported_parameters: model.parameters,
      ...(model.webSearch === null ? {} : { pricing: { web_search: model.webSearch } }),
      ...modelDetails(model),
    })),
  })

/** The details of a listed model, as the catalogue's file has them. */
export const modelDetails = ({ defaultParameters, expirationDate }: ListedModel) => ({
  ...(defaultParameters === undefined ? {} : { default_parameters: defaultParameters }),
  ...(expirationDate === undefined ? {} : { expiration_date: expirationDate }),
})

/** The list in the program. Names do not change when the metadata is refreshed. */
export const loadListed = (): ListedModel[] => readListed(unpacked(listedPath))
