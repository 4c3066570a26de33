/** The tool that stands for a JSON schema at models without structured output. Its input becomes the text. */
export const ANSWER_TOOL = 'answer_in_json'
