import type { ToolDescription } from './tool.ts'

/** What the model reads of a tool whose one argument is a text that it must give. */
export const oneTextTool = (description: string, argument: string, meaning: string): ToolDescription => ({
  description,
  parameters: {
    type: 'object',
    properties: { [argument]: { type: 'string', description: meaning } },
    required: [argument],
    additionalProperties: false,
  },
})
