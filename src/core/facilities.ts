import type { StepCounts } from './generation.ts'
import type { JsonObject } from './json.ts'
import type { MadeImage } from './operation.ts'
import type { ApiType, InferenceRequest } from './request.ts'
import type { Closing, InferenceResult } from './result.ts'

/** What a plugin or a tool of the gateway can have done for a generation, each as a step on the ledger. */
export interface Facilities {
  /** A further conversation, by the same caller within the same limits. Throws the caller's error. */
  ask(request: InferenceRequest, asking: Asking): Promise<Asked>
  /**
   * Images by the fields of `POST /images`, in one reply, from a `prompt` that the content filters of the caller let
   * through. Throws the caller's error.
   */
  draw(body: JsonObject, asking: Asking): Promise<Drawn>
  /**
   * One request of this kind. `body` and the reply, which has `model` and `provider`, are those of its route; for `ocr`
   * `body` is Mistral's, with a list of `pages`, and the reply has a text for each in `pages`. Throws the caller's error.
   */
  serve(kind: ServedKind, body: JsonObject, asking: Asking): Promise<JsonObject>
  /** A call that costs money: reserved before it is made. Throws what `run` throws, and the refusal of a limit. */
  pay<Value>(payment: Payment, run: (signal: AbortSignal) => Promise<Paid<Value>>): Promise<Value>
}

export interface Asking {
  /** See `Parent.kind`. */
  readonly kind: string
  /** Ends this step alone; absent: it ends with the request. */
  readonly signal?: AbortSignal
}

export interface Asked {
  readonly id: string
  /** The model and the provider that answered. */
  readonly model: string
  readonly providerName: string
  readonly result: InferenceResult
  readonly closing: Closing
}

export interface Drawn {
  /** The model that made them. */
  readonly model: string
  /** Never empty. */
  readonly images: readonly MadeImage[]
}

export type ServedKind = Extract<ApiType, 'moderation' | 'ocr' | 'embeddings'>

export interface Payment {
  /** See `Parent.kind`. */
  readonly kind: string
  /** The row's model, such as `openrouter:web_search`. */
  readonly name: string
  /** The row's provider: the slug of the engine that is paid. */
  readonly engine: string
  /** 0: free, and counted all the same. */
  readonly atMostNanoUsd: number
}

export interface Paid<Value> {
  readonly value: Value
  readonly costNanoUsd: number
  readonly counts?: StepCounts
}
