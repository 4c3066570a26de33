import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { PluginOptions, PluginRule } from '../../../src/core/plugin-options.ts'
import { newConversation } from '../../../src/core/request.ts'
import { enabledPlugins } from '../../../src/inference/plugins/enabled.ts'
import type { Plugin } from '../../../src/plugins/plugin.ts'
import { caller, guardrail, key, workspace } from '../fixture.ts'

const known: Plugin[] = [
  { id: 'first' },
  { id: 'usual', isUsual: ({ models }) => models[0] === 'm:usual' },
  {
    id: 'second',
    implied: ({ models }) => (models[0] === 'm:second' ? { id: 'second', by: 'model' } : null),
  },
]

interface Setting {
  readonly asked?: readonly PluginOptions[]
  readonly model?: string
  readonly workspace?: readonly PluginOptions[]
  readonly rules?: readonly PluginRule[]
}

function enabled({ asked, model = 'm', workspace: defaults, rules = [] }: Setting): PluginOptions[] {
  const request = newConversation({
    models: [model],
    messages: [],
    body: asked === undefined ? {} : { plugins: asked },
  })
  const guardrails = rules.map((rule) => guardrail({ name: 'Careful', plugins: [rule] }))
  const who = caller(
    key(guardrails.length === 0 ? {} : { guardrails }),
    workspace(defaults === undefined ? {} : { plugins: defaults }),
  )
  return enabledPlugins(request, who, known).map(({ options }) => options)
}

const rule = (enforcement: PluginRule['enforcement'], more: Record<string, unknown> = {}): PluginRule => ({
  id: 'first',
  enforcement,
  ...more,
})

test.each<[string, Setting, PluginOptions[]]>([
  ['no plugin is enabled by itself', {}, []],
  ['the request enables one', { asked: [{ id: 'first', a: 1 }] }, [{ id: 'first', a: 1 }]],
  ['one that is unknown here is not run', { asked: [{ id: 'third' }] }, []],
  [
    'they run in the order of the gateway',
    { asked: [{ id: 'second' }, { id: 'first' }] },
    [{ id: 'first' }, { id: 'second' }],
  ],
  ['enabled: false disables it', { asked: [{ id: 'first', enabled: false }] }, []],
  ['a model can imply one', { model: 'm:second' }, [{ id: 'second', by: 'model' }]],
  [
    'the request decides about one that its model implies',
    { model: 'm:second', asked: [{ id: 'second', enabled: false }] },
    [],
  ],
  ['one that is usual for a request needs no word', { model: 'm:usual' }, [{ id: 'usual' }]],
  [
    'the workspace turns a usual one off',
    { model: 'm:usual', workspace: [{ id: 'usual', enabled: false }] },
    [],
  ],
  [
    'the request enables a usual one that the workspace turned off',
    {
      model: 'm:usual',
      workspace: [{ id: 'usual', enabled: false }],
      asked: [{ id: 'usual', enabled: true }],
    },
    [{ id: 'usual', enabled: true }],
  ],
  [
    'a guardrail that forbids a usual one refuses no request that did not name it',
    { model: 'm:usual', rules: [{ id: 'usual', enforcement: 'never' }] },
    [],
  ],
  ['the workspace enables one', { workspace: [{ id: 'first', a: 1 }] }, [{ id: 'first', a: 1 }]],
  [
    'the request disables that of the workspace',
    { workspace: [{ id: 'first' }], asked: [{ id: 'first', enabled: false }] },
    [],
  ],
  [
    'one that the workspace has configured and not enabled is enabled by the request, with its options',
    { workspace: [{ id: 'first', enabled: false, a: 1, b: 1 }], asked: [{ id: 'first', b: 2 }] },
    [expect.objectContaining({ id: 'first', a: 1, b: 2 })],
  ],
  [
    'the workspace wins over the default of a guardrail',
    { rules: [rule('default', { a: 1, b: 1 })], workspace: [{ id: 'first', b: 2 }] },
    [expect.objectContaining({ a: 1, b: 2 })],
  ],
  [
    'the workspace turns the default of a guardrail off',
    { rules: [rule('default')], workspace: [{ id: 'first', enabled: false }] },
    [],
  ],
  [
    'no request disables what a guardrail sets always, or changes its options',
    { rules: [rule('always', { a: 1 })], asked: [{ id: 'first', enabled: false, a: 2, b: 2 }] },
    [{ id: 'first', enforcement: 'always', a: 1, enabled: true }],
  ],
  [
    'what a guardrail sets always has the options of the workspace that the guardrail does not set',
    { rules: [rule('always', { a: 1 })], workspace: [{ id: 'first', enabled: false, a: 2, b: 2 }] },
    [{ id: 'first', enforcement: 'always', a: 1, b: 2, enabled: true }],
  ],
  [
    'a guardrail that forbids one wins over the workspace',
    { rules: [rule('never')], workspace: [{ id: 'first' }] },
    [],
  ],
  [
    'one that is forbidden may be disabled',
    { rules: [rule('never')], asked: [{ id: 'first', enabled: false }] },
    [],
  ],
])('%s', (_, setting, expected) => {
  expect(enabled(setting)).toEqual(expected)
})

describe('a plugin that a guardrail forbids is a 403 that names both', () => {
  test.each<[string, Setting]>([
    ['asked for by the request', { rules: [rule('never')], asked: [{ id: 'first' }] }],
    ['required by another guardrail', { rules: [rule('never'), rule('always')] }],
  ])('%s', (_, setting) => {
    const run = () => enabled(setting)
    expect(run).toThrow(GatewayError)
    expect(run).toThrow('the guardrail "Careful" does not allow the plugin "first"')
  })
})
