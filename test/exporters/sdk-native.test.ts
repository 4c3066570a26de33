/**
 * Kinds whose own client has a form of its own, while the vendor takes OTLP as well: each of its fields beside the
 * attribute from which the vendor makes that field.
 */
import { describe, expect, test } from 'bun:test'
import { asList, fieldsOf, isObject, parseJson } from '../../src/core/json.ts'
import type { DestinationType } from '../../src/exporters/destination-types.ts'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import { differencesOf, readAttributes, recordedCalls, renamed, unexplained } from './comparison.ts'
import { CONFIGS } from './configs.ts'
import { readTraces } from './otlp.ts'
import { contextFor, fullRecord } from './records.ts'

interface Comparison {
  /** The client's generation in what it sent. */
  readonly generation: (bodies: readonly unknown[]) => unknown
  /** Where the generation's span has the same. */
  readonly same: Readonly<Record<string, string>>
  readonly meant: Readonly<Record<string, string>>
}

const ID = 'the span has ids of its own, which a repeat has again'
const TIME = 'the span has it as nanoseconds'
const SDK = 'the name and version of the client'
const FORM = 'the conventions’ schema instead of the client’s own form'
const SLUICE = 'the gateway knows it'
const OURS = 'the conventions of OpenTelemetry have it'

const COMPARISONS: { readonly [Type in DestinationType]?: Comparison } = {
  sentry: {
    generation: ([envelope]) => {
      const items = String(envelope)
        .split('\n')
        .flatMap((line) => asList(fieldsOf(parseJson(line))['items']))
      const item = items.find((one) => String(fieldsOf(one)['name']).startsWith('chat '))
      const attributes = Object.entries(fieldsOf(fieldsOf(item)['attributes']))
      return readAttributes(
        Object.fromEntries(attributes.map(([name, entry]) => [name, fieldsOf(entry)['value']])),
      )
    },
    same: {},
    meant: {
      'missing: their:sentry.origin': SDK,
      'missing: their:sentry.sdk.*': SDK,
      'missing: their:sentry.segment.*': 'the server finds the root itself',
      'missing: their:sentry.trace_lifecycle': 'how the client sends spans',
      'missing: their:sentry.environment':
        'the gateway does not know it; a header of the operator may say it',
      'other: gen_ai.provider.name': 'the client was given OpenAI’s library, our provider is Azure',
      'missing: their:gen_ai.response.text': 'gen_ai.output.messages has it',
      'missing: gen_ai.system_instructions':
        'instructions of chat are messages; other dialects have them beside',
      'other: gen_ai.input.messages*': FORM,
      'missing: gen_ai.input.messages*': FORM,
      'extra: gen_ai.input.messages*': FORM,
      'missing: gen_ai.tool.definitions*': FORM,
      'extra: gen_ai.*': OURS,
      'extra: server.*': OURS,
      'extra: user.id': OURS,
      'extra: sluice.*': SLUICE,
    },
  },
  braintrust: {
    generation: (bodies) => {
      const rows = bodies.flatMap((body) => asList(fieldsOf(body)['rows'])).map(fieldsOf)
      return { ...rows[0], metrics: { ...fieldsOf(rows[0]?.['metrics']), ...fieldsOf(rows[1]?.['metrics']) } }
    },
    same: {
      input: 'braintrust.input_json',
      output: 'braintrust.output_json',
      metadata: 'braintrust.metadata',
      metrics: 'braintrust.metrics',
      span_attributes: 'braintrust.span_attributes',
    },
    meant: {
      'missing: their:id': ID,
      'missing: their:span_id': ID,
      'missing: their:root_span_id': ID,
      'missing: their:project_id': 'the header x-bt-parent has it',
      'missing: their:log_id': 'the same',
      'missing: their:created': TIME,
      'missing: their:context.*': SDK,
      'missing: their:_is_merge': 'a mark of the client for rows in two parts',
      'missing: braintrust.metrics.start': TIME,
      'missing: braintrust.metrics.end': TIME,
      'missing: braintrust.span_attributes.name': 'the name of the span',
      'missing: braintrust.span_attributes.exec_counter': 'a counter of the client’s process',
      'other: braintrust.input_json.1.content': 'a single text is a text, not a list of one',
      'extra: braintrust.output_json.0.reasoning': 'the client was not given it',
      'extra: braintrust.metadata.*': 'the client was given six entries',
      'extra: gen_ai.*': OURS,
      'extra: server.*': OURS,
      'extra: user.id': OURS,
      'extra: sluice.*': SLUICE,
    },
  },
  opik: {
    generation: (bodies) => ({
      ...fieldsOf(asList(fieldsOf(bodies[1])['spans'])[0]),
      thread_id: fieldsOf(asList(fieldsOf(bodies[0])['traces'])[0])['thread_id'],
    }),
    same: {
      model: 'gen_ai.response.model',
      'usage.prompt_tokens': 'gen_ai.usage.input_tokens',
      'usage.completion_tokens': 'gen_ai.usage.output_tokens',
      'metadata.release': 'opik.metadata.release',
      'metadata.team': 'opik.metadata.team',
      thread_id: 'thread_id',
      provider: 'gen_ai.system',
      'input.messages': 'gen_ai.input.messages',
      'output.choices': 'gen_ai.output.messages',
      total_estimated_cost: 'sluice.cost_usd',
    },
    meant: {
      'missing: their:id': ID,
      'missing: their:trace_id': ID,
      'missing: their:start_time': TIME,
      'missing: their:end_time': TIME,
      'missing: their:source': SDK,
      'missing: their:name': 'the name of the span',
      'missing: their:type': 'its server makes a span with a model an llm span',
      'missing: their:project_name': 'the header projectName has it',
      'missing: their:usage.total_tokens': 'its server adds them up',
      'other: gen_ai.system': 'the well-known name; the client was given our slug',
      'missing: gen_ai.input.messages*': FORM,
      'extra: gen_ai.input.messages*': FORM,
      'other: gen_ai.output.messages*': FORM,
      'extra: opik.metadata.*': 'the client was given two entries',
      'extra: gen_ai.*': OURS,
      'extra: server.*': OURS,
      'extra: user.id': OURS,
      'extra: sluice.*': SLUICE,
    },
  },
  weave: {
    generation: ([body]) => {
      const calls = asList(fieldsOf(body)['batch']).map((one) => fieldsOf(fieldsOf(one)['req']))
      return { ...fieldsOf(calls[0]?.['start']), ...fieldsOf(calls[1]?.['end']) }
    },
    same: {
      'output.model': 'gen_ai.response.model',
      'output.usage.prompt_tokens': 'gen_ai.usage.input_tokens',
      'output.usage.completion_tokens': 'gen_ai.usage.output_tokens',
      'output.usage.total_tokens': 'llm.usage.total_tokens',
      'output.choices': 'gen_ai.output.messages',
      'inputs.arg0.messages': 'gen_ai.input.messages',
    },
    meant: {
      'missing: their:id': ID,
      'missing: their:trace_id': ID,
      'missing: their:started_at': TIME,
      'missing: their:ended_at': TIME,
      'missing: their:project_id': 'the resource has wandb.entity and wandb.project',
      'missing: their:op_name': 'the name of the span',
      'missing: their:attributes.*': SDK,
      'missing: their:inputs.arg0.model': 'gen_ai.response.model has it',
      'missing: their:summary.*': 'its server makes it from the usage',
      'missing: gen_ai.input.messages*': FORM,
      'extra: gen_ai.input.messages*': FORM,
      'missing: gen_ai.output.messages*': FORM,
      'extra: gen_ai.output.messages*': FORM,
      'extra: weave.span.kind': 'the kind that its server reads',
      'extra: wandb.thread_id': 'the session',
      'extra: llm.provider': 'the provider that its server reads',
      'extra: gen_ai.*': OURS,
      'extra: server.*': OURS,
      'extra: user.id': OURS,
      'extra: sluice.*': SLUICE,
    },
  },
}

async function ours(type: DestinationType): Promise<Record<string, unknown>> {
  const [call] = await KINDS[type].batchOf([fullRecord()], contextFor(CONFIGS[type]))
  if (call === undefined) throw new Error('no call')
  return readAttributes(readTraces(call).spans[1]?.attributes ?? {})
}

describe.each(Object.entries(COMPARISONS))('%s', (type, { generation, same, meant }) => {
  test('sends what its own client sends, but for what is meant', async () => {
    const kind = type as DestinationType
    const own = await ours(kind)
    const sent = generation(recordedCalls(kind).map(({ body }) => body))
    expect(isObject(sent)).toBe(true)
    // What has the same name in both is compared as it is.
    const shared = Object.fromEntries(Object.keys(own).map((name) => [name, name]))
    const differences = differencesOf(
      renamed(sent, { ...shared, ...same, 'gen_ai.system_instructions': 'gen_ai.system_instructions' }),
      own,
    )
    expect(unexplained(differences, meant)).toEqual({ unexplained: [], inVain: [] })
  })
})
