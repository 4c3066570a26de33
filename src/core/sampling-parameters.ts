/** Fields of sampling that every dialect forwards, although only chat completions define all of them. */
export const SAMPLING_PARAMETERS = [
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'stop',
  'logit_bias',
  'logprobs',
  'top_logprobs',
] as const
