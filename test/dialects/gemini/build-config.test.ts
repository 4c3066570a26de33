import { describe, expect, test } from 'bun:test'
import { build, JSON_TYPE, NEW, OBJECT, type Row } from './built.ts'

const config = (rows: Row[]): void => {
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_, [, body, expected, dropped = [], at]) => {
    const call = build(body, at)
    expect(call.body['generationConfig']).toEqual(expected)
    expect(call.dropped.toSorted()).toEqual(dropped.toSorted())
  })
}

const schemaOf = (schema: unknown) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
})

describe('generationConfig', () => {
  config([
    ['nothing', {}, undefined],
    [
      'sampling',
      {
        temperature: 0.5,
        top_p: 0.9,
        top_k: 4,
        seed: 7,
        stop: ['END'],
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        logprobs: true,
        top_logprobs: 3,
        n: 2,
        max_tokens: 99,
      },
      {
        temperature: 0.5,
        topP: 0.9,
        topK: 4,
        seed: 7,
        stopSequences: ['END'],
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        responseLogprobs: true,
        logprobs: 3,
        candidateCount: 2,
        maxOutputTokens: 99,
      },
    ],
    [
      'parameters without an equivalent',
      {
        top_a: 0.5,
        min_p: 0.1,
        repetition_penalty: 1.1,
        logit_bias: { 5: 1 },
        user: 'u',
        metadata: { a: 'b' },
        verbosity: 'low',
        prediction: { type: 'content', content: 'x' },
      },
      undefined,
      ['top_a', 'min_p', 'repetition_penalty', 'logit_bias', 'user', 'metadata', 'verbosity', 'prediction'],
    ],
    [
      'parameters that the endpoint does not support',
      { top_k: 4, seed: 1 },
      { seed: 1 },
      ['top_k'],
      { supportedParameters: ['seed'] },
    ],
    ['a bound of the budget', { max_tokens: 99 }, { maxOutputTokens: 50 }, [], { outputBound: 50 }],
    [
      'pictures',
      { modalities: ['text', 'image'], image_config: { aspect_ratio: '16:9', image_size: '2K' } },
      { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '2K' } },
    ],
    [
      'effort',
      { reasoning: { effort: 'medium' } },
      { thinkingConfig: { thinkingBudget: 8_192, includeThoughts: true } },
    ],
    [
      'effort, hidden',
      { reasoning: { effort: 'low', exclude: true } },
      { thinkingConfig: { thinkingBudget: 1_024, includeThoughts: false } },
    ],
    [
      'budget',
      { reasoning: { max_tokens: 5_000 } },
      { thinkingConfig: { thinkingBudget: 5_000, includeThoughts: true } },
    ],
    [
      'a budget above the limit of Flash',
      { reasoning: { max_tokens: 31_999 } },
      { thinkingConfig: { thinkingBudget: 24_576, includeThoughts: true } },
      ['reasoning.max_tokens'],
    ],
    [
      'the same budget, 2.5 Pro',
      { reasoning: { max_tokens: 31_999 } },
      { thinkingConfig: { thinkingBudget: 31_999, includeThoughts: true } },
      [],
      { upstreamId: 'gemini-2.5-pro' },
    ],
    [
      'a budget below the limit of Flash-Lite',
      { reasoning: { max_tokens: 100 } },
      { thinkingConfig: { thinkingBudget: 512, includeThoughts: true } },
      ['reasoning.max_tokens'],
      { upstreamId: 'gemini-2.5-flash-lite' },
    ],
    [
      'enabled',
      { reasoning: { enabled: true } },
      { thinkingConfig: { thinkingBudget: -1, includeThoughts: true } },
    ],
    ['off', { reasoning: { enabled: false } }, { thinkingConfig: { thinkingBudget: 0 } }],
    [
      'off, 2.5 Pro',
      { reasoning: { effort: 'none' } },
      { thinkingConfig: { thinkingBudget: 128 } },
      ['reasoning.effort'],
      { upstreamId: 'gemini-2.5-pro' },
    ],
    [
      'off, 3',
      { reasoning: { enabled: false } },
      { thinkingConfig: { thinkingLevel: 'minimal' } },
      ['reasoning.enabled'],
      { upstreamId: 'gemini-3-flash-preview' },
    ],
    [
      'level',
      { reasoning: { effort: 'xhigh' } },
      { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } },
      [],
      NEW,
    ],
    [
      'level, minimal of a Pro',
      { reasoning_effort: 'minimal' },
      { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } },
      [],
      NEW,
    ],
    [
      'the nearest known level',
      { reasoning: { effort: 'medium' } },
      { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } },
      [],
      { reasoning: { efforts: ['minimal', 'high'], takesBudget: false, mayBeOff: false } },
    ],
    [
      'off, known to be possible',
      { reasoning: { effort: 'none' } },
      { thinkingConfig: { thinkingBudget: 0 } },
      [],
      { upstreamId: 'gemini-flash-latest', reasoning: { efforts: null, takesBudget: true, mayBeOff: true } },
    ],
    [
      'known to have no budget',
      { reasoning: { effort: 'high' } },
      { thinkingConfig: { includeThoughts: true } },
      ['reasoning.effort'],
      { reasoning: { efforts: null, takesBudget: false, mayBeOff: false } },
    ],
    [
      'a model that does not reason',
      { reasoning: { effort: 'high' } },
      undefined,
      ['reasoning'],
      { supportedParameters: ['tools'] },
    ],
    ['any JSON', { response_format: { type: 'json_object' } }, JSON_TYPE],
    [
      'a schema',
      schemaOf({ ...OBJECT, additionalProperties: false, $schema: 'x' }),
      { ...JSON_TYPE, responseSchema: OBJECT },
    ],
    [
      'a schema with other keywords',
      schemaOf({
        $defs: { name: { type: 'string', enum: ['x', 'y'] } },
        type: 'object',
        properties: {
          ref: { $ref: '#/$defs/name' },
          maybe: { type: ['string', 'null'], format: 'email' },
          either: { oneOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
          only: { const: 'one' },
          both: {
            allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }],
          },
          above: { type: 'integer', exclusiveMinimum: 0 },
        },
      }),
      {
        ...JSON_TYPE,
        responseSchema: {
          type: 'object',
          properties: {
            ref: { type: 'string', enum: ['x', 'y'] },
            maybe: { type: 'string', nullable: true },
            either: {
              anyOf: [
                { type: 'string', nullable: true },
                { type: 'integer', nullable: true },
              ],
            },
            only: { type: 'string', enum: ['one'] },
            both: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } },
            above: { type: 'integer', minimum: 1 },
          },
        },
      },
    ],
    [
      'a union with a description: Vertex rejects fields beside it',
      schemaOf({
        type: 'object',
        properties: {
          of: {
            description: 'd',
            default: '',
            anyOf: [{ type: 'string' }, { type: 'array', items: OBJECT }],
          },
          types: { description: 'd', type: ['string', 'number', 'null'] },
        },
      }),
      {
        ...JSON_TYPE,
        responseSchema: {
          type: 'object',
          properties: {
            of: {
              anyOf: [
                { description: 'd', type: 'string' },
                { description: 'd', type: 'array', items: OBJECT },
              ],
            },
            types: {
              anyOf: [
                { description: 'd', type: 'string', nullable: true },
                { description: 'd', type: 'number', nullable: true },
              ],
            },
          },
        },
      },
    ],
    [
      'required properties without a description, and an empty name',
      schemaOf({
        type: 'object',
        properties: { a: { type: 'string', enum: ['', 'x'] }, b: { type: 'string' } },
        required: ['a', 'ref'],
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      }),
      {
        ...JSON_TYPE,
        responseSchema: {
          type: 'object',
          properties: { a: { type: 'string', enum: ['x'] }, b: { type: 'string' } },
          required: ['a'],
        },
      },
      ['response_format.json_schema.schema.enum[""]', 'response_format.json_schema.schema.required'],
    ],
    [
      'a schema that needs JSON Schema',
      schemaOf({ type: 'object', additionalProperties: { type: 'number' } }),
      { ...JSON_TYPE, responseJsonSchema: { type: 'object', additionalProperties: { type: 'number' } } },
    ],
    [
      'a recursive schema',
      schemaOf({
        $ref: '#/$defs/n',
        $defs: { n: { type: 'object', properties: { n: { $ref: '#/$defs/n' } } } },
      }),
      {
        ...JSON_TYPE,
        responseJsonSchema: {
          $ref: '#/$defs/n',
          $defs: { n: { type: 'object', properties: { n: { $ref: '#/$defs/n' } } } },
        },
      },
    ],
    [
      'a schema that neither form can express',
      schemaOf({ type: 'object', properties: { a: { type: 'integer', multipleOf: 3 } } }),
      { ...JSON_TYPE, responseSchema: { type: 'object', properties: { a: { type: 'integer' } } } },
      ['response_format.json_schema.schema.multipleOf'],
    ],
  ])
})
