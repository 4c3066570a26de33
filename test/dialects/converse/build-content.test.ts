import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { attemptOf } from './attempt.ts'
import { beside, build, CLAUDE, LLAMA, OLD_CLAUDE, OTHER } from './built.ts'

describe('content', () => {
  const partOf = (part: JsonObject, model?: string, facts?: Partial<EndpointRecord>) => {
    const { body, dropped } = build(
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, part] }] },
      model,
      facts,
    )
    const [turn] = Array.isArray(body['messages']) ? body['messages'] : []
    return { block: turn?.content?.[1], dropped }
  }
  const file = (file_data: string, filename?: string) => ({ type: 'file', file: { file_data, filename } })
  const document = (format: string, name: string, bytes: string) => ({
    document: { format, name, source: { bytes } },
  })
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })
  const TEXT = Buffer.from('a,b').toString('base64')

  test.each<[what: string, part: JsonObject, block: JsonObject]>([
    [
      'jpeg',
      image('data:image/jpeg;base64,/9j/4A=='),
      { image: { format: 'jpeg', source: { bytes: '/9j/4A==' } } },
    ],
    [
      'jpg',
      image('data:image/jpg;base64,/9j/4A=='),
      { image: { format: 'jpeg', source: { bytes: '/9j/4A==' } } },
    ],
    [
      'webp',
      image('data:image/webp;base64,UklGRgAAAABXRUJQVlA4'),
      { image: { format: 'webp', source: { bytes: 'UklGRgAAAABXRUJQVlA4' } } },
    ],
    [
      'an image that lies in S3',
      image('s3://bucket/a/b.png'),
      { image: { format: 'png', source: { s3Location: { uri: 's3://bucket/a/b.png' } } } },
    ],
    [
      'a video',
      { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
      { video: { format: 'mp4', source: { bytes: 'AAAA' } } },
    ],
    [
      'sound',
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { audio: { format: 'wav', source: { bytes: 'AAAA' } } },
    ],
    [
      'a PDF',
      file('data:application/pdf;base64,JVBE', 'My report (1).pdf'),
      document('pdf', 'My report (1)', 'JVBE'),
    ],
    ['bare base64 is a PDF', file('JVBE'), document('pdf', 'document', 'JVBE')],
    [
      'a name with other signs',
      file('data:application/pdf;base64,JVBE', 'a_b/ü  c.pdf'),
      document('pdf', 'a b c', 'JVBE'),
    ],
    ['text that is not base64', file('data:text/csv,a%2Cb', 't.csv'), document('csv', 't', TEXT)],
    ['source code', file(`data:application/json;base64,${TEXT}`, 'x.json'), document('txt', 'x', TEXT)],
    [
      'a spreadsheet',
      file('data:application/vnd.openxmlformats-officedocument.spreadsheetml.sheet;base64,AAAA', 's.xlsx'),
      document('xlsx', 's', 'AAAA'),
    ],
    [
      'an image as a file',
      file('data:image/gif;base64,AAAA'),
      { image: { format: 'gif', source: { bytes: 'AAAA' } } },
    ],
  ])('%s', (_, part, block) => expect<unknown>(partOf(part)).toEqual({ block, dropped: [] }))

  test.each<[what: string, part: JsonObject, name: string]>([
    ['a file by its id', { type: 'file', file: { file_id: 'f1' } }, 'content.file'],
    ['a file of no kind that is taken', file('data:application/zip;base64,AAAA', 'a.zip'), 'content.file'],
    ['a part of no known type', { type: 'hologram' }, 'content.hologram'],
  ])('%s is named', (_, part, name) =>
    expect<unknown>(partOf(part)).toEqual({ block: undefined, dropped: [name] }),
  )

  test('audio for a model without audio input', () => {
    const part = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
    expect(partOf(part, CLAUDE, { inputModalities: ['text', 'image'] }).dropped).toEqual([
      'content.input_audio',
    ])
  })

  test('two documents of one name get different names, and one without a text beside it gets its name as text', () => {
    const part = file('data:application/pdf;base64,JVBE', 'a.pdf')
    const { body } = build({ messages: [{ role: 'user', content: [part, part] }] })
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [{ text: 'a' }, document('pdf', 'a', 'JVBE'), document('pdf', 'a 2', 'JVBE')],
      },
    ])
  })

  test.each<[what: string, part: JsonObject, says: RegExp]>([
    [
      'an address on the web',
      image('https://a.example/x.png'),
      /^messages\[0\]\.content\[1\]\.image_url\.url: must be a data URL/,
    ],
    [
      'an image that Converse does not take',
      image('data:image/bmp;base64,Qk0AAAAA'),
      /^messages\[0\]\.content\[1\]\.image_url\.url: .*png, jpeg, gif, webp/,
    ],
    ['an image without data', image('data:image/png;base64,'), /must be the base64 of an image/],
    ['a file on the web', file('https://a.example/x.pdf'), /^messages\[0\]\.content\[1\]\.file\.file_data: /],
  ])('%s is a 400 that names the field', (_, part, says) => {
    let error: unknown
    try {
      partOf(part)
    } catch (thrown) {
      error = thrown
    }
    if (!(error instanceof GatewayError)) throw new Error('was built')
    expect(error.status).toBe(400)
    expect(error.message).toMatch(says)
  })

  test('web addresses are fetched before the request', () => {
    const needs = (url: string) => converseEgress.needsContent?.('image', url, attemptOf())
    expect([
      needs('https://a.example/x.png'),
      needs('s3://b/x.png'),
      needs('data:image/png;base64,AA'),
    ]).toEqual([true, false, false])
  })
})

describe('a JSON schema for the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] }
  const format = { type: 'json_schema', json_schema: { name: 'n', description: 'D', schema } }
  const TOOL = { type: 'function', function: { name: 'f' } }
  const SPEC = { toolSpec: { name: 'f', inputSchema: { json: { type: 'object', properties: {} } } } }
  const ANSWER = {
    toolSpec: { name: 'answer_in_json', description: expect.any(String), inputSchema: { json: schema } },
  }

  test('is sent as the API’s format if the model has it, with closed objects', () => {
    const strict = {
      type: 'object',
      properties: { a: { type: 'integer', description: '{"minimum":1}' } },
      required: ['a'],
      additionalProperties: false,
    }
    const { outputConfig, dropped } = beside({ response_format: format }, CLAUDE)
    expect(dropped).toEqual([])
    const written = JSON.parse(JSON.stringify(outputConfig)).textFormat
    expect(written).toMatchObject({
      type: 'json_schema',
      structure: { jsonSchema: { name: 'n', description: 'D' } },
    })
    expect(JSON.parse(written.structure.jsonSchema.schema)).toEqual(strict)
    const facts = { supportedParameters: ['structured_outputs'] }
    expect(beside({ response_format: format }, OTHER, facts)).toMatchObject({ outputConfig: {}, dropped: [] })
  })

  test.each<[what: string, fields: JsonObject, model: string, expected: JsonObject]>([
    [
      'a tool where it has none',
      {},
      OLD_CLAUDE,
      { toolConfig: { tools: [ANSWER], toolChoice: { tool: { name: 'answer_in_json' } } }, dropped: [] },
    ],
    [
      'beside other tools, one of all',
      { tools: [TOOL] },
      OLD_CLAUDE,
      { toolConfig: { tools: [SPEC, ANSWER], toolChoice: { any: {} } }, dropped: [] },
    ],
    [
      'a forced tool excludes the answer tool',
      { tools: [TOOL], tool_choice: 'required' },
      OLD_CLAUDE,
      { toolConfig: { tools: [SPEC], toolChoice: { any: {} } }, dropped: ['response_format'] },
    ],
    ['nothing where no tool can be forced', {}, LLAMA, { dropped: ['response_format'] }],
  ])('%s', (_, fields, model, expected) =>
    expect<unknown>(beside({ response_format: format, ...fields }, model)).toEqual(expected),
  )

  test('JSON without a schema is dropped', () => {
    expect(beside({ response_format: { type: 'json_object' } })).toEqual({ dropped: ['response_format'] })
    expect(beside({ response_format: { type: 'text' } })).toEqual({ dropped: [] })
  })
})
