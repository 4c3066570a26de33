import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import type { OutboundAllow } from '../../net/address.ts'
import { checkAddress, type Place } from '../../net/user-address.ts'

/**
 * Rejects URLs of private networks anywhere in a request (server-side request forgery): the gateway, or a provider on the
 * operator's network, could fetch them although the caller has no access. Checks every string that is not known to be
 * text, including fields without a schema. Throws a `GatewayError` 400 that names the field. Returns the host names to
 * resolve; null without any.
 */
export function checkUserUrls(body: JsonObject, allow: OutboundAllow): UserNames | null {
  const walk = newWalk(allow)
  walkObject(body, false, walk)
  return walk.names
}

/** The maximum number of host names in a request to a provider on the operator's network. */
export const MOST_NAMES = 32

/** Host names in a request's URLs, each with its first field. At most `MOST_NAMES` + 1. */
export type UserNames = ReadonlyMap<string, string>

/** The state of the walk: the path to the current value, the operator's exceptions and the names found. */
interface Walk extends Place {
  readonly allow: OutboundAllow
  readonly path: (string | number)[]
  names: Map<string, string> | null
}

function newWalk(allow: OutboundAllow): Walk {
  const path: (string | number)[] = []
  return {
    allow,
    path,
    names: null,
    isAddress() {
      const name = path.findLast((step) => typeof step === 'string')
      return typeof name === 'string' && ADDRESS_NAME.test(name)
    },
    written: () =>
      path
        .map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`))
        .join(''),
  }
}

/** Fields whose strings are text and never fetched. Objects in them are checked. */
const TEXT_FIELDS = new Set(
  (
    'text content prompt input query documents instructions system arguments reasoning reasoning_content ' +
    'reasoning_text thinking refusal signature thoughtSignature encrypted_content title context description name filename ' +
    'file_name stop stop_sequences suffix prefix user session_id output summary snippet cited_text quote logs ' +
    'stdout stderr error code command commands diff definition search_prompt texts inputs ref_text transcript'
  ).split(' '),
)

/** Labels and citations, which are never fetched. */
const LABELS = new Set(['metadata', 'trace', 'annotations', 'citations', 'reasoning_details', 'logit_bias'])

/** Schemas and example arguments of tools. In message content these names have no meaning, so they are checked. */
const SCHEMAS = new Set(
  (
    'parameters parametersJsonSchema input_schema inputSchema output_schema schema json_schema responseSchema ' +
    'responseJsonSchema response_format input_examples headers guided_json structured_outputs'
  ).split(' '),
)

/** Top-level fields that contain content, in all dialects and operations. */
const CONTENT = new Set(
  'messages input contents system systemInstruction system_instruction documents query prompt images'.split(
    ' ',
  ),
)

const ADDRESS_NAME =
  /^(?:image|images|video|videos|audio|audios|mask|href|src|file_data)$|(?:^|[_-])ur[il]s?$|[a-z]Ur[il]s?$/

/** `isContent`: the object is message content, which contains no tool definitions or schemas. */
function walkObject(object: JsonObject, isContent: boolean, walk: Walk): void {
  const skipped = GOOGLES.get(walk.path.at(-1)) ?? skippedOf(object['type'])
  for (const name in object) {
    const value = object[name]
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) continue
    if (LABELS.has(name) || skipped?.has(name) || (!isContent && SCHEMAS.has(name))) continue
    walk.path.push(name)
    walkValue(value, name, isContentIn(name, isContent, walk), walk)
    walk.path.pop()
  }
}

const isContentIn = (name: string, isContent: boolean, { path }: Walk): boolean =>
  name !== 'tools' && (isContent || (path.length === 1 && CONTENT.has(name)))

function walkValue(value: unknown, name: string, isContent: boolean, walk: Walk): void {
  if (typeof value === 'string') {
    if (TEXT_FIELDS.has(name) || isGooglesFile(value, walk)) return
    const host = checkAddress(value, walk, walk.allow)
    if (host !== null) note(host, walk)
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      walk.path.push(index)
      walkValue(value[index], name, isContent, walk)
      walk.path.pop()
    }
  } else if (isObject(value)) walkObject(value, isContent, walk)
}

function note(host: string, walk: Walk): void {
  walk.names ??= new Map()
  if (walk.names.size <= MOST_NAMES && !walk.names.has(host)) walk.names.set(host, walk.written())
}

/** Arguments and results of functions in Google's dialect. */
const GOOGLES: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['functionCall', new Set(['args'])],
  ['functionResponse', new Set(['response'])],
])

/** True for `gs://` URLs in the field where only Google reads them: no HTTP request is made for them. */
const isGooglesFile = (text: string, { path }: Walk): boolean =>
  path.at(-1) === 'fileUri' && path.at(-2) === 'fileData' && /^gs:\/\/[a-z0-9]/.test(text)

const PLAIN_DOCUMENT = new Set(['data'])
const SEARCH_RESULT = new Set(['source'])
const FOUND = new Set(['url'])
const CALLED = new Set(['input', 'action', 'results', 'sources', 'queries', 'args'])

/**
 * The text fields of objects of this type: plain-text documents, sources of search results, arguments and results of
 * tools. Earlier turns may contain private URLs there, which must not make a conversation unusable.
 */
function skippedOf(type: unknown): ReadonlySet<string> | null {
  if (typeof type !== 'string') return null
  if (type === 'text') return PLAIN_DOCUMENT
  if (type === 'search_result') return SEARCH_RESULT
  if (type === 'web_search_result' || type === 'web_fetch_result') return FOUND
  return type.endsWith('_use') || type.endsWith('_call') ? CALLED : null
}

/** Message parts that may have a URL instead of content. */
export type AddressedPart = Extract<ContentPart, { type: 'image' | 'file' | 'video' }>

const SCHEME = /^[a-z][a-z0-9+.-]*:/i

/** The URL of a part; null if it contains its content (`data:`, bare base64) or its type has no URL. */
export function addressOf(part: ContentPart): string | null {
  const text =
    part.type === 'file' ? part.data : part.type === 'image' || part.type === 'video' ? part.url : ''
  return text === undefined || !SCHEME.test(text) || /^data:/i.test(text) ? null : text
}

/** Fields that contain URLs, in all ingress dialects. */
const ADDRESS_FIELDS = new Set(['url', 'image_url', 'video_url', 'file_data', 'file_url', 'fileUri', 'data'])
export const isAddressField = (name: string): boolean => ADDRESS_FIELDS.has(name)

/** The path of a URL in a body (`messages[0].content[1].image_url.url`), in any dialect; undefined if not found. */
export function placeOf(url: string, body: JsonObject): string | undefined {
  return placeIn(url, body, '', '')
}

function placeIn(url: string, value: unknown, field: string, place: string): string | undefined {
  if (value === url) return isAddressField(field) ? place : undefined
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = placeIn(url, item, field, `${place}[${index}]`)
      if (found !== undefined) return found
    }
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      const found = placeIn(url, item, name, place === '' ? name : `${place}.${name}`)
      if (found !== undefined) return found
    }
  }
  return undefined
}
