import type { Caller } from '../../core/caller.ts'
import { forbidden } from '../../core/errors.ts'
import type { GuardrailRecord } from '../../core/guardrail.ts'
import { isString, objectsIn } from '../../core/json.ts'
import type { PluginOptions, PluginRule } from '../../core/plugin-options.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Plugin } from '../../plugins/plugin.ts'

/** A plugin that a request has, with its options. */
export interface Active {
  readonly plugin: Plugin
  readonly options: PluginOptions
}

/**
 * The plugins of a request, in their order. The options of the request (its preset's are among them) win over those of
 * the workspace, and these over a guardrail's default. What a guardrail sets always, no request changes. Throws a
 * `GatewayError` 403 for a plugin that a guardrail forbids.
 */
export function enabledPlugins(
  request: InferenceRequest,
  caller: Caller,
  known: readonly Plugin[],
): readonly Active[] {
  const {
    key: { guardrails },
    workspace: { plugins: ofWorkspace = NONE },
  } = caller
  const ofRequest = request.body['plugins']
  const own = ofRequest === undefined ? NONE : objectsIn(ofRequest).filter(isNamed)
  const { plugins: delegated } = request.delegated ?? { plugins: NONE }
  const rules = guardrails === undefined ? NO_RULES : rulesIn(guardrails)
  const active: Active[] = []
  for (const plugin of known) {
    const implied = plugin.implied?.(request) ?? null
    const isUsual = plugin.isUsual?.(request, caller) === true
    const isNowhere = own.length === 0 && ofWorkspace.length === 0 && rules.length === 0
    if (implied === null && !isUsual && isNowhere) continue
    const isOwn = ({ id }: PluginOptions): boolean => id === plugin.id
    const asked = [...(implied === null ? [] : [implied]), ...own.filter(isOwn)]
    const options = optionsOf(
      plugin.id,
      isUsual,
      asked,
      ofWorkspace.filter(isOwn),
      rules.filter(({ rule }) => isOwn(rule)),
    )
    // What the provider runs does not run here, but a guardrail may forbid it.
    if (options !== null && !delegated.some(isOwn)) active.push({ plugin, options })
  }
  return active
}

const NONE: readonly PluginOptions[] = []
const NO_RULES: readonly Ruled[] = []

const isNamed = (options: { id?: unknown }): options is PluginOptions => isString(options.id)

interface Ruled {
  readonly rule: PluginRule
  readonly guardrail: string
}

const rulesIn = (guardrails: readonly GuardrailRecord[]): readonly Ruled[] =>
  guardrails.flatMap(({ name, plugins = [] }) => plugins.map((rule) => ({ rule, guardrail: name })))

/** Null: the request does not have the plugin. */
function optionsOf(
  id: string,
  isUsual: boolean,
  asked: readonly PluginOptions[],
  ofWorkspace: readonly PluginOptions[],
  rules: readonly Ruled[],
): PluginOptions | null {
  const ruled = (wanted: PluginRule['enforcement']) => rules.filter(({ rule }) => rule.enforcement === wanted)
  const [never] = ruled('never')
  const always = ruled('always')
  if (never && (always.length > 0 || asked.some(isEnabled)))
    throw forbidden(
      `plugins: the guardrail ${JSON.stringify(never.guardrail)} does not allow the plugin "${id}"`,
      { reason: 'guardrail', guardrail: never.guardrail },
    )
  if (always.length > 0)
    return merged(id, [...ofWorkspace, ...always.map(({ rule }) => rule), { id, enabled: true }])
  if (never) return null
  const usual = isUsual ? [{ id }] : []
  const options = [...usual, ...ruled('default').map(({ rule }) => rule), ...ofWorkspace, ...asked]
  // The last one decides, and one that is named without `enabled` is enabled.
  const last = options.at(-1)
  return last !== undefined && isEnabled(last) ? merged(id, options) : null
}

const isEnabled = ({ enabled }: PluginOptions): boolean => enabled !== false

const merged = (id: string, options: readonly PluginOptions[]): PluginOptions =>
  Object.assign({ id }, ...options)
