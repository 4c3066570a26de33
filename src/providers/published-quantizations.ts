import { words } from '../core/words.ts'
import { quantized } from './published-facts.ts'

/** What model pages of these hosts state, as named in `sources` of their rows. Models whose page states nothing are absent. */

/** July 2026, corrected in August. */
export const DEEPINFRA = {
  ...quantized('fp4', words('deepseek-ai/DeepSeek-V3.2 zai-org/GLM-5.1 moonshotai/Kimi-K2.5')),
  ...quantized('fp8', words('deepseek-ai/DeepSeek-V4-Pro google/gemma-4-31B-it google/gemma-4-26B-A4B-it')),
  ...quantized('bf16', ['Qwen/Qwen3.5-9B']),
  ...quantized('fp32', ['BAAI/bge-m3']),
}

/** July 2026. */
export const NEBIUS = {
  ...quantized(
    'fp8',
    words(`
Qwen/Qwen3-235B-A22B-Instruct-2507 Qwen/Qwen3-32B Qwen/Qwen2.5-VL-72B-Instruct
Qwen/Qwen3-30B-A3B-Instruct-2507 Qwen/Qwen3-Next-80B-A3B-Thinking
`),
  ),
  ...quantized('fp4', ['Qwen/Qwen3.5-397B-A17B']),
}

/** July 2026. */
export const NOVITA = {
  ...quantized(
    'fp8',
    words(`
qwen/qwen3-235b-a22b-instruct-2507 qwen/qwen3-235b-a22b-thinking-2507 qwen/qwen3-coder-480b-a35b-instruct
qwen/qwen3-coder-30b-a3b-instruct qwen/qwen3-max deepseek/deepseek-v3.2 deepseek/deepseek-v4-flash
minimax/minimax-m2.7 minimax/minimax-m2.5 minimax/minimax-m2.1 moonshotai/kimi-k2-instruct
meta-llama/llama-3.1-8b-instruct zai-org/glm-5.1 zai-org/glm-5 zai-org/glm-4.5v zai-org/glm-4.7
`),
  ),
  ...quantized(
    'bf16',
    words(`
qwen/qwen3-next-80b-a3b-instruct qwen/qwen3-vl-30b-a3b-instruct meta-llama/llama-3.3-70b-instruct
meta-llama/llama-4-scout-17b-16e-instruct meta-llama/llama-3.2-3b-instruct google/gemma-4-31b-it
google/gemma-4-26b-a4b-it zai-org/glm-4.6 zai-org/glm-4.6v
`),
  ),
  ...quantized('fp16', ['nousresearch/hermes-2-pro-llama-3-8b']),
}

/** The list of models that its API returned on 2026-08-22. */
export const VENICE = {
  ...quantized(
    'fp8',
    words(`
zai-org-glm-4.7-flash olafangensan-glm-4.7-flash-heretic zai-org-glm-5 zai-org-glm-5-1 zai-org-glm-5-2
google-gemma-3-27b-it hermes-3-llama-3.1-405b inkling llama-3.3-70b xiaomi-mimo-v2-5 minimax-m3-preview
mistral-small-3-2-24b-instruct mistral-small-2603 nvidia-nemotron-3-nano-30b-a3b
nvidia-nemotron-3-ultra-550b-a55b qwen3-235b-a22b-instruct-2507 qwen3-235b-a22b-thinking-2507
qwen3-coder-480b-a35b-instruct-turbo qwen3-5-9b qwen3-6-27b qwen3-6-35b-a3b qwen-3-8-27b qwen3-vl-235b-a22b
venice-uncensored-role-play
`),
  ),
  ...quantized('int4', words('gemma-4-uncensored kimi-k2-6 kimi-k2-7-code')),
  ...quantized('fp4', words('zai-org-glm-4.6 zai-org-glm-4.7')),
  ...quantized('bf16', words('google-gemma-4-26b-a4b-it google-gemma-4-31b-it')),
  ...quantized('fp16', words('llama-3.2-3b qwen3-next-80b venice-uncensored-1-2')),
}
