import type { DialectName } from './events.ts'
import type { AccountTier } from './pricing.ts'

/** How a vendor departs from its dialect, as data. */
export interface ProviderQuirks {
  /** The only field that it accepts for the output limit; absent: the caller's field. */
  readonly outputBoundField?: 'max_tokens' | 'max_completion_tokens'
  /** False: it rejects `stream_options` and always sends usage. */
  readonly streamOptions?: boolean
  /** False: it does not know the role `developer`; `system` is sent. */
  readonly developerRole?: boolean
  /**
   * False: it reads no addresses; the content of images, files and videos is fetched and sent along. True: it reads
   * addresses of files too, where others of its dialect do not. By dialect where they differ.
   */
  readonly takesUrls?: boolean | Readonly<Partial<Record<DialectName, boolean>>>
  /** The field that asks for reasoning effort; absent: `reasoning_effort`. */
  readonly reasoningField?: 'reasoning' | 'reasoning_effort'
  /** True: its chat completions accept `cache_control` on texts, tools and the body. */
  readonly cacheMarks?: true
  /** True: it runs tools of the type `openrouter:…` itself. */
  readonly serverTools?: true
  /** True: the operator lets it run the plugins and server tools of requests, and books what it reports to charge. */
  readonly delegates?: true
  /** False: its `/responses` accepts only OpenAI's own fields; penalties, `top_k` and similar ones are a 400. */
  readonly responsesExtensions?: boolean
  /** True: its Responses API runs the tool `x_search`, which `x_search_filter` becomes. */
  readonly xSearch?: true
  /** True: it has a tool that searches the web, in every dialect of its but chat completions. */
  readonly searches?: true
  /** Reasoning models that it serves, or serves better, on chat completions although it has `/responses`. By its names. */
  readonly chatModels?: RegExp
  /** The service tier of requests that name none; absent: the usual one. */
  readonly accountTier?: AccountTier
  /** How its chat completions depart from OpenAI's. */
  readonly chat?: ChatQuirks
  /** How its `/embeddings` departs from OpenAI's. `floatFormat` false: it takes no word for plain numbers. */
  readonly embeddings?: {
    readonly dimensionsField?: 'output_dimension'
    readonly floatFormat?: false
    /** Its words for `input_type`; absent: it may refuse the field. */
    readonly inputTypes?: { readonly query: string; readonly document: string }
    /** Google's requests: one for each input; `instances` (Vertex): one prediction with an instance for each input. */
    readonly form?: 'instances'
  }
  /** The recordings that it transcribes; absent: unknown. `formats` are extensions of file names. */
  readonly recordings?: { readonly mostBytes: number; readonly formats: readonly string[] }
  /** The field that bounds a ranking; absent: `top_n`. */
  readonly rankingBoundField?: 'top_k'
}

/** How a vendor's chat completions differ from OpenAI's. Fields that are left out for it are reported as dropped. */
export interface ChatQuirks {
  /** OpenAI's field → its own name of it. */
  readonly fieldNames?: Readonly<Record<string, string>>
  /** Fields of the API that it rejects or silently ignores. */
  readonly refusedFields?: readonly string[]
  /**
   * The same for fields of messages, and of the parts of their content; `name` of a tool's message stays, and
   * `extra_content` (Google's) goes from calls too.
   */
  readonly refusedMessageFields?: readonly string[]
  /** It accepts `metadata` only together with `store: true`. */
  readonly storedMetadata?: true
  /** The types of `response_format` that it takes; absent: all. */
  readonly responseFormats?: readonly string[]
  /** False: it calls no tools. Calls of former turns are left out, and results become messages of the user. */
  readonly tools?: false
  /** Its word for the tool choice `required`. */
  readonly requiredToolChoice?: 'any'
  /** Ids of tool calls must be of this form; others are replaced, the same id always by the same. */
  readonly toolCallIds?: 'nine-alphanumerics'
  /** Earlier reasoning is sent back as parts `thinking` of the content. */
  readonly thinkingParts?: true
  /** The message field in which earlier reasoning is sent back; messages that call tools always have it. */
  readonly thoughtsField?: 'reasoning_content'
  /** Parts in Mistral's form: `document_url`, or `file` with the id next to the type; audio only as base64. */
  readonly flatParts?: true
  /** True: a function must have parameters, if only none. */
  readonly toolParameters?: true
  /** Inclusive range of a parameter. A value outside is clamped, and the metadata names it. */
  readonly ranges?: Readonly<Record<string, readonly [least: number, most: number]>>
  /** The efforts of reasoning that it knows, weakest first, where the model's are not known. */
  readonly efforts?: readonly string[]
  /** Models that always reason get `prompt_mode: reasoning` instead of an effort. */
  readonly promptMode?: true
  /** A last message of the assistant must be marked as the prefix of the answer. */
  readonly assistantPrefix?: true
  /** An assistant message must stand between a tool and the user: a short one is added, and the metadata names it. */
  readonly wordAfterTools?: true
  /** After the instructions, messages of user and assistant must alternate. */
  readonly alternatingRoles?: true
}
