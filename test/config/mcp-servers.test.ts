import { describe, expect, test } from 'bun:test'
import { openSources } from './sources.ts'

const { load, write } = openSources()

const problemsOf = (yaml: string, environment: Record<string, string> = {}): Promise<string> => {
  write('sluice.yaml', yaml)
  return load({ environment }).then(
    () => 'none',
    (error: Error) => error.message,
  )
}

describe('mcp_servers', () => {
  test('are read with secrets of the environment', async () => {
    write(
      'sluice.yaml',
      `mcp_servers:
  - label: docs
    url: http://10.0.0.7:8000/mcp
    headers:
      Authorization: Bearer \${DOCS_TOKEN}
    allowed_tools: [search]
  - label: more
    url: https://more.example/mcp
`,
    )
    const { mcpServers } = await load({ environment: { DOCS_TOKEN: 'abc' } })
    expect(mcpServers).toEqual([
      {
        label: 'docs',
        url: 'http://10.0.0.7:8000/mcp',
        headers: { Authorization: 'Bearer abc' },
        allowedTools: ['search'],
      },
      { label: 'more', url: 'https://more.example/mcp', headers: {}, allowedTools: null },
    ])
  })

  test('may be programs, which get what is listed of the environment', async () => {
    write(
      'sluice.yaml',
      `mcp_servers:
  - label: local
    command: npx
    args: [-y, some-server, /data]
    env: { API_KEY: "\${LOCAL_KEY}", MODE: quiet }
    cwd: /srv
    allowed_tools: [read]
`,
    )
    const { mcpServers } = await load({
      environment: { LOCAL_KEY: 'pw-4711', PATH: '/bin', HOME: '/root', SLUICE_API_KEY: 'k'.repeat(40) },
    })
    expect(mcpServers).toEqual([
      {
        label: 'local',
        url: '',
        headers: {},
        allowedTools: ['read'],
        process: {
          command: ['npx', '-y', 'some-server', '/data'],
          env: { PATH: '/bin', HOME: '/root', API_KEY: 'pw-4711', MODE: 'quiet' },
          secrets: ['pw-4711'],
          folder: '/srv',
        },
      },
    ])
  })

  test.each([
    ['mcp_servers:\n  - label: a\n    command: " "\n', 'mcp_servers[0].command (line 3) must be a program'],
    [
      'mcp_servers:\n  - label: a\n    command: ls\n    url: https://a\n',
      'mcp_servers[0].url (line 4) is not for a server with a command',
    ],
    [
      'mcp_servers:\n  - label: a\n    url: https://a\n    args: []\n',
      'mcp_servers[0].args (line 4) is only for a server with a command',
    ],
    [
      'mcp_servers:\n  - label: a\n    command: ls\n    args: -l\n',
      'mcp_servers[0].args (line 4) must be a list',
    ],
    [
      'mcp_servers:\n  - label: a\n    command: ls\n    cwd: data\n',
      'mcp_servers[0].cwd (line 4) must be the abs',
    ],
    [
      'mcp_servers:\n  - label: a\n    command: ls\n    env: { "A B": x }\n',
      'mcp_servers[0].env (line 4) must have names of variables',
    ],
    ['mcp_servers: 7\n', 'line 1 must be a list of entries, each with label and url'],
    ['mcp_servers:\n  - 7\n', 'mcp_servers[0] (line 2) must be an entry'],
    ['mcp_servers:\n  - url: https://a.example\n', 'mcp_servers[0].label (line 2) must be a letter'],
    ['mcp_servers:\n  - label: a\n    url: ftp://a\n', 'mcp_servers[0].url (line 3) must be an http'],
    [
      'mcp_servers:\n  - label: a\n    url: https://u:pw-4711@a\n',
      'mcp_servers[0].url (line 3) must be an http',
    ],
    [
      'mcp_servers:\n  - label: a\n    url: https://a\n    header: {}\n',
      'mcp_servers[0].header (line 4) is not a field of an MCP server; it has label, url',
    ],
    [
      'mcp_servers:\n  - label: a\n    url: https://a\n    headers:\n      accept: x\n',
      'mcp_servers[0].headers (line 5) has a name',
    ],
    [
      'mcp_servers:\n  - label: a\n    url: https://a\n    headers:\n      key: "pw-4711\\n"\n',
      'mcp_servers[0].headers.key (line 5) must be a text that a header can hold',
    ],
    [
      'mcp_servers:\n  - label: a\n    url: https://a\n    headers:\n      key: ${NOT_SET}\n',
      'mcp_servers[0].headers.key (line 5) the environment variable NOT_SET is not set',
    ],
    [
      'mcp_servers:\n  - label: a\n    url: https://a\n    allowed_tools: []\n',
      'mcp_servers[0].allowed_tools (line 4) must be a list of names',
    ],
    [
      'mcp_servers:\n  - label: a\n    url: https://a\n  - label: a\n    url: https://a\n',
      'mcp_servers[1].label (line 4) "a" is taken',
    ],
  ])('%j is refused with its line', async (yaml, sentence) => {
    const problems = await problemsOf(yaml)
    expect(problems).toContain(sentence)
    expect(problems).not.toContain('pw-4711')
  })
})
