/** The tool that stands for a JSON schema where a model has no structured output. Its input becomes the text. */
export const ANSWER_TOOL = 'answer_in_json'
