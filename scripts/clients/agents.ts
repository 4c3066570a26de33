import { join } from 'node:path'
import type { Agent, Place, Source } from './client.ts'
import type { Turn } from './script.ts'

const npm = (...packages: string[]): Source => ({ from: 'npm', packages })
const bin = ({ installed }: Place, name: string): string => join(installed, 'node_modules/.bin', name)
const json = (value: unknown): string => JSON.stringify(value, null, 2)
const call = (name: string, fields: Record<string, unknown>): Turn => ({ call: { name, arguments: fields } })

export const FILE = 'greeting.txt'
export const BEFORE = 'Hello wrld\n'
export const AFTER = 'Hello world\n'
const TASK = `Correct the spelling mistake in ${FILE}.`

const ALL = ['chat', 'responses', 'messages', 'gemini'] as const

interface CodexWay extends Pick<Agent, 'way' | 'dialects'> {
  settings(place: Place): string
  before?(place: Place): string[]
}

const codex = ({ way, dialects, settings, before }: CodexWay): Agent => ({
  kind: 'agent',
  name: 'Codex',
  folder: 'codex',
  source: npm('@openai/codex@0.169.0'),
  way,
  dialects,
  start: (place) => ({
    ...(before && { before: before(place) }),
    command: [
      ...[bin(place, 'codex'), 'exec', '--skip-git-repo-check'],
      ...['--dangerously-bypass-approvals-and-sandbox', TASK],
    ],
    env: { SLUICE_KEY: place.key },
    files: {
      [join(place.home, '.codex/config.toml')]: `model = "${place.model}"
check_for_update_on_startup = false
analytics.enabled = false
${settings(place)}`,
    },
  }),
  steps: (file) => [call('exec_command', { cmd: `sed -i s/wrld/world/ ${file}` })],
})

export const agents: readonly Agent[] = [
  codex({
    way: 'responses, `model_providers` in `config.toml`',
    dialects: ['responses', 'chat', 'messages', 'gemini'],
    settings: ({ url }) => `model_provider = "sluice"
[model_providers.sluice]
name = "Sluice"
base_url = "${url}/api/v1"
env_key = "SLUICE_KEY"
wire_api = "responses"
`,
  }),
  // Its own provider at another address: it asks for a WebSocket first, and keeps the key in a file of its own.
  codex({
    way: 'responses, `openai_base_url` in `config.toml`',
    dialects: ['responses'],
    before: (place) => ['sh', '-c', `printenv SLUICE_KEY | ${bin(place, 'codex')} login --with-api-key`],
    settings: ({ url }) => `openai_base_url = "${url}/v1"\n`,
  }),
  {
    kind: 'agent',
    name: 'GitHub Copilot CLI',
    folder: 'copilot',
    source: npm('@github/copilot@1.0.102'),
    way: 'chat, `COPILOT_PROVIDER_BASE_URL`',
    dialects: ALL,
    start: (place) => ({
      command: [bin(place, 'copilot'), '-p', TASK, '--allow-all-tools'],
      env: {
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: `${place.url}/api/v1`,
        COPILOT_PROVIDER_API_KEY: place.key,
        COPILOT_MODEL: place.model,
      },
    }),
    steps: (file) => [call('bash', { command: `sed -i s/wrld/world/ ${file}`, description: 'Correct it' })],
  },
  {
    kind: 'agent',
    name: 'pi',
    folder: 'pi',
    source: npm('@mariozechner/pi-coding-agent@0.73.1'),
    way: 'chat, `baseUrl` in `models.json`',
    dialects: ALL,
    start: (place) => ({
      command: [bin(place, 'pi'), '-p', '--provider', 'sluice', '--model', place.model, TASK],
      env: { PI_OFFLINE: '1' },
      files: {
        [join(place.home, '.pi/agent/models.json')]: json({
          providers: {
            sluice: {
              baseUrl: `${place.url}/api/v1`,
              api: 'openai-completions',
              apiKey: place.key,
              models: [{ id: place.model }],
            },
          },
        }),
      },
    }),
    steps: (file) => [call('bash', { command: `sed -i s/wrld/world/ ${file}` })],
  },
  {
    kind: 'agent',
    name: 'Claude Code',
    folder: 'claude-code',
    source: npm('@anthropic-ai/claude-code@2.1.330'),
    way: 'messages, `ANTHROPIC_BASE_URL` and `ANTHROPIC_AUTH_TOKEN`',
    dialects: ['messages', 'chat', 'responses', 'gemini'],
    start: (place) => ({
      command: [bin(place, 'claude'), '-p', TASK, '--permission-mode', 'acceptEdits'],
      env: {
        ANTHROPIC_BASE_URL: place.url,
        ANTHROPIC_AUTH_TOKEN: place.key,
        ANTHROPIC_MODEL: place.model,
        ANTHROPIC_SMALL_FAST_MODEL: place.model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: place.model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        // Its own number is ten, with pauses that grow: minutes for one cut stream.
        CLAUDE_CODE_MAX_RETRIES: '2',
      },
    }),
    steps: (file) => [
      call('Read', { file_path: file }),
      call('Edit', { file_path: file, old_string: 'wrld', new_string: 'world' }),
    ],
  },
  {
    kind: 'agent',
    name: 'opencode',
    folder: 'opencode',
    source: npm('opencode-ai@1.18.33'),
    way: 'chat, `@ai-sdk/openai-compatible` in `opencode.json`',
    dialects: ALL,
    start: (place) => ({
      command: [bin(place, 'opencode'), 'run', '-m', `sluice/${place.model}`, TASK],
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      },
      files: {
        [join(place.home, '.config/opencode/opencode.json')]: json({
          autoupdate: false,
          share: 'disabled',
          provider: {
            sluice: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Sluice',
              options: { baseURL: `${place.url}/api/v1`, apiKey: place.key },
              models: { [place.model]: {} },
            },
          },
        }),
      },
    }),
    steps: (file) => [
      call('read', { filePath: file }),
      call('edit', { filePath: file, oldString: 'wrld', newString: 'world' }),
    ],
  },
  {
    kind: 'agent',
    name: 'Qwen Code',
    folder: 'qwen-code',
    source: npm('@qwen-code/qwen-code@0.24.4'),
    way: 'chat, `OPENAI_BASE_URL`',
    dialects: ALL,
    start: (place) => ({
      command: [bin(place, 'qwen'), '--auth-type', 'openai', '-y', '-m', place.model, TASK],
      env: {
        OPENAI_API_KEY: place.key,
        OPENAI_BASE_URL: `${place.url}/api/v1`,
        OPENAI_MODEL: place.model,
      },
      files: {
        [join(place.home, '.qwen/settings.json')]: json({
          general: { enableAutoUpdate: false, disableAutoUpdate: true },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
        }),
      },
    }),
    steps: (file) => [
      call('read_file', { file_path: file }),
      call('edit', { file_path: file, old_string: 'wrld', new_string: 'world' }),
    ],
  },
  {
    kind: 'agent',
    name: 'Gemini CLI',
    folder: 'gemini-cli',
    source: npm('@google/gemini-cli@0.61.0'),
    way: 'gemini, `GOOGLE_GEMINI_BASE_URL`',
    dialects: ['gemini', 'chat', 'responses', 'messages'],
    start: (place) => ({
      command: [bin(place, 'gemini'), '--skip-trust', '-y', '-m', place.model, '-p', TASK],
      env: { GEMINI_API_KEY: place.key, GOOGLE_GEMINI_BASE_URL: place.url },
      files: {
        [join(place.home, '.gemini/settings.json')]: json({
          security: { auth: { selectedType: 'gemini-api-key' } },
          general: { enableAutoUpdate: false, disableAutoUpdate: true },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
        }),
      },
    }),
    steps: (file) => [
      call('read_file', { file_path: file }),
      call('replace', {
        file_path: file,
        instruction: 'Correct the spelling.',
        old_string: 'wrld',
        new_string: 'world',
      }),
    ],
  },
  {
    kind: 'agent',
    name: 'Cline',
    folder: 'cline',
    source: npm('cline@3.0.65'),
    way: 'chat, `cline auth openai --baseurl`',
    dialects: ALL,
    start(place) {
      const to = ['-k', place.key, '-m', place.model]
      return {
        before: [bin(place, 'cline'), 'auth', 'openai', ...to, '-b', `${place.url}/api/v1`],
        command: [bin(place, 'cline'), '-P', 'openai', ...to, TASK],
        env: { CLINE_NO_AUTO_UPDATE: '1' },
      }
    },
    steps: (file) => [call('editor', { path: file, old_text: 'wrld', new_text: 'world' })],
  },
  {
    kind: 'agent',
    name: 'Continue (`cn`)',
    folder: 'continue',
    source: npm('@continuedev/cli@1.5.47'),
    way: 'chat, `apiBase` in `config.yaml`',
    dialects: ALL,
    start(place) {
      const config = join(place.home, 'config.yaml')
      const model = {
        name: 'Sluice',
        provider: 'openai',
        model: place.model,
        apiBase: `${place.url}/api/v1`,
        apiKey: place.key,
        roles: ['chat'],
      }
      return {
        command: [bin(place, 'cn'), '-p', '--auto', '--config', config, TASK],
        env: { CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_ALLOW_ANONYMOUS_TELEMETRY: '0' },
        // JSON is YAML.
        files: { [config]: json({ name: 'test', version: '1.0.0', schema: 'v1', models: [model] }) },
      }
    },
    steps: (file) => [
      call('Read', { filepath: file }),
      // It offers Edit or MultiEdit by the name of the model, and Write always.
      call('Write', { filepath: file, content: AFTER }),
    ],
  },
  {
    kind: 'agent',
    name: 'aider',
    folder: 'aider',
    source: { from: 'pypi', packages: ['aider-chat==0.86.2'] },
    way: 'chat, `OPENAI_API_BASE`',
    dialects: ALL,
    start: (place) => ({
      command: [
        join(place.installed, 'venv/bin/aider'),
        ...['--model', `openai/${place.model}`, '--edit-format', 'diff', '--yes-always', '--no-git'],
        ...['--no-check-update', '--analytics-disable', '--no-show-model-warnings', '--no-pretty'],
        ...['--message', TASK, FILE],
      ],
      env: { OPENAI_API_KEY: place.key, OPENAI_API_BASE: `${place.url}/api/v1` },
    }),
    steps: () => [
      {
        text: `${FILE}\n\`\`\`\n<<<<<<< SEARCH\nHello wrld\n=======\nHello world\n>>>>>>> REPLACE\n\`\`\`\n`,
      },
    ],
  },
]
