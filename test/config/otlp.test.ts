import { describe, expect, test } from 'bun:test'
import { openSources } from './sources.ts'

const { load, write, problemsOf } = openSources()

describe("settings of the gateway's own telemetry", () => {
  test('are absent by default', async () => {
    expect(await load()).toMatchObject({ otlpEndpoint: null, otlpHeaders: {}, otlpSampling: 1 })
  })

  test('have the names of OpenTelemetry too; those of traces come first', async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b,X-Team=ops',
    }
    expect(await load({ environment })).toMatchObject({
      otlpEndpoint: 'http://collector:4318',
      otlpHeaders: { 'api-key': 'a b', 'x-team': 'ops' },
    })
    const traces = { ...environment, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/v1/traces' }
    expect((await load({ environment: traces })).otlpEndpoint).toBe('http://traces:4318/v1/traces')
  })

  test('their own names and the file take precedence', async () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other:4318' }
    const own = { ...environment, SLUICE_OTLP_ENDPOINT: 'http://own:4318' }
    expect((await load({ environment: own })).otlpEndpoint).toBe('http://own:4318')
    write('sluice.yaml', 'otlp_endpoint: http://file:4318\n')
    expect((await load({ environment })).otlpEndpoint).toBe('http://file:4318')
  })

  test('the protocol is one over HTTP; a refusal of gRPC names the variable', async () => {
    expect((await load()).otlpProtocol).toBe('http/protobuf')
    const json = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }
    expect((await load({ environment: json })).otlpProtocol).toBe('http/json')
    expect(await problemsOf({ environment: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' } })).toEqual([
      expect.stringContaining('OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json'),
    ])
  })

  test('a value that cannot be read is a problem that names its variable and repeats no secret', async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_HEADERS: 'canary-without-value',
      SLUICE_OTLP_SAMPLING: '2',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    }
    const problems = await problemsOf({ environment })
    expect(problems).toHaveLength(3)
    expect(problems.join('\n')).toContain('OTEL_EXPORTER_OTLP_ENDPOINT must be')
    expect(problems.join('\n')).toContain('SLUICE_OTLP_SAMPLING must be a number from 0 to 1')
    expect(problems.join('\n')).not.toContain('canary')
  })
})
