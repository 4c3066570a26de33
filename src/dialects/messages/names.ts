/** How the reasoning details of this dialect are marked: only details of this format may be replayed to it. */
export const REASONING_FORMAT = 'anthropic-claude-v1'

/** The tool that stands for a JSON schema at models without structured output. Its input becomes the text. */
export const ANSWER_TOOL = 'answer_in_json'
