/** Kinds whose own client speaks OTLP: the generation's span of both, attribute by attribute. */
import { describe, expect, test } from 'bun:test'
import type { DestinationType } from '../../src/exporters/destination-types.ts'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import { differencesOf, readAttributes, recordedCalls, unexplained } from './comparison.ts'
import { CONFIGS } from './configs.ts'
import { readTheirs, readTraces } from './otlp.ts'
import { contextFor, fullRecord } from './records.ts'

const OURS = 'the conventions of OpenTelemetry have it, the client does not use them'
const SLUICE = 'the gateway knows it'
const PROTOBUF = 'protobuf is smaller; the vendor takes both'
const SDK = 'the name and version of the client'

const MEANT: { readonly [Type in DestinationType]?: Readonly<Record<string, string>> } = {
  langfuse: {
    'missing: headers.x-langfuse-sdk-name': SDK,
    'missing: headers.x-langfuse-sdk-version': SDK,
    'other: headers.content-type': PROTOBUF,
    'missing: resource.telemetry.sdk.*': SDK,
    'other: resource.service.name': 'theirs is of the process',
    'extra: resource.service.*': SLUICE,
    'missing: attributes.langfuse.internal.is_app_root': 'a mark of the client between processes',
    'extra: attributes.langfuse.trace.metadata.retries': 'the client was given two entries',
    'extra: attributes.langfuse.trace.metadata.nested': 'the client was given two entries',
    'other: attributes.langfuse.observation.input.1.content': 'a single text is a text, not a list of one',
    'other: attributes.langfuse.observation.output':
      'a message, with reasoning and calls where there are any',
    'other: attributes.langfuse.observation.usage_details.*':
      'parts that Langfuse adds up, without cached ones',
    'extra: attributes.langfuse.observation.usage_details.*': 'the same',
    'extra: attributes.langfuse.observation.cost_details.*': 'parts besides the total',
    'extra: attributes.langfuse.observation.model.parameters.*': 'the client was given two of them',
    'extra: attributes.gen_ai.*': OURS,
    'extra: attributes.server.*': OURS,
    'extra: attributes.sluice.*': SLUICE,
  },
  langsmith: {
    'extra: headers.langsmith-project': 'for self-hosted servers that do not read the attribute',
    'extra: headers.x-tenant-id': 'the client had no workspace',
    'missing: resource.telemetry.sdk.*': SDK,
    'other: resource.service.name': 'theirs is of the process',
    'extra: resource.service.*': SLUICE,
    'missing: attributes.langsmith.traceable': 'a mark of the client for its own processor',
    'missing: attributes.langsmith.is_root': 'a mark of the client for its own processor',
    'missing: attributes.langsmith.span.tags': 'a request has no tags',
    'missing: attributes.langsmith.metadata.usage_metadata': 'a copy of langsmith.usage_metadata',
    'missing: attributes.langsmith.trace.name': 'the name of the span is the name of the run',
    'other: attributes.langsmith.metadata.ls_temperature': 'a number, not its text',
    'other: attributes.langsmith.metadata.ls_max_tokens': 'a number, not its text',
    'extra: attributes.langsmith.metadata.retries': 'the client was given two entries',
    'extra: attributes.langsmith.metadata.nested': 'the client was given two entries',
    'extra: attributes.langsmith.metadata.user_id': 'the client was not given it',
    'extra: attributes.langsmith.usage_metadata.total_cost': 'what was charged; the client does not know it',
    'other: attributes.gen_ai.system': 'the client guesses it from the model, ours is that of the provider',
    'other: attributes.gen_ai.request.model': 'the model that was asked for; the client knows one',
    'missing: attributes.gen_ai.prompt.*': 'parameters have attributes of their own',
    'other: attributes.gen_ai.prompt.messages.1.content': 'a single text is a text, not a list of one',
    'extra: attributes.gen_ai.completion.choices.0.index': 'as OpenAI has it',
    'extra: attributes.gen_ai.completion.choices.0.message.reasoning': 'the client was not given it',
    'missing: attributes.gen_ai.completion.usage_metadata': 'langsmith.usage_metadata has it',
    'extra: attributes.gen_ai.*': OURS,
    'extra: attributes.server.*': OURS,
    'extra: attributes.user.id': OURS,
    'extra: attributes.sluice.*': SLUICE,
  },
  arize: {
    'missing: headers.authorization': 'Phoenix takes a bearer, Arize AX the headers of its space',
    'extra: headers.space_id': 'Arize AX, in one of two spellings',
    'extra: headers.api_key': 'the same',
    'extra: headers.arize-*': 'the same',
    'extra: resource.model_id': 'Arize AX names the project so, too',
    'extra: resource.service.*': SLUICE,
    'extra: attributes.llm.invocation_parameters.*': 'the client was given two of them',
    'extra: attributes.llm.finish_reason': 'the client was not given it',
    'extra: attributes.llm.token_count.completion_details.reasoning': 'the client was not given it',
    'extra: attributes.llm.cost.*': 'what was charged; the client was not given it',
    'extra: attributes.metadata.*': 'the client was given two entries',
    'other: attributes.input.value': 'the messages in the conventions’ schema, as JSON',
    'other: attributes.output.value': 'the same',
    'other: attributes.output.mime_type': 'the same',
    'extra: attributes.gen_ai.*': OURS,
    'extra: attributes.server.*': OURS,
    'extra: attributes.sluice.*': SLUICE,
  },
}

async function ours(type: DestinationType) {
  const [call] = await KINDS[type].batchOf([fullRecord()], contextFor(CONFIGS[type]))
  if (call === undefined) throw new Error('no call')
  const { resource, spans } = readTraces(call)
  const attributes = readAttributes(spans[1]?.attributes ?? {})
  return { path: new URL(call.url).pathname, headers: call.headers, resource, attributes }
}

function theirs(type: DestinationType) {
  const [call] = recordedCalls(type)
  if (call === undefined) throw new Error('nothing recorded')
  const body =
    call.encoding === 'base64' ? Uint8Array.fromBase64(String(call.body)) : JSON.stringify(call.body)
  const { resource, spans } = readTheirs({ headers: call.headers, body })
  const attributes = readAttributes(spans[0]?.attributes ?? {})
  return { path: call.path, headers: call.headers, resource, attributes }
}

describe.each(Object.entries(MEANT))('%s', (type, meant) => {
  test('sends what its own client sends, but for what is meant', async () => {
    const kind = type as DestinationType
    const differences = differencesOf(theirs(kind), await ours(kind))
    expect(unexplained(differences, meant)).toEqual({ unexplained: [], inVain: [] })
  })
})
