import type { StepCounts } from './generation.ts'
import type { JsonObject } from './json.ts'
import type { MadeImage } from './operation.ts'
import type { InferenceRequest } from './request.ts'
import type { Closing, InferenceResult } from './result.ts'

/** What a plugin or a tool of the gateway can have done for a generation, each as a step on the ledger. */
export interface Facilities {
  /** A further conversation, by the same caller within the same limits. Throws the caller's error. */
  ask(request: InferenceRequest, asking: Asking): Promise<Asked>
  /** Images by the fields of `POST /images`, in one reply. Throws the caller's error. */
  draw(body: JsonObject, asking: Asking): Promise<Drawn>
  /** The verdicts of a moderation model, one for each text. Throws the caller's error. */
  moderate(models: readonly string[], texts: readonly string[], asking: Asking): Promise<Moderated>
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

export interface Moderated {
  readonly model: string
  readonly providerName: string
  /** As the provider wrote them. */
  readonly results: readonly JsonObject[]
}

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
